// A shape's surface about a point, to second order: what derivatives of contacts need to know about
// a shape.
//
// Let the outward normal n of a convex shape turn by dn (tangential). Along a principal direction
// e_i with radius of curvature r_i the point with that normal moves by e_i . dp = r_i e_i . dn. A
// corner has r = 0 in both, its point stays; an edge has r = 0 across and an infinite radius along:
// there n may not turn, and the point is free. A face is straight in both directions.
#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "spatial/vec3.h"

namespace robosim {

enum class FeatureKind : std::uint8_t { vertex, edge, face, curved, count };
inline constexpr const char* feature_kind_names[] = {"vertex", "edge", "face", "curved"};
static_assert(std::size(feature_kind_names) == static_cast<std::size_t>(FeatureKind::count));

struct LocalSurface {
  static constexpr double straight = std::numeric_limits<double>::infinity();

  FeatureKind kind = FeatureKind::curved;  // a rim is an edge, a mantle curved
  // Among the shape's features of this kind; each core says which.
  int index = 0;
  // Of the feature: of a vertex or an edge exactly, else near the one asked about.
  Vec3d point;
  // Principal directions: unit, tangential, perpendicular to each other.
  Vec3d axis[2];
  double radius[2] = {0, 0};  // along them [m]: zero, positive or `straight`
  // [m] how far the point may move along straight directions...
  double slide = straight;
  // ... and the sine of the angle by which the normal may turn, until another feature takes over.
  double tilt_sine = straight;

  // Of a convex mesh or a triangle: the vertices whose mean with these weights the point is; moved
  // by d, vertex i moves the feature by weight d and turns it by -slope (n . d).
  struct Corner {
    int vertex = 0;
    double weight = 0;
    Vec3d slope;  // of the weight over the feature [1/m]
  };
  // Not initialized, as most shapes have none and surfaces are made by the million.
  struct Corners {
    Corners() {}
    Corner& operator[](int i) { return items[i]; }
    const Corner& operator[](int i) const { return items[i]; }
    union {
      Corner items[3];
    };
  };
  Corners corner;
  int n_corners = 0;

  bool is_straight(int i) const { return radius[i] == straight; }
  // [rad], up to a right angle; `straight` where no other feature takes over.
  double tilt() const { return tilt_sine <= 1 ? std::asin(tilt_sine) : straight; }
};

// What of a surface depends on the point and the normal, while the feature stays the same.
struct Curvature {
  Vec3d axis[2];
  double radius[2], slide;
};

// How fast a convex shape's support function grows away from a normal n at a point p of its
// surface: max of x.(y - p) over the shape is at least 1/2 sum_i along[i] (axis[i].x)^2 for every
// unit x, with the surface's axes. A segment of the shape through p that goes on for s on either
// side gives s |e.x| >= s (e.x)^2, so 2 s along it; a disc in it with p on its rim, of radius r, r
// (v.x)^2 / (|x'| + x'.u) with x' the part of x in the disc's plane, u the direction of p from its
// center and v along the rim: r.
struct Growth {
  double along[2] = {0, 0};
};

// Of a shape that is locally a polytope.
inline Growth growth(const LocalSurface& s) {
  Growth g;
  for (int i = 0; i < 2; ++i)
    if (s.is_straight(i)) g.along[i] = s.slide < LocalSurface::straight ? 2 * s.slide : 0;
  return g;
}

// Coordinates of a witness point are on a feature when they are within this part of the shape's
// size.
inline constexpr double feature_tolerance = 1e-9;

}  // namespace robosim

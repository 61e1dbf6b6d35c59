// Second-order model of a shape's surface about a point, as derivatives of contacts need it.
//
// Let the outward normal n of a convex shape turn by dn (tangential). Along a principal direction
// e_i with radius of curvature r_i, the point with that normal moves by e_i . dp = r_i e_i . dn.
//
//   corner  r = 0 in both directions: its point stays
//   edge    r = 0 across, r infinite along: n must not turn along the edge, and the point is free
//   face    straight (r infinite) in both directions
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

  FeatureKind kind = FeatureKind::curved;  // a rim is an edge, a lateral surface is curved
  // Index among the shape's features of this kind, numbered by each core.
  int index = 0;
  // A point of the feature: on a vertex or an edge exactly, otherwise near the point of the query.
  Vec3d point;
  // Principal directions: unit, tangential, perpendicular to each other.
  Vec3d axis[2];
  double radius[2] = {0, 0};  // of curvature, per axis [m]: zero, positive or `straight`
  // Distance by which the point may move along straight directions before another feature takes
  // over [m].
  double slide = straight;
  // Sine of the angle by which the normal may turn before another feature takes over.
  double tilt_sine = straight;

  // Vertices of a convex mesh or a triangle whose weighted mean is the point. A displacement d of
  // vertex i moves the feature by weight d and turns it by -slope (n . d).
  struct Corner {
    int vertex = 0;
    double weight = 0;
    Vec3d slope;  // gradient of the weight over the feature [1/m]
  };
  // Not initialized: most shapes have no corners, and surfaces are created by the million.
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
  // Angle of tilt_sine [rad], up to a right angle; `straight` if no other feature takes over.
  double tilt() const { return tilt_sine <= 1 ? std::asin(tilt_sine) : straight; }
};

// Parts of a surface that depend on the point and the normal while the feature stays the same.
struct Curvature {
  Vec3d axis[2];
  double radius[2], slide;
};

// Lower bound on the growth of a convex shape's support function around a normal n at a point p of
// its surface. For every unit x, the maximum of x.(y - p) over y in the shape is at least 1/2 sum_i
// along[i] (axis[i].x)^2, with the axes of the surface. Two cases bound the growth:
//
//   - A segment of the shape through p with direction e that extends by s to either side yields
//     s |e.x| >= s (e.x)^2: growth 2 s along e.
//   - A disc of radius r in the shape with p on its rim yields r (v.x)^2 / (|x'| + x'.u). Here
//     x' is the part of x in the disc's plane, u the direction of p from the disc's center, and v
//     the direction along the rim: growth r along v.
struct Growth {
  double along[2] = {0, 0};
};

// Growth of a shape that is locally a polytope.
inline Growth growth(const LocalSurface& s) {
  Growth g;
  for (int i = 0; i < 2; ++i)
    if (s.is_straight(i)) g.along[i] = s.slide < LocalSurface::straight ? 2 * s.slide : 0;
  return g;
}

// Tolerance, relative to the shape's size, within which the coordinates of a witness point lie on a
// feature.
inline constexpr double feature_tolerance = 1e-9;

}  // namespace robosim

// What of a shape's surface may lie on a plane: its flat face, or its straight line, that turns
// most towards a direction.
//
// Contact manifolds (manifold.h) are made of two patches. A core gives its own by
//
//   void patch(Vec3d n, Patch& out) const          in the shape's frame, n unit and outward; it
//                                                  holds the core's farthest point along
//                                                   n, unless that is round. Leaves `none` where
//                                                     the surface is round towards n.
//   Vec3d stretch(int k, Vec3d p, Vec3d m) const    how fast a point p of the core moves when size
//                                                   k grows (as n_sizes counts them), all
//                                                   points with their share of it; m is the
//                                                     surface's normal there, zero for the core
//                                                   itself: rounding moves the surface alone, by m
//
// Round shapes (sphere, ellipsoid) need neither. Vertices are no sizes here: they are corners of
// LocalSurface.
#pragma once

#include <cmath>
#include <cstdint>

#include "geometry/local_surface.h"

namespace robosim {

struct ConvexMesh;

// A feature as LocalSurface numbers it. part tells places on it apart: from 1 on the six points of
// a rim that stand for it and, of a face with that rim, the chords between them; else 0.
struct FeatureId {
  FeatureKind kind;
  int index;
  int part;
  bool operator==(const FeatureId&) const = default;
};

struct Patch {
  static constexpr int max_corners = 32;  // of faces with more, so many that are spread over all
  // plane: without end, through corner[0]. line: two corners. polygon: convex, counter-clockwise
  // seen from outside.
  enum class Kind : std::uint8_t { none, line, polygon, plane };

  Kind kind = Kind::none;
  int n_corners = 0;
  union {  // which constructs none: n_corners of them are there, of a plane the first
    Vec3d corner[max_corners];
  };
  FeatureId corner_id[max_corners];
  FeatureId side_id[max_corners];  // from a corner to the next; a line has one
  FeatureId face;                  // what lies between, of a line what is beside it
  Vec3d normal;                    // unit, outward; of a line that of the surface along it
  double bulge = 0;                // how far a rounded outline goes beyond the polygon's sides [m]

  // A line on a surface of revolution about z: as n turns by dn, corner i moves by swing[i] round
  // (round . dn).
  Vec3d round;
  double swing[2] = {0, 0};
  // The surface beside a line, before rounding: x^2 + y^2 = (tube_radius + tube_slope z)^2, |z| <=
  // tube_half_length; -1: none.
  double tube_radius = -1, tube_slope = 0, tube_half_length = 0;
  // Of a convex mesh (hull_polygons.h): the face, and whether it has several triangles, which are
  // flat together only nearly.
  const ConvexMesh* mesh = nullptr;
  int polygon = 0;
  bool bent = false;

  Patch() {}
  // To be made again, along another n.
  void clear() {
    kind = Kind::none, n_corners = 0, normal = round = Vec3d();
    bulge = swing[0] = swing[1] = tube_slope = tube_half_length = 0, tube_radius = -1;
    mesh = nullptr, polygon = 0, bent = false;
  }
  void add(const Vec3d& p, FeatureId id, FeatureId side) {
    corner[n_corners] = p, corner_id[n_corners] = id, side_id[n_corners] = side;
    ++n_corners;
  }
};

// A disc |(x, y)| <= radius at height z as the hexagon of six points of its rim, which are fixed in
// the shape's frame, the first on the x axis: smooth in every pose. index: of the face and of its
// rim.
inline void disc_patch(Patch& out, double radius, double z, bool up, int index) {
  constexpr double c = 0.5, s = 0.86602540378443864676;
  constexpr double x[6] = {1, c, -c, -1, -c, c}, y[6] = {0, s, s, 0, -s, -s};
  out.kind = Patch::Kind::polygon;
  out.face = {FeatureKind::face, index, 0};
  out.normal = {0, 0, up ? 1.0 : -1.0};
  out.bulge = (1 - s) * radius;
  for (int k = 0; k < 6; ++k) {
    const int i = up ? k : 5 - k, chord = up ? i : (i + 5) % 6;
    out.add({radius * x[i], radius * y[i], z}, {FeatureKind::edge, index, i + 1},
            {FeatureKind::face, index, chord + 1});
  }
}

}  // namespace robosim

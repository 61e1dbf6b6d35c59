// Patch: the part of a shape's surface that may lie on a plane. It is the flat face or the straight
// line that turns most towards a direction.
//
// A contact manifold (manifold.h) is computed from two patches. A core provides its patch with
//
//   void patch(Vec3d n, Patch& out) const
//       in the shape's frame, for a unit outward n: a patch that contains the core's farthest point
//       along n, unless that point is on a round surface. Leaves `none` if the surface is round
//       towards n.
//   Vec3d stretch(int k, Vec3d p, Vec3d m) const
//       velocity of a point p of the core when size k grows (numbered as by n_sizes), where all
//       points move in proportion. m is the surface's normal at p, or zero for the core itself:
//       rounding moves only the surface, by m.
//
// Round shapes (sphere, ellipsoid) need neither. Vertices are not sizes here: they are corners of
// LocalSurface.
#pragma once

#include <cmath>
#include <cstdint>

#include "geometry/local_surface.h"

namespace robosim {

struct ConvexMesh;

// Feature numbered as in LocalSurface. `part` distinguishes places on the feature. From 1 on, it
// numbers the six points that represent a rim and, for a face with that rim, the chords between
// them. A face with more than max_corners corners numbers its sides likewise. Otherwise `part` is
// zero.
struct FeatureId {
  FeatureKind kind;
  int index;
  int part;
  bool operator==(const FeatureId&) const = default;
};

struct Patch {
  static constexpr int max_corners = 32;  // larger faces are thinned out to this number
  // plane: unbounded, through corner[0]. line: two corners. polygon: convex, counter-clockwise seen
  // from outside.
  enum class Kind : std::uint8_t { none, line, polygon, plane };

  Kind kind = Kind::none;
  int n_corners = 0;
  union {  // not initialized: n_corners of them are valid; of a plane the first
    Vec3d corner[max_corners];
  };
  FeatureId corner_id[max_corners];
  FeatureId side_id[max_corners];  // from a corner to the next; a line has one
  FeatureId face;                  // between the corners; for a line, the adjacent surface
  Vec3d normal;                    // unit, outward; for a line, the normal of the surface along it
  double bulge = 0;                // excess of a rounded outline over the polygon's sides [m]

  // Line on a surface of revolution about z: when n turns by dn, corner i moves by swing[i] round
  // (round . dn).
  Vec3d round;
  double swing[2] = {0, 0};
  // Surface of revolution that contains a line, before rounding: with
  // x^2 + y^2 = (tube_radius + tube_slope z)^2 and |z| <= tube_half_length. A tube_radius of -1
  // means none.
  double tube_radius = -1, tube_slope = 0, tube_half_length = 0;
  // Convex mesh (hull_polygons.h): the face. `bent` is true if the face has several triangles,
  // which are coplanar only nearly.
  const ConvexMesh* mesh = nullptr;
  int polygon = 0;
  bool bent = false;

  Patch() {}
  // Reset the patch for another n.
  void clear() {
    kind = Kind::none;
    n_corners = 0;
    normal = round = Vec3d();
    bulge = swing[0] = swing[1] = tube_slope = tube_half_length = 0;
    tube_radius = -1;
    mesh = nullptr;
    polygon = 0;
    bent = false;
  }
  void add(const Vec3d& p, FeatureId id, FeatureId side) {
    corner[n_corners] = p;
    corner_id[n_corners] = id;
    side_id[n_corners] = side;
    ++n_corners;
  }
};

// Represent the disc |(x, y)| <= radius at height z by a hexagon of six points of its rim. The
// points are fixed in the shape's frame, the first one on the x axis, so they are smooth in every
// pose. index: of the face and of its rim.
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

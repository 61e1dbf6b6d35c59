// Patch of a shape in the frame C of a contact: origin on the contact, z along the common normal n.
//
// The points of a manifold lie on lines along z. A placed patch computes where such a line leaves
// the shape: over a face or beside a straight line of a curved surface, including the rounding of
// the shape beyond its core.
#pragma once

#include <optional>

#include "geometry/shapes/patch.h"
#include "spatial/se3.h"

namespace robosim {

struct PlacedPatch {
  // Point where a line along z leaves the shape.
  struct Exit {
    double z = 0;
    Vec3d normal;  // unit, outward
  };

  Patch patch;  // in the shape's frame
  SE3d X_CS;
  double rounding = 0;
  double up = 1;  // 1 where outside is +z (A's patch), -1 where it is -z (B's patch)
  union {
    Vec3d corner[Patch::max_corners];  // in C; as many as the patch has
  };
  Vec3d normal;
  // Line of a side. `inside` evaluates x p.x + y p.y + offset, the distance of p from side j,
  // positive inside. For a line, inside is to its left seen from outside.
  struct Side {
    double x, y, offset;
  } side[Patch::max_corners];
  int n_sides = 0;

  PlacedPatch() {}

  // Transform the patch to C; `patch`, X_CS, rounding and up must be set. A face that is seen
  // edge-on, as of a triangle, is replaced by its edge nearest to the other shape, and a needle by
  // its longest edge. The kind becomes `none` for a face that is a point, or for an edge seen
  // end-on.
  void place();

  bool is_polygon() const { return patch.kind == Patch::Kind::polygon; }
  double inside(int j, const Vec3d& p) const {
    return side[j].x * p.x + side[j].y * p.y + side[j].offset;
  }

  // Exit of the line through a point p of a corner or a side of the core.
  Exit exit_from(const Vec3d& p) const;
  Exit exit_from_corner(int i) const;
  // Point of the polygon's outline nearest to (x, y) of p, as seen along z.
  Vec3d nearest_on_sides(const Vec3d& p) const;
  // Exit of the line through (x, y) of p over the polygon or plane.
  Exit over_face(const Vec3d& p) const;
  // Exit of the line through (x, y) of p beside the patch's line, where the surface turns away by
  // at most 60 degrees. room: distance along the patch's line to the nearer end, which is corner
  // `end`; negative beyond that end.
  std::optional<Exit> beside_line(const Vec3d& p, double& room, int& end) const;

 private:
  static constexpr double steepest = 1e-3;  // least cosine of the angle between a face's normal and
                                            // z
  static constexpr double needle = 1e-10;   // largest area over squared length of a needle
  void stand_on_edge();
  void find_sides();
  Exit rounded(const Vec3d& p, const Vec3d& face_normal) const;
};

}  // namespace robosim

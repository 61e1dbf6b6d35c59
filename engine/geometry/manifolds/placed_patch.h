// A shape's patch in the frame C of a contact: origin on the contact, z along the common normal n.
//
// A manifold's points lie on lines along z; this gives where such a line leaves the shape: over a
// face, beside a straight line of a curved surface, and with the rounding that the shape has beyond
// its core.
#pragma once

#include <optional>

#include "geometry/shapes/patch.h"
#include "spatial/se3.h"

namespace robosim {

struct PlacedPatch {
  // Where a line along z leaves the shape.
  struct Exit {
    double z = 0;
    Vec3d normal;  // unit, outward
  };

  Patch patch;  // in the shape's frame
  SE3d X_CS;
  double rounding = 0;
  double up = 1;  // outside is +z: A's patch; -1 of B's
  union {
    Vec3d corner[Patch::max_corners];  // in C; as many as the patch has
  };
  Vec3d normal;
  // How far a point (x, y) is inside of side j: inward[j] . (x, y) + offset[j]; of a line, to its
  // left seen from outside.
  struct Side {
    double x, y, offset;
  } side[Patch::max_corners];
  int n_sides = 0;

  PlacedPatch() {}

  // After `patch`, X_CS, rounding and up are set. A face that is seen edge-on, as of a triangle,
  // becomes its edge nearest to the other shape, a needle its longest; none is left of a face that
  // is a point, or whose edge is seen end-on.
  void place();

  bool is_polygon() const { return patch.kind == Patch::Kind::polygon; }
  double inside(int j, const Vec3d& p) const {
    return side[j].x * p.x + side[j].y * p.y + side[j].offset;
  }

  // Through a point p of a corner or a side of the core.
  Exit exit_from(const Vec3d& p) const;
  Exit exit_from_corner(int i) const;
  // The point of the polygon's outline nearest to (x, y) of p, as seen along z.
  Vec3d nearest_on_sides(const Vec3d& p) const;
  // Through (x, y) of p over the polygon or plane.
  Exit over_face(const Vec3d& p) const;
  // Through (x, y) of p beside the line, where its surface turns away by at most 60 degrees; room:
  // along the line, to the nearer end, which is corner `end`; negative beyond it.
  std::optional<Exit> beside_line(const Vec3d& p, double& room, int& end) const;

 private:
  static constexpr double steepest = 1e-3;  // cosine of the angle between a face's normal and z
  static constexpr double needle = 1e-10;   // area over squared length
  void stand_on_edge();
  void find_sides();
  Exit rounded(const Vec3d& p, const Vec3d& face_normal) const;
};

}  // namespace robosim

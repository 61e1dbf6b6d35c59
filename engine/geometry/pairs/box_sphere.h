// Box (A) against sphere (B): the box's point nearest to the center, coordinate by coordinate, or
// the nearest face if the center is inside. A rounding reduces the distance by a constant.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/directions.h"
#include "geometry/pairs/point_distance.h"

namespace robosim {

struct BoxSphere : SolidAgainstSphere<BoxSphere> {
  static constexpr ShapeType a = ShapeType::box;

  // Signed distance of the point c, and the normal at the nearest point.
  static PointDistance from_point(const Shape& A, const Vec3d& c) {
    const Vec3d& h = A.half_extents;
    Vec3d n = c - Vec3d(std::clamp(c.x, -h.x, h.x), std::clamp(c.y, -h.y, h.y),
                        std::clamp(c.z, -h.z, h.z));
    if (const double nn = squared_norm(n); nn > least_square) {
      const double d = std::sqrt(nn);
      return {d - A.rounding, direction_of(n, nn, d)};
    }
    n = Vec3d();
    int face = 0;
    for (int i = 1; i < 3; ++i)
      if (h[i] - std::fabs(c[i]) < h[face] - std::fabs(c[face])) face = i;
    n[face] = std::copysign(1.0, c[face]);
    return {std::fabs(c[face]) - h[face] - A.rounding, n};
  }
};

}  // namespace robosim

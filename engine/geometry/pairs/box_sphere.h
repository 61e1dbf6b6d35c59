// Box (A) against sphere (B): the box's point nearest to the centre, coordinate by coordinate; from inside, the nearest face.
// A rounding is a constant of the distance.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/query.h"

namespace robosim {

struct BoxSphere {
  static constexpr ShapeType a = ShapeType::box, b = ShapeType::sphere;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&) {
    const Vec3d &h = A.half_extents, &c = X_AB.p;
    Vec3d q(std::clamp(c.x, -h.x, h.x), std::clamp(c.y, -h.y, h.y), std::clamp(c.z, -h.z, h.z));
    Vec3d n = c - q;
    double d = norm(n);
    if (d > 0) {
      n *= 1 / d;
    } else {
      int face = 0;
      for (int i = 1; i < 3; ++i)
        if (h[i] - std::fabs(c[i]) < h[face] - std::fabs(c[face])) face = i;
      n[face] = std::copysign(1.0, c[face]);
      q[face] = std::copysign(h[face], c[face]);
      d = std::fabs(c[face]) - h[face];
    }
    return {d - A.rounding - B.radius, q + A.rounding * n, c - B.radius * n, n};
  }
};

}  // namespace robosim

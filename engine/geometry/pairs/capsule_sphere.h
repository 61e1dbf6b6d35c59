// Capsule (A) against sphere (B): the distance of the centre from the core segment; along x when it lies on the segment.
#pragma once

#include <algorithm>

#include "geometry/directions.h"
#include "geometry/query.h"

namespace robosim {

struct CapsuleSphere {
  static constexpr ShapeType a = ShapeType::capsule, b = ShapeType::sphere;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&) {
    const Vec3d& c = X_AB.p;
    const Vec3d q(0, 0, std::clamp(c.z, -A.half_length, A.half_length));
    const Vec3d v = c - q, n = unit_or(v, {1, 0, 0});
    return {norm(v) - A.radius - B.radius, q + A.radius * n, c - B.radius * n, n};
  }
};

}  // namespace robosim

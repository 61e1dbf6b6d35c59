// Two spheres: along the line of their centres; along x when the centres coincide.
#pragma once

#include "geometry/directions.h"
#include "geometry/query.h"

namespace robosim {

struct SphereSphere {
  static constexpr ShapeType a = ShapeType::sphere, b = ShapeType::sphere;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&) {
    const Vec3d n = unit_or(X_AB.p, {1, 0, 0});
    return {norm(X_AB.p) - A.radius - B.radius, A.radius * n, X_AB.p - B.radius * n, n};
  }
};

}  // namespace robosim

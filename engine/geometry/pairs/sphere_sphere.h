// Two spheres: the normal is along the line of the centers, or along x if the centers coincide.
#pragma once

#include <cmath>

#include "geometry/directions.h"
#include "geometry/query.h"

namespace robosim {

struct SphereSphere {
  static constexpr ShapeType a = ShapeType::sphere, b = ShapeType::sphere;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&) {
    return signed_distance_in_W(A, SE3d(), B, X_AB);
  }
  static Witness signed_distance_in_W(const Shape& A, const SE3d& X_WA, const Shape& B,
                                      const SE3d& X_WB) {
    const Vec3d v = X_WB.p - X_WA.p;
    const double vv = squared_norm(v), d = std::sqrt(vv);
    const Vec3d n = vv > least_square ? direction_of(v, vv, d) : X_WA.R.col(0);
    return {d - A.radius - B.radius, X_WA.p + A.radius * n, X_WB.p - B.radius * n, n};
  }
};

}  // namespace robosim

// Capsule (A) against sphere (B): the distance of the center from the core segment. The normal is
// along x if the center lies on the segment.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/directions.h"
#include "geometry/query.h"

namespace robosim {

struct CapsuleSphere {
  static constexpr ShapeType a = ShapeType::capsule, b = ShapeType::sphere;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&) {
    return signed_distance_in_W(A, SE3d(), B, X_AB);
  }
  static ROBOSIM_INLINE Witness signed_distance_in_W(const Shape& A, const SE3d& X_WA,
                                                     const Shape& B, const SE3d& X_WB) {
    const Vec3d axis = X_WA.R.col(2), c = X_WB.p - X_WA.p;
    const double along = dot(axis, c), t = std::clamp(along, -A.half_length, A.half_length);
    const Vec3d q = t * axis;
    Vec3d v = c - q;
    // The normal is perpendicular to the segment beside it, and points away from the segment beyond
    // its ends. Near the segment, rounding may violate this: the component along the segment is
    // then removed.
    if (const double beyond = dot(axis, v); t == along || beyond * t < 0) v -= beyond * axis;
    const double vv = squared_norm(v), d = std::sqrt(vv);
    const Vec3d n = vv > least_square ? direction_of(v, vv, d) : X_WA.R.col(0);
    return {d - A.radius - B.radius, X_WA.p + q + A.radius * n, X_WB.p - B.radius * n, n};
  }
};

}  // namespace robosim

// Two half-spaces. A translation can separate them only if they face each other. The distance is
// then along the common normal, positive for a slot between them. Otherwise they overlap without
// bound: the distance is -infinity, and both points are at B's origin.
#pragma once

#include <limits>

#include "geometry/query.h"

namespace robosim {

struct HalfSpaceHalfSpace {
  static constexpr ShapeType a = ShapeType::half_space, b = ShapeType::half_space;

  static Witness signed_distance(const Shape&, const Shape&, const SE3d& X_AB, PairCache&) {
    const Vec3d normal(0, 0, 1), n_B = X_AB.R.col(2), p = X_AB.p;
    // Facing each other up to rounding.
    if (squared_norm(n_B + normal) < 1e-24) return {p.z, {p.x, p.y, 0}, p, normal};
    return {-std::numeric_limits<double>::infinity(), p, p, normal};
  }
};

}  // namespace robosim

// Half-space (A) against any bounded shape, by the shape's support point in the direction into the
// half-space:
//   distance = min over B of z, in A's frame.
#pragma once

#include "geometry/query.h"

namespace robosim {

template <ShapeType Tb>
struct HalfSpaceAgainst {
  static constexpr ShapeType a = ShapeType::half_space, b = Tb;

  static Witness signed_distance(const Shape&, const Shape& B, const SE3d& X_AB, PairCache&) {
    const auto B_core = core<Tb>(B);
    const Vec3d lowest = X_AB * B_core.support(-X_AB.R.row[2]);
    const double distance = lowest.z - B_core.rounding();
    return {distance, {lowest.x, lowest.y, 0}, {lowest.x, lowest.y, distance}, {0, 0, 1}};
  }
};

}  // namespace robosim

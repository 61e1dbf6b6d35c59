// Capsule: ball swept along the segment from (0, 0, -half_length) to (0, 0, half_length). Core: the segment.
#pragma once

#include <cmath>

#include "geometry/bounds.h"

namespace robosim {

struct CapsuleCore {
  static constexpr bool curved = false;
  double radius, half_length;

  double rounding() const { return radius; }
  Vec3d centre() const { return {}; }
  Vec3d support(const Vec3d& d) const { return {0, 0, std::copysign(half_length, d.z)}; }
  Ball bounding_ball() const { return {{}, half_length + radius}; }
  double farthest_from(const Vec3d& p) const { return norm(p - support(-p)) + radius; }
};

}  // namespace robosim

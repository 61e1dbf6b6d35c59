// Box |x| <= half_extents.x and so on. Core: the box itself.
#pragma once

#include <cmath>

#include "geometry/bounds.h"

namespace robosim {

struct BoxCore {
  static constexpr bool curved = false;
  Vec3d half_extents;

  double rounding() const { return 0; }
  Vec3d centre() const { return {}; }
  // The corner on d's side.
  Vec3d support(const Vec3d& d) const {
    return {std::copysign(half_extents.x, d.x), std::copysign(half_extents.y, d.y), std::copysign(half_extents.z, d.z)};
  }
  Ball bounding_ball() const { return {{}, norm(half_extents)}; }
  // At the corner opposite to p.
  double farthest_from(const Vec3d& p) const { return norm(p - support(-p)); }
};

}  // namespace robosim

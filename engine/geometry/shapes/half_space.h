// Half-space z <= 0. Unbounded, so it has no support function: its pairs are analytic (pairs/half_space.h).
#pragma once

#include <limits>

#include "geometry/bounds.h"

namespace robosim {

struct HalfSpaceCore {
  Ball bounding_ball() const { return {{}, std::numeric_limits<double>::infinity()}; }
  double farthest_from(const Vec3d&) const { return std::numeric_limits<double>::infinity(); }
};

}  // namespace robosim

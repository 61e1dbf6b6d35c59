// Random positions from numbers u uniform in [0, 1).
#pragma once

#include <cmath>

#include "base/constants.h"

namespace robosim {

// Range [m] around zero in which coordinates without limits are sampled.
inline constexpr double unbounded_reach = 1;

// Sample between the limits; without limits within `reach` of zero, and with a single limit within
// 2 `reach` of it.
inline double sample_between(double u, double lower, double upper, double reach) {
  if (!std::isfinite(lower)) lower = std::isfinite(upper) ? upper - 2 * reach : -reach;
  if (!std::isfinite(upper)) upper = lower + 2 * reach;
  return lower + u * (upper - lower);
}

}  // namespace robosim

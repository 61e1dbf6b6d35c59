// Random positions from numbers u uniform in [0, 1).
#pragma once

#include <cmath>

#include "base/constants.h"

namespace robosim {

// [m] a coordinate without limits is sampled this far to either side of zero.
inline constexpr double unbounded_reach = 1;

// Between the limits; where there are none within `reach` of zero, where there is one within 2
// `reach` of that one.
inline double sample_between(double u, double lower, double upper, double reach) {
  if (!std::isfinite(lower)) lower = std::isfinite(upper) ? upper - 2 * reach : -reach;
  if (!std::isfinite(upper)) upper = lower + 2 * reach;
  return lower + u * (upper - lower);
}

}  // namespace robosim

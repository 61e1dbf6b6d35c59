// Named numeric constants.
#pragma once

#include <limits>
#include <numbers>

namespace robosim {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double pi = std::numbers::pi;

}  // namespace robosim

// Limits of coordinates.
#pragma once

namespace robosim {

inline constexpr double max_coordinate = 1e6;  // of vertices and heights [m]

}  // namespace robosim

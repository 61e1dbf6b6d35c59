// Limits of the geometry of bodies.
#pragma once

namespace robosim {

inline constexpr double max_coordinate = 1e6;  // [m] of vertices and heights

}  // namespace robosim

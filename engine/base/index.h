// Conversion of indices: int in the engine, std::size_t in containers of the standard library.
#pragma once

#include <cstddef>

namespace robosim {

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace robosim

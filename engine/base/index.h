// Indices are int throughout; containers of the library ask for std::size_t.
#pragma once

#include <cstddef>

namespace robosim {

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace robosim

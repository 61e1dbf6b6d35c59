// Resizing of vectors to zeros without reallocation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace robosim {

// Equivalent to x.assign(size, 0.0), which writes number by number and takes several times as long.
inline void make_zeros(std::vector<double>& x, std::size_t size) {
  x.resize(size);
  std::fill_n(x.data(), size, 0.0);
}

}  // namespace robosim

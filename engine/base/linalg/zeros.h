// Vectors of zeros that keep their room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace robosim {

// The same as x.assign(size, 0.0), which writes one number after the other and takes several times
// as long.
inline void make_zeros(std::vector<double>& x, std::size_t size) {
  x.resize(size);
  std::fill_n(x.data(), size, 0.0);
}

}  // namespace robosim

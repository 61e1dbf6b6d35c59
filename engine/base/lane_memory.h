// Loads of neighboring numbers into one register, and stores.
#pragma once

#include <cstring>

#include "base/inline.h"

namespace robosim {

template <class Register>
ROBOSIM_INLINE Register load_lanes(const double* from) {
  Register x;
  std::memcpy(&x, from, sizeof(x));
  return x;
}

// Passed by value: if the address of an array of registers is taken, gcc 12 keeps the whole array
// in memory, with a copy for each use.
template <class Register>
ROBOSIM_INLINE void store_lanes(Register x, double* to) {
  std::memcpy(to, &x, sizeof(x));
}

}  // namespace robosim

// Neighboring numbers in memory to one register and back.
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

// By value: of an array of registers whose address is taken, gcc 12 keeps all in memory, with a
// copy for each use.
template <class Register>
ROBOSIM_INLINE void store_lanes(Register x, double* to) {
  std::memcpy(to, &x, sizeof(x));
}

}  // namespace robosim

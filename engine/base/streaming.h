// Stores that bypass the caches, for results larger than these: a line is not read before it is
// written, and useful data are not evicted.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/inline.h"

namespace robosim {

// Return true if `to` has the alignment that store_streaming<Vector> requires.
template <class Vector>
ROBOSIM_INLINE bool can_stream(const double* to) {
  return reinterpret_cast<std::uintptr_t>(to) % sizeof(Vector) == 0;
}

// Visible to other threads after end_streaming.
template <class Vector>
ROBOSIM_INLINE void store_streaming(const Vector& x, double* to) {
#if defined(__clang__)
  __builtin_nontemporal_store(x, reinterpret_cast<Vector*>(to));
#else
#ifdef __AVX__
  if constexpr (sizeof(Vector) == 32) return __builtin_ia32_movntpd256(to, x);
#endif
#ifdef __SSE2__
  if constexpr (sizeof(Vector) == 16) return __builtin_ia32_movntpd(to, x);
#endif
  std::memcpy(to, &x, sizeof(x));
#endif
}

ROBOSIM_INLINE void end_streaming() {
#ifdef __SSE2__
  __builtin_ia32_sfence();
#endif
}

}  // namespace robosim

// Minimum, maximum and absolute value of scalars, access to lanes, and masks as bits. For plain
// numbers and for lanes.
#pragma once

#include "base/lane_math.h"

namespace robosim {

// Minimum and maximum; b if either is NaN.
template <class S>
ROBOSIM_INLINE S smaller(const S& a, const S& b) {
  return select(a < b, a, b);
}
template <class S>
ROBOSIM_INLINE S larger(const S& a, const S& b) {
  return select(a > b, a, b);
}

ROBOSIM_INLINE double absolute(double x) { return __builtin_fabs(x); }

ROBOSIM_INLINE bool any(bool condition) { return condition; }

// Number of lanes of a scalar, and access to lane l.
constexpr int lanes_in(double) { return 1; }
template <int W, Isa isa>
constexpr int lanes_in(const Lanes<W, isa>&) {
  return W;
}
ROBOSIM_INLINE double lane(double x, int) { return x; }
template <int W, Isa isa>
ROBOSIM_INLINE double lane(const Lanes<W, isa>& x, int l) {
  return x[l];
}
ROBOSIM_INLINE void set_lane(double& x, int, double value) { x = value; }
template <int W, Isa isa>
ROBOSIM_INLINE void set_lane(Lanes<W, isa>& x, int l, double value) {
  x.set(l, value);
}

// Bit l of the result is lane l of the mask.
template <int W, Isa isa>
ROBOSIM_INLINE unsigned bits_of(const Mask<W, isa>& mask) {
#if defined(__AVX512DQ__)
  if constexpr (W == 8) return _mm512_movepi64_mask((__m512i)mask.m);
#endif
#if defined(__AVX__)
  if constexpr (W == 4) return static_cast<unsigned>(_mm256_movemask_pd((__m256d)mask.m));
#endif
#if defined(__SSE2__)
  if constexpr (W == 2) return static_cast<unsigned>(_mm_movemask_pd((__m128d)mask.m));
#endif
  unsigned bits = 0;
  for (int i = 0; i < W; ++i) bits |= static_cast<unsigned>(mask[i]) << i;
  return bits;
}

}  // namespace robosim

// Lanes<W, isa>: W numbers side by side in one SIMD register, so that one kernel processes W robots
// at once. A single lane is a plain number with the same arithmetic: a state has the same results,
// to the bit, alone and in any lane of any batch.
//
// The instruction set is part of the type, so that code compiled for different sets never shares a
// symbol: instantiate Lanes<W, isa> only in translation units that are compiled for `isa`. Built on
// the vector types of gcc and clang. Products are fused exactly where a kernel calls mul_add and
// the instruction set has it, since contraction is off everywhere.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <cmath>
#include <cstdint>
#include <utility>

#include "base/isa.h"
#include "base/scalar.h"

namespace robosim {

namespace detail {

template <int W>
struct LaneTypes {
  typedef double Vector __attribute__((vector_size(8 * W)));
  typedef std::int64_t Mask __attribute__((vector_size(8 * W)));
  typedef std::uint64_t Bits __attribute__((vector_size(8 * W)));
};
template <>
struct LaneTypes<1> {
  using Vector = double;
  using Mask = bool;
  using Bits = std::uint64_t;
};

}  // namespace detail

template <int W, Isa isa>
struct Mask {
  typename detail::LaneTypes<W>::Mask m;

  ROBOSIM_INLINE bool operator[](int i) const {
    if constexpr (W == 1)
      return m;
    else
      return m[i] != 0;
  }
  friend ROBOSIM_INLINE Mask operator&(const Mask& a, const Mask& b) {
    return {static_cast<decltype(m)>(a.m & b.m)};
  }
  friend ROBOSIM_INLINE Mask operator|(const Mask& a, const Mask& b) {
    return {static_cast<decltype(m)>(a.m | b.m)};
  }
};

template <int W, Isa isa>
struct Lanes {
  static_assert(W <= lanes_of(isa), "wider than a register is slower than one by one");
  using Vector = typename detail::LaneTypes<W>::Vector;
  static constexpr int width = W;

  Vector v;

  Lanes() = default;
  ROBOSIM_INLINE Lanes(double x)
      : v(broadcast(x, std::make_integer_sequence<int, W>())) {
  }  // NOLINT: constants convert silently

  static ROBOSIM_INLINE Lanes from(const Vector& v) {
    Lanes x;
    x.v = v;
    return x;
  }
  ROBOSIM_INLINE double operator[](int i) const {
    if constexpr (W == 1)
      return v;
    else
      return v[i];
  }
  ROBOSIM_INLINE void set(int i, double x) {
    if constexpr (W == 1)
      v = x;
    else
      v[i] = x;
  }

  ROBOSIM_INLINE Lanes& operator+=(const Lanes& o) { return v += o.v, *this; }
  ROBOSIM_INLINE Lanes& operator-=(const Lanes& o) { return v -= o.v, *this; }
  ROBOSIM_INLINE Lanes& operator*=(const Lanes& o) { return v *= o.v, *this; }
  ROBOSIM_INLINE Lanes& operator/=(const Lanes& o) { return v /= o.v, *this; }
  ROBOSIM_INLINE Lanes operator-() const { return from(-v); }

  friend ROBOSIM_INLINE Lanes operator+(const Lanes& a, const Lanes& b) { return from(a.v + b.v); }
  friend ROBOSIM_INLINE Lanes operator-(const Lanes& a, const Lanes& b) { return from(a.v - b.v); }
  friend ROBOSIM_INLINE Lanes operator*(const Lanes& a, const Lanes& b) { return from(a.v * b.v); }
  friend ROBOSIM_INLINE Lanes operator/(const Lanes& a, const Lanes& b) { return from(a.v / b.v); }
  friend ROBOSIM_INLINE Mask<W, isa> operator<(const Lanes& a, const Lanes& b) {
    return {a.v < b.v};
  }
  friend ROBOSIM_INLINE Mask<W, isa> operator>(const Lanes& a, const Lanes& b) {
    return {a.v > b.v};
  }

 private:
  template <int... i>
  static ROBOSIM_INLINE Vector broadcast(double x, std::integer_sequence<int, i...>) {
    if constexpr (W == 1)
      return x;
    else
      return Vector{((void)i, x)...};
  }
};

template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> select(const Mask<W, isa>& mask, const Lanes<W, isa>& if_true,
                                    const Lanes<W, isa>& if_false) {
  return Lanes<W, isa>::from(mask.m ? if_true.v : if_false.v);
}

// Operations that the vector types lack: one instruction of the register's width, or else lane
// by lane.
namespace detail {

template <class V>
ROBOSIM_INLINE V fused(const V& a, const V& b, const V& c) {
#if defined(__FMA__)
  if constexpr (sizeof(V) == 16)
    return (V)_mm_fmadd_pd((__m128d)a, (__m128d)b, (__m128d)c);
  else if constexpr (sizeof(V) == 32)
    return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#if defined(__AVX512F__)
  else if constexpr (sizeof(V) == 64)
    return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#endif
  else
#elif defined(__aarch64__)
  if constexpr (sizeof(V) == 16)
    return (V)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
  else
#endif
  {
    V out = a;
    for (unsigned i = 0; i < sizeof(V) / 8; ++i) out[i] = __builtin_fma(a[i], b[i], c[i]);
    return out;
  }
}
ROBOSIM_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

}  // namespace detail

template <int W, Isa isa>
ROBOSIM_INLINE bool any(const Mask<W, isa>& mask) {
#if defined(__AVX512DQ__)
  if constexpr (W == 8) return _mm512_movepi64_mask((__m512i)mask.m) != 0;
#endif
#if defined(__AVX__)
  if constexpr (W == 4) return _mm256_movemask_pd((__m256d)mask.m) != 0;
#endif
#if defined(__SSE2__)
  if constexpr (W == 2) return _mm_movemask_pd((__m128d)mask.m) != 0;
#endif
  bool found = false;
  for (int i = 0; i < W; ++i) found |= mask[i];
  return found;
}

// Processors with fused products have them at every width, so one lane and many are rounded alike.
template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> mul_add(const Lanes<W, isa>& a, const Lanes<W, isa>& b,
                                     const Lanes<W, isa>& c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return Lanes<W, isa>::from(detail::fused(a.v, b.v, c.v));
#else
  return Lanes<W, isa>::from(a.v * b.v + c.v);
#endif
}

template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> nmul_add(const Lanes<W, isa>& a, const Lanes<W, isa>& b,
                                      const Lanes<W, isa>& c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return Lanes<W, isa>::from(detail::fused(-a.v, b.v, c.v));  // one instruction, the sign included
#else
  return Lanes<W, isa>::from(c.v - a.v * b.v);
#endif
}

}  // namespace robosim

#include "base/lane_math.h"

// Lanes<W, isa>: W numbers side by side in one SIMD register, so that one kernel steps W robots at once. One lane is a plain
// number with the same arithmetic: a state gives the same bits alone and in any lane of any batch.
//
// The instruction set is part of the type, so that code compiled for different ones never shares a symbol: instantiate
// Lanes<W, isa> only in translation units that are compiled for `isa`. Built on the vector types of gcc and clang; products
// are fused exactly where a kernel says mul_add and the instruction set has it, since contraction is off everywhere.
#pragma once

#if defined(__FMA__)
#include <immintrin.h>
#endif

#include <cmath>
#include <utility>

#include "base/isa.h"
#include "base/scalar.h"

namespace robosim {

namespace detail {

template <int W>
struct LaneTypes {
  typedef double Vector __attribute__((vector_size(8 * W)));
  typedef long long Mask __attribute__((vector_size(8 * W)));
};
template <>
struct LaneTypes<1> {
  using Vector = double;
  using Mask = bool;
};

}  // namespace detail

template <int W, Isa isa>
struct Mask {
  typename detail::LaneTypes<W>::Mask m;

  ROBOSIM_INLINE bool operator[](int i) const {
    if constexpr (W == 1) return m;
    else return m[i] != 0;
  }
  friend ROBOSIM_INLINE Mask operator&(const Mask& a, const Mask& b) { return {a.m & b.m}; }
  friend ROBOSIM_INLINE Mask operator|(const Mask& a, const Mask& b) { return {a.m | b.m}; }
};

template <int W, Isa isa>
ROBOSIM_INLINE bool any(const Mask<W, isa>& mask) {
  bool found = false;
  for (int i = 0; i < W; ++i) found |= mask[i];
  return found;
}

template <int W, Isa isa>
struct Lanes {
  using Vector = typename detail::LaneTypes<W>::Vector;
  static constexpr int width = W;

  Vector v;

  Lanes() = default;
  ROBOSIM_INLINE Lanes(double x) : v(broadcast(x, std::make_integer_sequence<int, W>())) {}  // NOLINT: constants convert silently

  static ROBOSIM_INLINE Lanes from(const Vector& v) {
    Lanes x;
    x.v = v;
    return x;
  }
  ROBOSIM_INLINE double operator[](int i) const {
    if constexpr (W == 1) return v;
    else return v[i];
  }
  ROBOSIM_INLINE void set(int i, double x) {
    if constexpr (W == 1) v = x;
    else v[i] = x;
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
  friend ROBOSIM_INLINE Mask<W, isa> operator<(const Lanes& a, const Lanes& b) { return {a.v < b.v}; }
  friend ROBOSIM_INLINE Mask<W, isa> operator>(const Lanes& a, const Lanes& b) { return {a.v > b.v}; }

 private:
  template <int... i>
  static ROBOSIM_INLINE Vector broadcast(double x, std::integer_sequence<int, i...>) {
    if constexpr (W == 1) return x;
    else return Vector{((void)i, x)...};
  }
};

template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> select(const Mask<W, isa>& mask, const Lanes<W, isa>& if_true, const Lanes<W, isa>& if_false) {
  return Lanes<W, isa>::from(mask.m ? if_true.v : if_false.v);
}

template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> mul_add(const Lanes<W, isa>& a, const Lanes<W, isa>& b, const Lanes<W, isa>& c) {
  using L = Lanes<W, isa>;
#if defined(__FMA__)
  if constexpr (W == 1) return L::from(__builtin_fma(a.v, b.v, c.v));
  else if constexpr (W == 4) return L::from((typename L::Vector)_mm256_fmadd_pd((__m256d)a.v, (__m256d)b.v, (__m256d)c.v));
#if defined(__AVX512F__)
  else if constexpr (W == 8) return L::from((typename L::Vector)_mm512_fmadd_pd((__m512d)a.v, (__m512d)b.v, (__m512d)c.v));
#endif
  else
#endif
    return L::from(a.v * b.v + c.v);
}

template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> nmul_add(const Lanes<W, isa>& a, const Lanes<W, isa>& b, const Lanes<W, isa>& c) {
  using L = Lanes<W, isa>;
#if defined(__FMA__)
  if constexpr (W == 1) return L::from(__builtin_fma(-a.v, b.v, c.v));
  else if constexpr (W == 4) return L::from((typename L::Vector)_mm256_fnmadd_pd((__m256d)a.v, (__m256d)b.v, (__m256d)c.v));
#if defined(__AVX512F__)
  else if constexpr (W == 8) return L::from((typename L::Vector)_mm512_fnmadd_pd((__m512d)a.v, (__m512d)b.v, (__m512d)c.v));
#endif
  else
#endif
    return L::from(c.v - a.v * b.v);
}

}  // namespace robosim

#include "base/lane_math.h"

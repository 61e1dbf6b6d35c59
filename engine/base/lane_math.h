// Elementary functions of Lanes, to about 1 ulp, with the same bits in every lane.
//
// Sine and cosine: x = k pi/2 + r with pi/2 in three parts (Cody and Waite, "Software Manual for the Elementary Functions",
// 1980), r kept as hi + lo, then the Taylor polynomials on [-pi/4, pi/4], whose remainder is below a tenth of an ulp. Beyond
// `exact_turns` quarter turns (1.6e6 rad) the library's functions take over, lane by lane.
#pragma once

#include "base/lanes.h"

namespace robosim {

// One library function, lane by lane.
template <class F, int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> lane_by_lane(F&& f, const Lanes<W, isa>& x) {
  Lanes<W, isa> out(0.0);
  for (int i = 0; i < W; ++i) out.set(i, f(x[i]));
  return out;
}

template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> sqrt(const Lanes<W, isa>& x) {
  Lanes<W, isa> out = x;  // compilers turn this loop into one instruction
  for (int i = 0; i < W; ++i) out.set(i, __builtin_sqrt(x[i]));
  return out;
}

template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> absolute(const Lanes<W, isa>& x) {
  return select(x < Lanes<W, isa>(0.0), -x, x);
}

// For |x| < 2^51: adding and taking away 1.5 * 2^52 rounds to a whole number.
template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> nearest(const Lanes<W, isa>& x) {
  const Lanes<W, isa> magic(0x1.8p52);
  return (x + magic) - magic;
}

template <int W, Isa isa>
ROBOSIM_INLINE void sin_cos(const Lanes<W, isa>& x, Lanes<W, isa>& s, Lanes<W, isa>& c) {
  using L = Lanes<W, isa>;
  constexpr double exact_turns = 0x1p20;
  const L k = nearest(x * L(0x1.45f306dc9c883p-1));  // 2 / pi
  // The first two parts have 33 bits each, so that their products with k are exact.
  const L first = nmul_add(k, L(0x1.921fb544p0), x), second = k * L(0x1.0b4611a6p-34);
  const L hi_ = first - second;
  const L lo_ = nmul_add(k, L(0x1.3198a2e037073p-69), (first - hi_) - second);
  const L hi = hi_ + lo_, lo = lo_ - (hi - hi_);
  const L z = hi * hi;
  L p(-1. / 1307674368000.);
  p = mul_add(p, z, L(1. / 6227020800.));
  p = mul_add(p, z, L(-1. / 39916800.));
  p = mul_add(p, z, L(1. / 362880.));
  p = mul_add(p, z, L(-1. / 5040.));
  p = mul_add(p, z, L(1. / 120.));
  p = mul_add(p, z, L(-1. / 6.));
  const L half_z = L(0.5) * z;
  const L sine = hi + mul_add(hi * z, p, nmul_add(half_z, lo, lo));
  L r(1. / 20922789888000.);
  r = mul_add(r, z, L(-1. / 87178291200.));
  r = mul_add(r, z, L(1. / 479001600.));
  r = mul_add(r, z, L(-1. / 3628800.));
  r = mul_add(r, z, L(1. / 40320.));
  r = mul_add(r, z, L(-1. / 720.));
  r = mul_add(r, z, L(1. / 24.));
  const L w = L(1.0) - half_z;
  const L cosine = w + (((L(1.0) - w) - half_z) + nmul_add(hi, lo, (z * z) * r));
  // The quadrant, k modulo 4.
  const L quadrant = nmul_add(L(4.0), nearest(mul_add(k, L(0.25), L(-0.375))), k);
  const L parity = nmul_add(L(2.0), nearest(mul_add(quadrant, L(0.5), L(-0.25))), quadrant);  // 0 or 1
  const auto swapped = parity > L(0.5);
  const L sine_ = select(swapped, cosine, sine), cosine_ = select(swapped, sine, cosine);
  s = select(quadrant > L(1.5), -sine_, sine_);
  c = select(absolute(quadrant - L(1.5)) < L(1.0), -cosine_, cosine_);
  const auto far = absolute(k) > L(exact_turns);
  if (any(far)) [[unlikely]]
    for (int i = 0; i < W; ++i)
      if (far[i]) s.set(i, std::sin(x[i])), c.set(i, std::cos(x[i]));
}

// Of n numbers that do not depend on each other, so that processors overlap them; single numbers share registers.
template <class S>
void sin_cos_each(int n, const S* x, S* s, S* c) {
  for (int i = 0; i < n; ++i) sin_cos(x[i], s[i], c[i]);
}
template <Isa isa>
void sin_cos_each(int n, const Lanes<1, isa>* x, Lanes<1, isa>* s, Lanes<1, isa>* c) {
  constexpr int W = lanes_of(isa);
  for (int i = 0; i < n; i += W) {
    const int count = n - i < W ? n - i : W;
    Lanes<W, isa> angle(0.0), sine, cosine;
    for (int l = 0; l < count; ++l) angle.set(l, x[i + l].v);
    sin_cos(angle, sine, cosine);
    for (int l = 0; l < count; ++l) s[i + l].v = sine[l], c[i + l].v = cosine[l];
  }
}

template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> sin(const Lanes<W, isa>& x) {
  Lanes<W, isa> s, c;
  sin_cos(x, s, c);
  return s;
}
template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> cos(const Lanes<W, isa>& x) {
  Lanes<W, isa> s, c;
  sin_cos(x, s, c);
  return c;
}
template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> atan2(const Lanes<W, isa>& y, const Lanes<W, isa>& x) {
  Lanes<W, isa> out(0.0);
  for (int i = 0; i < W; ++i) out.set(i, std::atan2(y[i], x[i]));
  return out;
}

}  // namespace robosim

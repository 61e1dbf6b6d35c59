// Elementary functions of Lanes with the same bits in every lane of every width.
//
// Sine and cosine: x = k pi/2 + r with |r| <= pi/4, r kept as hi + lo (Cody and Waite, "Software
// Manual for the Elementary Functions", 1980; pi/2 in four parts, so that r is accurate to 1e-32
// even where it nearly vanishes), then with z = r^2
//   sin r = r - r^3 (s0 - s1 z + ... - s5 z^5)      to 2^-57.8
//   cos r = 1 - z/2 + z^2 (c0 - c1 z + ... - c5 z^5)  to 2^-63.9
// with coefficients that minimize the largest relative error (Remez' exchange, rounded one after
// the other), summed after Estrin. Errors stay below 0.9 units in the last place (0.8 with fused
// products). Beyond 2^20 quarter turns (1.6e6 rad) the library's functions are called, lane by
// lane. The sign of a zero is kept; infinities and NaN result in NaN.
#pragma once

#include <cstring>

#include "base/lanes.h"

namespace robosim {

namespace detail {

inline constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;

}  // namespace detail

template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> sqrt(const Lanes<W, isa>& x) {
  Lanes<W, isa> out = x;  // with -fno-math-errno, one instruction
  for (int i = 0; i < W; ++i) out.set(i, __builtin_sqrt(x[i]));
  return out;
}

template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> absolute(const Lanes<W, isa>& x) {
  using L = Lanes<W, isa>;
  if constexpr (W == 1)
    return L::from(__builtin_fabs(x.v));
  else
    return L::from(
        (typename L::Vector)((typename detail::LaneTypes<W>::Bits)x.v & ~detail::sign_bit));
}

// Nearest integer, halves to even. Adding 2^52 to a number below it, which may have a fraction,
// rounds the fraction away.
template <int W, Isa isa>
ROBOSIM_INLINE Lanes<W, isa> nearest(const Lanes<W, isa>& x) {
  using L = Lanes<W, isa>;
  using Bits = typename detail::LaneTypes<W>::Bits;
  const L a = absolute(x), rounded = (a + L(0x1p52)) - L(0x1p52);
  const auto fractional = a < L(0x1p52);
  if constexpr (W == 1)
    return select(fractional, L::from(__builtin_copysign(rounded.v, x.v)), x);
  else
    return select(fractional,
                  L::from((typename L::Vector)((Bits)rounded.v | ((Bits)x.v & detail::sign_bit))),
                  x);
}

namespace detail {

// Evaluate c0 - c1 z + c2 z^2 - ... - c5 z^5 from z, z^2 and z^4.
template <class L>
ROBOSIM_INLINE L alternating(const double (&c)[6], const L& z, const L& z2, const L& z4) {
  const L low = nmul_add(L(c[1]), z, L(c[0])), middle = nmul_add(L(c[3]), z, L(c[2])),
          high = nmul_add(L(c[5]), z, L(c[4]));
  return mul_add(z4, high, mul_add(z2, middle, low));
}

// Sine and cosine for |x| up to 2^20 quarter turns. k: number of quarter turns.
template <int W, Isa isa>
ROBOSIM_INLINE void sin_cos_near(const Lanes<W, isa>& x, Lanes<W, isa>& s, Lanes<W, isa>& c,
                                 Lanes<W, isa>& k) {
  using L = Lanes<W, isa>;
  using Vector = typename L::Vector;
  using Bits = typename LaneTypes<W>::Bits;
  // The sum with 1.5 2^52 is rounded to a whole number, whose last bits are those of k.
  const L turns = mul_add(x, L(0x1.45f306dc9c883p-1), L(0x1.8p52));  // 2 / pi
  k = turns - L(0x1.8p52);

  // Three parts of pi/2 with 33 bits, whose products with k are exact, and one with 53. Differences
  // are kept with their rounding errors (Dekker, "A floating-point technique for extending the
  // available precision", 1971). All small terms are kept negated, so that a zero x keeps its sign.
  const L first = nmul_add(k, L(0x1.921fb544p+0), x);
  const L second = k * L(0x1.0b4611a6p-34), a = first - second, a_error = (a - first) + second;
  const L third = k * L(0x1.3198a2ep-69), b = a - third, b_error = (b - a) + third;
  const L rest = mul_add(k, L(0x1.b839a252049c1p-104), a_error + b_error);
  const L hi = b - rest, minus_lo = rest - (b - hi);

  constexpr double sine_terms[6] = {0x1.5555555555548p-3,  0x1.111111110f730p-7,
                                    0x1.a01a019be9210p-13, 0x1.71de35552a6a6p-19,
                                    0x1.ae5e4b82bf4a0p-26, 0x1.5d8b5520ee563p-33};
  constexpr double cosine_terms[6] = {0x1.555555555554bp-5,  0x1.6c16c16c15015p-10,
                                      0x1.a01a019c8f253p-16, 0x1.27e4f7f191244p-22,
                                      0x1.1ee9dbcecc112p-29, 0x1.8fa68460be271p-37};
  const L z = hi * hi, z2 = z * z, z4 = z2 * z2, half = L(0.5) * z;
  // sin(hi + lo) = sin hi + lo cos hi,  cos(hi + lo) = cos hi - lo hi.
  const L sine =
      hi - mul_add(hi * z, alternating(sine_terms, z, z2, z4), nmul_add(half, minus_lo, minus_lo));
  const L w = L(1.0) - half;
  const L cosine = w + (((L(1.0) - w) - half) +
                        mul_add(z2, alternating(cosine_terms, z, z2, z4), hi * minus_lo));

  // Odd k swaps sine and cosine; the second bit of k is the sign of the sine, that of k + 1 the
  // sign of the cosine.
  const Bits quarter = (Bits)turns.v,
             swapped = ((Bits)sine.v ^ (Bits)cosine.v) & (Bits{} - (quarter & 1));
  s.v = (Vector)(((Bits)sine.v ^ swapped) ^ ((quarter & 2) << 62));
  c.v = (Vector)(((Bits)cosine.v ^ swapped) ^ (((quarter + 1) & 2) << 62));
}

// A single lane is computed as one of two, so that its bits need not leave their register.
template <Isa isa>
ROBOSIM_INLINE void sin_cos_near(const Lanes<1, isa>& x, Lanes<1, isa>& s, Lanes<1, isa>& c,
                                 Lanes<1, isa>& k) {
  Lanes<2, isa> s_, c_, k_;
  sin_cos_near(Lanes<2, isa>(x.v), s_, c_, k_);
  s.v = s_.v[0];
  c.v = c_.v[0];
  k.v = k_.v[0];
}

// The library's sine and cosine, for lanes with large |k|.
template <int W, Isa isa>
[[gnu::cold, gnu::noinline]] void sin_cos_far(const Lanes<W, isa>& x, Lanes<W, isa>& s,
                                              Lanes<W, isa>& c, const Lanes<W, isa>& k) {
  for (int i = 0; i < W; ++i)
    if (std::abs(k[i]) > 0x1p20) {
      s.set(i, std::sin(x[i]));
      c.set(i, std::cos(x[i]));
    }
}

}  // namespace detail

template <int W, Isa isa>
ROBOSIM_INLINE void sin_cos(const Lanes<W, isa>& x, Lanes<W, isa>& s, Lanes<W, isa>& c) {
  Lanes<W, isa> k;
  detail::sin_cos_near(x, s, c, k);
  if (any(absolute(k) > Lanes<W, isa>(0x1p20))) [[unlikely]] {
    Lanes<W, isa> s_ = s, c_ = c;  // only these live in memory
    detail::sin_cos_far(Lanes<W, isa>(x), s_, c_, Lanes<W, isa>(k));
    s = s_;
    c = c_;
  }
}

// Required size of the arrays of sin_cos_each for n numbers; the entries behind these are zeros.
constexpr int sin_cos_room(int n) { return (n + 7) / 8 * 8; }

// Sine and cosine of n independent numbers, so that processors overlap them. Single numbers
// share registers.
template <class S>
void sin_cos_each(int n, const S* x, S* s, S* c) {
  for (int i = 0; i < n; ++i) sin_cos(x[i], s[i], c[i]);
}
template <Isa isa>
void sin_cos_each(int n, const Lanes<1, isa>* x, Lanes<1, isa>* s, Lanes<1, isa>* c) {
  constexpr int W = lanes_of(isa);
  for (int i = 0; i < n; i += W) {
    Lanes<W, isa> angle, sine, cosine;
    std::memcpy(&angle, x + i, sizeof(angle));
    sin_cos(angle, sine, cosine);
    std::memcpy(static_cast<void*>(s + i), &sine, sizeof(sine));
    std::memcpy(static_cast<void*>(c + i), &cosine, sizeof(cosine));
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

// Sine and cosine to about 100 bits, as sums of two doubles: the reference for Lanes. Slow and
// simple.
//
// Sums and products after Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic
// building blocks of double-word arithmetic", ACM TOMS 44 (2017), algorithms 6 (sum), 12 (product)
// and 15 (quotient by a double): relative errors below 2^-102, also with cancellation in a sum. No
// code under test is used here.
#pragma once

#include <cmath>

namespace robosim::reference {

struct DoubleDouble {
  double hi = 0, lo = 0;
};

inline DoubleDouble two_sum(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
inline DoubleDouble fast_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}
inline DoubleDouble two_product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}
inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
  const DoubleDouble v = fast_two_sum(s.hi, s.lo + t.hi);
  return fast_two_sum(v.hi, t.lo + v.lo);
}
inline DoubleDouble operator-(const DoubleDouble& a) { return {-a.hi, -a.lo}; }
inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble p = two_product(a.hi, b.hi);
  return fast_two_sum(p.hi, p.lo + (std::fma(a.hi, b.lo, a.lo * b.hi) + a.lo * b.lo));
}
inline DoubleDouble operator/(const DoubleDouble& a, double b) {
  const double q = a.hi / b;
  const DoubleDouble p = two_product(q, b);
  return fast_two_sum(q, ((a.hi - p.hi) - p.lo + a.lo) / b);
}

struct SineCosine {
  DoubleDouble sine, cosine;
};

// Sine and cosine for |x| < 1e9: x - k pi/2 with pi/2 in four doubles (212 bits), then the Taylor
// series.
inline SineCosine sine_cosine(double x) {
  constexpr double half_pi[4] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                 -0x1.f1976b7ed8fbcp-110, 0x1.4cf98e804177dp-164};
  const double k = std::nearbyint(x / half_pi[0]);
  DoubleDouble r{x, 0};
  for (double part : half_pi) r = r + two_product(-k, part);
  const DoubleDouble minus_z = -(r * r);
  DoubleDouble sine = r, cosine{1, 0}, sine_term = r, cosine_term{1, 0};
  for (int n = 1; n < 30; n += 2) {  // 0.8^30 / 30! < 2^-110
    cosine_term = cosine_term * minus_z / (n * (n + 1));
    sine_term = sine_term * minus_z / ((n + 1) * (n + 2));
    cosine = cosine + cosine_term;
    sine = sine + sine_term;
  }
  switch (static_cast<long long>(k) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

// Error |x - exact| in units of the last place of a double near `exact`.
inline double ulps(double x, const DoubleDouble& exact) {
  int exponent;
  std::frexp(exact.hi, &exponent);
  return std::abs(std::ldexp((x - exact.hi) - exact.lo, 53 - std::max(exponent, -1021)));
}

}  // namespace robosim::reference

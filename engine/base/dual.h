// Dual numbers a + b e with e^2 = 0: a kernel run on them yields its value and, exact to rounding, its derivative along one
// direction. The tests' oracle for everything analytic. See Griewank and Walther, "Evaluating Derivatives" (2008), ch. 3.
#pragma once

#include "base/scalar.h"

namespace robosim {

struct Dual {
  double value = 0, derivative = 0;

  Dual() = default;
  Dual(double v) : value(v) {}  // NOLINT: constants convert silently, as they should
  Dual(double v, double d) : value(v), derivative(d) {}

  Dual& operator+=(const Dual& o) { return *this = {value + o.value, derivative + o.derivative}; }
  Dual& operator-=(const Dual& o) { return *this = {value - o.value, derivative - o.derivative}; }
  Dual& operator*=(const Dual& o) { return *this = {value * o.value, derivative * o.value + value * o.derivative}; }
  Dual& operator/=(const Dual& o) {
    const double ratio = value / o.value;
    return *this = {ratio, (derivative - ratio * o.derivative) / o.value};
  }
  Dual operator-() const { return {-value, -derivative}; }
};

inline Dual operator+(Dual a, const Dual& b) { return a += b; }
inline Dual operator-(Dual a, const Dual& b) { return a -= b; }
inline Dual operator*(Dual a, const Dual& b) { return a *= b; }
inline Dual operator/(Dual a, const Dual& b) { return a /= b; }
inline bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
inline bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }

inline Dual sin(const Dual& x) { return {std::sin(x.value), std::cos(x.value) * x.derivative}; }
inline Dual cos(const Dual& x) { return {std::cos(x.value), -std::sin(x.value) * x.derivative}; }
inline Dual sqrt(const Dual& x) {
  const double root = std::sqrt(x.value);
  return {root, x.derivative / (2 * root)};
}
inline Dual atan2(const Dual& y, const Dual& x) {
  const double squared = x.value * x.value + y.value * y.value;
  return {std::atan2(y.value, x.value), (y.derivative * x.value - x.derivative * y.value) / squared};
}

inline Dual select(bool condition, const Dual& if_true, const Dual& if_false) { return condition ? if_true : if_false; }
inline Dual nearest(const Dual& x) { return {nearest(x.value), 0}; }
inline double value_of(const Dual& x) { return x.value; }

}  // namespace robosim

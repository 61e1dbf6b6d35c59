// Dual numbers a + b e with e^2 = 0. A kernel run on dual numbers computes its value and, exact to
// rounding, its derivative along one direction. Over double they are the reference of the tests for
// analytic derivatives. Over Lanes they turn a first-order product into a second-order one.
// Griewank and Walther, "Evaluating Derivatives" (2008), ch. 3.
#pragma once

#include "base/scalar.h"

namespace robosim {

template <class T>
struct DualOf {
  T value{}, derivative{};

  DualOf() = default;
  ROBOSIM_INLINE DualOf(double v)
      : value(v), derivative(0) {}  // NOLINT: constants convert silently, as they should
  ROBOSIM_INLINE DualOf(const T& v, const T& d) : value(v), derivative(d) {}

  ROBOSIM_INLINE DualOf& operator+=(const DualOf& o) {
    return *this = {value + o.value, derivative + o.derivative};
  }
  ROBOSIM_INLINE DualOf& operator-=(const DualOf& o) {
    return *this = {value - o.value, derivative - o.derivative};
  }
  ROBOSIM_INLINE DualOf& operator*=(const DualOf& o) {
    return *this = {value * o.value, mul_add(value, o.derivative, derivative * o.value)};
  }
  ROBOSIM_INLINE DualOf& operator/=(const DualOf& o) {
    const T ratio = value / o.value;
    return *this = {ratio, nmul_add(ratio, o.derivative, derivative) / o.value};
  }
  ROBOSIM_INLINE DualOf operator-() const { return {-value, -derivative}; }

  friend ROBOSIM_INLINE DualOf operator+(DualOf a, const DualOf& b) { return a += b; }
  friend ROBOSIM_INLINE DualOf operator-(DualOf a, const DualOf& b) { return a -= b; }
  friend ROBOSIM_INLINE DualOf operator*(DualOf a, const DualOf& b) { return a *= b; }
  friend ROBOSIM_INLINE DualOf operator/(DualOf a, const DualOf& b) { return a /= b; }
  friend ROBOSIM_INLINE auto operator<(const DualOf& a, const DualOf& b) {
    return a.value < b.value;
  }
  friend ROBOSIM_INLINE auto operator>(const DualOf& a, const DualOf& b) {
    return a.value > b.value;
  }
};

using Dual = DualOf<double>;

template <class T>
ROBOSIM_INLINE DualOf<T> mul_add(const DualOf<T>& a, const DualOf<T>& b, const DualOf<T>& c) {
  return {mul_add(a.value, b.value, c.value),
          mul_add(a.value, b.derivative, mul_add(a.derivative, b.value, c.derivative))};
}
template <class T>
ROBOSIM_INLINE DualOf<T> nmul_add(const DualOf<T>& a, const DualOf<T>& b, const DualOf<T>& c) {
  return {nmul_add(a.value, b.value, c.value),
          nmul_add(a.value, b.derivative, nmul_add(a.derivative, b.value, c.derivative))};
}
template <class T>
ROBOSIM_INLINE void sin_cos(const DualOf<T>& x, DualOf<T>& s, DualOf<T>& c) {
  T sine, cosine;
  sin_cos(x.value, sine, cosine);
  s = {sine, cosine * x.derivative};
  c = {cosine, -sine * x.derivative};
}
template <class T>
DualOf<T> sin(const DualOf<T>& x) {
  using std::cos;
  using std::sin;
  return {sin(x.value), cos(x.value) * x.derivative};
}
template <class T>
DualOf<T> cos(const DualOf<T>& x) {
  using std::cos;
  using std::sin;
  return {cos(x.value), -sin(x.value) * x.derivative};
}
template <class T>
DualOf<T> sqrt(const DualOf<T>& x) {
  using std::sqrt;
  const T root = sqrt(x.value);
  return {root, x.derivative / (T(2) * root)};
}
template <class T>
DualOf<T> atan2(const DualOf<T>& y, const DualOf<T>& x) {
  using std::atan2;
  const T squared = x.value * x.value + y.value * y.value;
  return {atan2(y.value, x.value), (y.derivative * x.value - x.derivative * y.value) / squared};
}

template <class Condition, class T>
ROBOSIM_INLINE DualOf<T> select(const Condition& condition, const DualOf<T>& if_true,
                                const DualOf<T>& if_false) {
  return {select(condition, if_true.value, if_false.value),
          select(condition, if_true.derivative, if_false.derivative)};
}
template <class T>
DualOf<T> nearest(const DualOf<T>& x) {
  return {nearest(x.value), T(0)};
}
inline double value_of(const Dual& x) { return x.value; }

}  // namespace robosim

// 3-vectors. Plain structs instead of Eigen types, which make the recursions of the dynamics 1.7
// times slower.
#pragma once

#include <cmath>

#include "base/scalar.h"

namespace robosim {

template <class S>
struct Vec3 {
  S x{}, y{}, z{};

  Vec3() = default;
  Vec3(const S& x_, const S& y_, const S& z_) : x(x_), y(y_), z(z_) {}
  // Conversion from another scalar (double to Lanes or Dual) is explicit.
  template <class T>
  explicit Vec3(const Vec3<T>& o) : x(S(o.x)), y(S(o.y)), z(S(o.z)) {}

  S& operator[](int i) { return i == 0 ? x : (i == 1 ? y : z); }
  const S& operator[](int i) const { return i == 0 ? x : (i == 1 ? y : z); }

  Vec3& operator+=(const Vec3& o) {
    x += o.x;
    y += o.y;
    z += o.z;
    return *this;
  }
  Vec3& operator-=(const Vec3& o) {
    x -= o.x;
    y -= o.y;
    z -= o.z;
    return *this;
  }
  Vec3& operator*=(const S& s) {
    x *= s;
    y *= s;
    z *= s;
    return *this;
  }
  Vec3 operator-() const { return {-x, -y, -z}; }
};

template <class S>
ROBOSIM_INLINE Vec3<S> operator+(Vec3<S> a, const Vec3<S>& b) {
  return a += b;
}
template <class S>
ROBOSIM_INLINE Vec3<S> operator-(Vec3<S> a, const Vec3<S>& b) {
  return a -= b;
}
template <class S>
ROBOSIM_INLINE Vec3<S> operator*(const S& s, Vec3<S> a) {
  return a *= s;
}
template <class S>
ROBOSIM_INLINE Vec3<S> operator*(Vec3<S> a, const S& s) {
  return a *= s;
}
template <class S>
ROBOSIM_INLINE S dot(const Vec3<S>& a, const Vec3<S>& b) {
  return mul_add(a.z, b.z, mul_add(a.y, b.y, a.x * b.x));
}
template <class S>
ROBOSIM_INLINE Vec3<S> cross(const Vec3<S>& a, const Vec3<S>& b) {
  return {nmul_add(a.z, b.y, a.y * b.z), nmul_add(a.x, b.z, a.z * b.x),
          nmul_add(a.y, b.x, a.x * b.y)};
}
// s a + b, and b - s a.
template <class S>
ROBOSIM_INLINE Vec3<S> mul_add(const S& s, const Vec3<S>& a, const Vec3<S>& b) {
  return {mul_add(s, a.x, b.x), mul_add(s, a.y, b.y), mul_add(s, a.z, b.z)};
}
template <class S>
ROBOSIM_INLINE Vec3<S> nmul_add(const S& s, const Vec3<S>& a, const Vec3<S>& b) {
  return {nmul_add(s, a.x, b.x), nmul_add(s, a.y, b.y), nmul_add(s, a.z, b.z)};
}
// a x b + c, and c - a x b.
template <class S>
ROBOSIM_INLINE Vec3<S> cross_add(const Vec3<S>& a, const Vec3<S>& b, const Vec3<S>& c) {
  return {nmul_add(a.z, b.y, mul_add(a.y, b.z, c.x)), nmul_add(a.x, b.z, mul_add(a.z, b.x, c.y)),
          nmul_add(a.y, b.x, mul_add(a.x, b.y, c.z))};
}
template <class S>
ROBOSIM_INLINE Vec3<S> cross_subtract(const Vec3<S>& a, const Vec3<S>& b, const Vec3<S>& c) {
  return cross_add(b, a, c);
}
// a . b + c.
template <class S>
ROBOSIM_INLINE S dot_add(const Vec3<S>& a, const Vec3<S>& b, const S& c) {
  return mul_add(a.z, b.z, mul_add(a.y, b.y, mul_add(a.x, b.x, c)));
}
template <class S>
ROBOSIM_INLINE S squared_norm(const Vec3<S>& a) {
  return dot(a, a);
}
template <class S>
ROBOSIM_INLINE S norm(const Vec3<S>& a) {
  using std::sqrt;
  return sqrt(dot(a, a));
}

using Vec3d = Vec3<double>;

// Vector of three consecutive numbers.
inline Vec3d vec3_at(const double* x) { return {x[0], x[1], x[2]}; }

}  // namespace robosim

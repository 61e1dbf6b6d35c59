// 3x3 matrices, row-major, and the cross-product matrix.
#pragma once

#include "spatial/vec3.h"

namespace robosim {

template <class S>
struct Mat3 {
  Vec3<S> row[3];

  Mat3() = default;
  Mat3(const Vec3<S>& r0, const Vec3<S>& r1, const Vec3<S>& r2) : row{r0, r1, r2} {}
  template <class T>
  explicit Mat3(const Mat3<T>& o) : row{Vec3<S>(o.row[0]), Vec3<S>(o.row[1]), Vec3<S>(o.row[2])} {}

  static Mat3 identity() { return diagonal(S(1), S(1), S(1)); }
  static Mat3 diagonal(const S& a, const S& b, const S& c) {
    return {{a, S(0), S(0)}, {S(0), b, S(0)}, {S(0), S(0), c}};
  }

  S& operator()(int i, int j) { return row[i][j]; }
  const S& operator()(int i, int j) const { return row[i][j]; }
  Vec3<S> col(int j) const { return {row[0][j], row[1][j], row[2][j]}; }

  Mat3& operator+=(const Mat3& o) {
    for (int i = 0; i < 3; ++i) row[i] += o.row[i];
    return *this;
  }
  Mat3& operator-=(const Mat3& o) {
    for (int i = 0; i < 3; ++i) row[i] -= o.row[i];
    return *this;
  }
  Mat3& operator*=(const S& s) {
    for (int i = 0; i < 3; ++i) row[i] *= s;
    return *this;
  }
};

template <class S>
ROBOSIM_INLINE Mat3<S> operator+(Mat3<S> a, const Mat3<S>& b) {
  return a += b;
}
template <class S>
ROBOSIM_INLINE Mat3<S> operator-(Mat3<S> a, const Mat3<S>& b) {
  return a -= b;
}
template <class S>
ROBOSIM_INLINE Mat3<S> operator*(const S& s, Mat3<S> a) {
  return a *= s;
}
template <class S>
ROBOSIM_INLINE Vec3<S> operator*(const Mat3<S>& a, const Vec3<S>& b) {
  return {dot(a.row[0], b), dot(a.row[1], b), dot(a.row[2], b)};
}
// a b + c.
template <class S>
ROBOSIM_INLINE Vec3<S> times_add(const Mat3<S>& a, const Vec3<S>& b, const Vec3<S>& c) {
  return {dot_add(a.row[0], b, c.x), dot_add(a.row[1], b, c.y), dot_add(a.row[2], b, c.z)};
}
// a^T b without forming the transpose.
template <class S>
ROBOSIM_INLINE Vec3<S> transpose_times(const Mat3<S>& a, const Vec3<S>& b) {
  return mul_add(b.z, a.row[2], mul_add(b.y, a.row[1], b.x * a.row[0]));
}
template <class S>
ROBOSIM_INLINE Mat3<S> operator*(const Mat3<S>& a, const Mat3<S>& b) {
  return {transpose_times(b, a.row[0]), transpose_times(b, a.row[1]), transpose_times(b, a.row[2])};
}
template <class S>
ROBOSIM_INLINE Mat3<S> transpose(const Mat3<S>& a) {
  return {a.col(0), a.col(1), a.col(2)};
}
// skew(a) b = a x b.
template <class S>
ROBOSIM_INLINE Mat3<S> skew(const Vec3<S>& a) {
  return {{S(0), -a.z, a.y}, {a.z, S(0), -a.x}, {-a.y, a.x, S(0)}};
}

using Mat3d = Mat3<double>;

}  // namespace robosim

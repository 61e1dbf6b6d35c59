// Symmetric 3x3 matrices, stored as six entries.
#pragma once

#include "spatial/mat3.h"

namespace robosim {

template <class S>
struct Sym3 {
  S xx{}, xy{}, xz{}, yy{}, yz{}, zz{};

  Sym3() = default;
  Sym3(const S& xx_, const S& xy_, const S& xz_, const S& yy_, const S& yz_, const S& zz_)
      : xx(xx_), xy(xy_), xz(xz_), yy(yy_), yz(yz_), zz(zz_) {}
  template <class T>
  explicit Sym3(const Sym3<T>& o)
      : xx(S(o.xx)), xy(S(o.xy)), xz(S(o.xz)), yy(S(o.yy)), yz(S(o.yz)), zz(S(o.zz)) {}
  // Conversion of a matrix that is symmetric up to rounding.
  explicit Sym3(const Mat3<S>& m)
      : xx(m(0, 0)), xy(m(0, 1)), xz(m(0, 2)), yy(m(1, 1)), yz(m(1, 2)), zz(m(2, 2)) {}

  Vec3<S> row0() const { return {xx, xy, xz}; }
  Vec3<S> row1() const { return {xy, yy, yz}; }
  Vec3<S> row2() const { return {xz, yz, zz}; }

  Sym3& operator+=(const Sym3& o) {
    xx += o.xx;
    xy += o.xy;
    xz += o.xz;
    yy += o.yy;
    yz += o.yz;
    zz += o.zz;
    return *this;
  }
};

template <class S>
ROBOSIM_INLINE Vec3<S> operator*(const Sym3<S>& a, const Vec3<S>& b) {
  return {dot(a.row0(), b), dot(a.row1(), b), dot(a.row2(), b)};
}

// Upper triangle of a b^T.
template <class S>
ROBOSIM_INLINE Sym3<S> upper_outer(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.y, a.y * b.z, a.z * b.z};
}

// A minus the upper triangle of a b^T.
template <class S>
ROBOSIM_INLINE void subtract_upper_outer(const Vec3<S>& a, const Vec3<S>& b, Sym3<S>& A) {
  A.xx = nmul_add(a.x, b.x, A.xx);
  A.xy = nmul_add(a.x, b.y, A.xy);
  A.xz = nmul_add(a.x, b.z, A.xz);
  A.yy = nmul_add(a.y, b.y, A.yy);
  A.yz = nmul_add(a.y, b.z, A.yz);
  A.zz = nmul_add(a.z, b.z, A.zz);
}

// R A R^T.
template <class S>
ROBOSIM_INLINE Sym3<S> rotated(const Mat3<S>& R, const Sym3<S>& A) {
  const Vec3<S> c0 = A * R.row[0], c1 = A * R.row[1], c2 = A * R.row[2];
  return {dot(R.row[0], c0), dot(R.row[0], c1), dot(R.row[0], c2),
          dot(R.row[1], c1), dot(R.row[1], c2), dot(R.row[2], c2)};
}

}  // namespace robosim

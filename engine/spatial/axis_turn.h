// Rotations about coordinate axes, with a third of the products of a rotation matrix. They have the
// same operations: R * x, and rotated(R, A) = R A R^T.
#pragma once

#include "spatial/sym3.h"

namespace robosim {

// Rotation about axis k (0, 1, 2: x, y, z) by an angle, given by its sine and cosine.
template <int k, class S>
struct AxisTurn {
  S sine, cosine;
};

// Rotation by `inner`, followed by `outer`.
template <class Outer, class Inner>
struct TwoTurns {
  Outer outer;
  Inner inner;
};

// The axes after k in cyclic order are a and b. Results are constructed from numbers instead of
// written to components of a copy, which compilers would keep in memory.
template <int k, class S>
ROBOSIM_INLINE Vec3<S> operator*(const AxisTurn<k, S>& R, const Vec3<S>& x) {
  const auto turned = [&](const S& at_a, const S& at_b, S& a, S& b) __attribute__((always_inline)) {
    a = nmul_add(R.sine, at_b, R.cosine * at_a);
    b = mul_add(R.sine, at_a, R.cosine * at_b);
  };
  S a, b;
  if constexpr (k == 0) {
    turned(x.y, x.z, a, b);
    return {x.x, a, b};
  } else if constexpr (k == 1) {
    turned(x.z, x.x, a, b);
    return {b, x.y, a};
  } else {
    turned(x.x, x.y, a, b);
    return {a, b, x.z};
  }
}

// With w = sin (aa - bb) + 2 cos ab, the block of A in the plane of the turn changes from [aa ab;
// ab bb] to
//   [aa - w sin, w cos - ab; w cos - ab, bb + w sin]
template <int k, class S>
ROBOSIM_INLINE Sym3<S> rotated(const AxisTurn<k, S>& R, const Sym3<S>& A) {
  struct Plane {
    S aa, ab, bb, ka, kb;
  };
  const auto turned = [&](const S& aa, const S& ab, const S& bb, const S& ka, const S& kb)
      __attribute__((always_inline)) {
    const S w = mul_add(R.sine, aa - bb, R.cosine * (ab + ab));
    return Plane{nmul_add(w, R.sine, aa), w * R.cosine - ab, mul_add(w, R.sine, bb),
                 nmul_add(R.sine, kb, R.cosine * ka), mul_add(R.sine, ka, R.cosine * kb)};
  };
  if constexpr (k == 0) {
    const Plane t = turned(A.yy, A.yz, A.zz, A.xy, A.xz);
    return {A.xx, t.ka, t.kb, t.aa, t.ab, t.bb};
  } else if constexpr (k == 1) {
    const Plane t = turned(A.zz, A.xz, A.xx, A.yz, A.xy);
    return {t.bb, t.kb, t.ab, A.yy, t.ka, t.aa};
  } else {
    const Plane t = turned(A.xx, A.xy, A.yy, A.xz, A.yz);
    return {t.aa, t.ab, t.ka, t.bb, t.kb, A.zz};
  }
}

template <class Outer, class Inner, class S>
ROBOSIM_INLINE Vec3<S> operator*(const TwoTurns<Outer, Inner>& R, const Vec3<S>& x) {
  return R.outer * (R.inner * x);
}
template <class Outer, class Inner, class S>
ROBOSIM_INLINE Sym3<S> rotated(const TwoTurns<Outer, Inner>& R, const Sym3<S>& A) {
  return rotated(R.outer, rotated(R.inner, A));
}

}  // namespace robosim

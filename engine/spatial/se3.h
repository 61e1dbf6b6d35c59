// Rigid transforms in Drake's monogram notation: X_AB maps the coordinates of a point from frame B
// to frame A, p_A = R_AB p_B + p_AB; adjacent letters cancel in products, X_AC = X_AB * X_BC.
#pragma once

#include "spatial/mat3.h"

namespace robosim {

template <class S>
struct SE3 {
  Mat3<S> R = Mat3<S>::identity();
  Vec3<S> p;

  SE3() = default;
  SE3(const Mat3<S>& R_, const Vec3<S>& p_) : R(R_), p(p_) {}
  template <class T>
  explicit SE3(const SE3<T>& o) : R(o.R), p(o.p) {}

  ROBOSIM_INLINE Vec3<S> operator*(const Vec3<S>& p_B) const { return times_add(R, p_B, p); }
  ROBOSIM_INLINE SE3 operator*(const SE3& X_BC) const {
    return {R * X_BC.R, times_add(R, X_BC.p, p)};
  }
  SE3 inverse() const {
    const Mat3<S> Rt = transpose(R);
    return {Rt, -(Rt * p)};
  }
  // Coordinates in B of a point given in A: X_AB^-1 p_A without forming the inverse.
  Vec3<S> inverse_times(const Vec3<S>& p_A) const { return transpose_times(R, p_A - p); }
};

using SE3d = SE3<double>;

}  // namespace robosim

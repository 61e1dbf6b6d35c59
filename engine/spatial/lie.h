// Exponential and logarithm of SO(3), SE(3) and SE(2), for the motion of joints along a velocity
// and its inverse.
//
//   exp of (v, w) over unit time, body side: R(w), p = V(w) v,  V = 1 + B [w] + C [w]^2
//   V^-1 = 1 - [w] / 2 + D [w]^2
// with s = |w|^2 and
//   A = sin|w| / |w|,  B = (1 - cos|w|) / s,  C = (1 - A) / s,  D = (1 - A / (2 B)) / s
// Near zero, power series are used, which are exact to rounding where the closed forms cancel; the
// two agree to 1e-15 at the transition. Barfoot, "State Estimation for Robotics" (2017), eqs. 7.37
// and 7.77 to 7.86. No branch on S.
#pragma once

#include "base/scalar.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

namespace robosim {

// Functions A, B, C, D of the header, of s = |w|^2.
template <class S>
struct RotationSeries {
  S A, B, C, D;

  explicit RotationSeries(const S& s) {
    using std::cos;
    using std::sin;
    using std::sqrt;
    const auto small = s < S(0.25);
    // The closed forms must stay finite even if they are not selected.
    const S t = select(small, S(1), s);
    const S angle = sqrt(t), half = sin(S(0.5) * angle);
    const S a = sin(angle) / angle, b = S(2) * half * half / t;
    A = select(small,
               series(s, {1, -1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800,
                          1. / 6227020800.}),
               a);
    B = select(small,
               series(s, {1. / 2, -1. / 24, 1. / 720, -1. / 40320, 1. / 3628800, -1. / 479001600,
                          1. / 87178291200.}),
               b);
    C = select(small,
               series(s, {1. / 6, -1. / 120, 1. / 5040, -1. / 362880, 1. / 39916800,
                          -1. / 6227020800., 1. / 1307674368000.}),
               (S(1) - a) / t);
    D = select(small,
               series(s, {1. / 12, 1. / 720, 1. / 30240, 1. / 1209600, 1. / 47900160,
                          691. / 1307674368000., 1. / 74724249600.}),
               (S(1) - a / (S(2) * b)) / t);
  }

 private:
  static S series(const S& s, const double (&c)[7]) {
    S sum(c[6]);
    for (int i = 5; i >= 0; --i) sum = mul_add(sum, s, S(c[i]));
    return sum;
  }
};

template <class S>
struct Quaternion {
  Vec3<S> vec;
  S w{1};
};

template <class S>
Quaternion<S> operator*(const Quaternion<S>& a, const Quaternion<S>& b) {
  return {a.w * b.vec + b.w * a.vec + cross(a.vec, b.vec), a.w * b.w - dot(a.vec, b.vec)};
}

template <class S>
Quaternion<S> conjugate(const Quaternion<S>& a) {
  return {-a.vec, a.w};
}

template <class S>
Quaternion<S> normalized(const Quaternion<S>& a) {
  using std::sqrt;
  const S scale = S(1) / sqrt(dot(a.vec, a.vec) + a.w * a.w);
  return {scale * a.vec, scale * a.w};
}

// Unit quaternion (sin(|w|/2) w/|w|, cos(|w|/2)) of the rotation by the vector w [rad].
template <class S>
Quaternion<S> exp_quaternion(const Vec3<S>& w) {
  const S s = S(0.25) * dot(w, w);
  const RotationSeries<S> half(s);
  return {S(0.5) * half.A * w, S(1) - s * half.B};
}

// Rotation vector of a unit quaternion, of length at most pi.
template <class S>
Vec3<S> log_quaternion(const Quaternion<S>& a) {
  using std::atan2;
  using std::sqrt;
  const S sign = select(a.w < S(0), S(-1), S(1));  // q and -q are the same rotation
  const S w = sign * a.w, nn = dot(a.vec, a.vec);
  const auto small = nn < S(1e-4);
  const S n = sqrt(select(small, S(1), nn));
  const S tt = nn / select(small, w * w, S(1));
  const S series =
      (S(2) - tt * (S(2. / 3) - tt * (S(2. / 5) - tt * (S(2. / 7) - tt * S(2. / 9))))) /
      select(small, w, S(1));
  return (sign * select(small, series, S(2) * atan2(n, w) / n)) * a.vec;
}

// V(w) x and V(w)^-1 x of the header.
template <class S>
Vec3<S> left_jacobian_times(const RotationSeries<S>& f, const Vec3<S>& w, const Vec3<S>& x) {
  const Vec3<S> wx = cross(w, x);
  return x + f.B * wx + f.C * cross(w, wx);
}
template <class S>
Vec3<S> left_jacobian_times(const Vec3<S>& w, const Vec3<S>& x) {
  return left_jacobian_times(RotationSeries<S>(dot(w, w)), w, x);
}
template <class S>
Vec3<S> inverse_left_jacobian_times(const Vec3<S>& w, const Vec3<S>& x) {
  const RotationSeries<S> f(dot(w, w));
  const Vec3<S> wx = cross(w, x);
  return x - S(0.5) * wx + f.D * cross(w, wx);
}

// Unit quaternion of a rotation matrix. Shepperd, "Quaternion from rotation matrix" (1978): the
// largest of the four components is computed first, which avoids cancellation.
inline Quaternion<double> rotation_to_quaternion(const Mat3d& R) {
  const double trace = R(0, 0) + R(1, 1) + R(2, 2);
  int i = 0;
  for (int k = 1; k < 3; ++k)
    if (R(k, k) > R(i, i)) i = k;
  Quaternion<double> q;
  if (trace > R(i, i)) {
    q = {{R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1)}, 1 + trace};
  } else {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    q.vec[i] = 1 + R(i, i) - R(j, j) - R(k, k);
    q.vec[j] = R(j, i) + R(i, j);
    q.vec[k] = R(k, i) + R(i, k);
    q.w = R(k, j) - R(j, k);
  }
  return normalized(q);
}

// Rotation vector of a rotation matrix [rad].
inline Vec3d log_rotation(const Mat3d& R) { return log_quaternion(rotation_to_quaternion(R)); }

// Body-frame motion that leads from the identity to X in unit time.
inline Motion<double> log_pose(const SE3d& X) {
  const Vec3d w = log_rotation(X.R);
  return {w, inverse_left_jacobian_times(w, X.p)};
}

// Pose reached from the identity by the body-frame motion V in unit time.
template <class S>
SE3<S> exp_motion(const Motion<S>& V) {
  const Quaternion<S> q = exp_quaternion(V.angular);
  const S raw[4] = {q.vec.x, q.vec.y, q.vec.z, q.w};
  return {quaternion_rotation(raw), left_jacobian_times(V.angular, V.linear)};
}

}  // namespace robosim

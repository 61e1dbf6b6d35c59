// Spatial vectors: motions (velocities, accelerations) and forces, with their transforms
// and products.
//
// A Motion in frame A is the angular velocity and the velocity of the body point at A's origin. A
// Force is the moment about A's origin and the force. Both are in axes of A. Products after
// Featherstone, "Rigid Body Dynamics Algorithms" (2008), ch. 2:
//   V x V' = (w x w', w x v' + v x w')        motion cross motion (eq. 2.31)
//   V x F  = (w x n + v x f, w x f)           motion cross force (eq. 2.32)
// Motions that only turn or only translate have their own types, so that joints need no products
// with zero.
#pragma once

#include "spatial/se3.h"

namespace robosim {

template <class S>
struct Motion {
  Vec3<S> angular, linear;

  Motion& operator+=(const Motion& o) {
    angular += o.angular;
    linear += o.linear;
    return *this;
  }
};

template <class S>
struct AngularMotion {
  Vec3<S> angular;
};

template <class S>
struct LinearMotion {
  Vec3<S> linear;
};

template <class S>
struct Force {
  Vec3<S> angular, linear;  // moment [N m], force [N]

  Force& operator+=(const Force& o) {
    angular += o.angular;
    linear += o.linear;
    return *this;
  }
  Force& operator-=(const Force& o) {
    angular -= o.angular;
    linear -= o.linear;
    return *this;
  }
};

// Component of a force: angular 0 to 2, linear 3 to 5.
template <class S>
class ForceComponent {
 public:
  ROBOSIM_INLINE explicit ForceComponent(int k)
      : part_(k < 3 ? &Force<S>::angular : &Force<S>::linear),
        entry_(k % 3 == 0   ? &Vec3<S>::x
               : k % 3 == 1 ? &Vec3<S>::y
                            : &Vec3<S>::z) {}
  ROBOSIM_INLINE const S& of(const Force<S>& F) const { return F.*part_.*entry_; }

 private:
  Vec3<S> Force<S>::*part_;
  S Vec3<S>::*entry_;
};

template <class S>
ROBOSIM_INLINE Motion<S> operator+(Motion<S> a, const Motion<S>& b) {
  return a += b;
}
template <class S>
ROBOSIM_INLINE Motion<S> operator+(const Motion<S>& a, const AngularMotion<S>& b) {
  return {a.angular + b.angular, a.linear};
}
template <class S>
ROBOSIM_INLINE Motion<S> operator+(const Motion<S>& a, const LinearMotion<S>& b) {
  return {a.angular, a.linear + b.linear};
}

template <class S>
ROBOSIM_INLINE Motion<S> operator*(const S& s, const Motion<S>& a) {
  return {s * a.angular, s * a.linear};
}
template <class S>
ROBOSIM_INLINE AngularMotion<S> operator*(const S& s, const AngularMotion<S>& a) {
  return {s * a.angular};
}
template <class S>
ROBOSIM_INLINE LinearMotion<S> operator*(const S& s, const LinearMotion<S>& a) {
  return {s * a.linear};
}
template <class S>
ROBOSIM_INLINE Force<S> operator+(Force<S> a, const Force<S>& b) {
  return a += b;
}
template <class S>
ROBOSIM_INLINE Force<S> operator*(const S& s, const Force<S>& a) {
  return {s * a.angular, s * a.linear};
}

template <class S>
ROBOSIM_INLINE Force<S> operator-(const Force<S>& a) {
  return {-a.angular, -a.linear};
}
template <class S>
ROBOSIM_INLINE Motion<S> operator-(const Motion<S>& a, const Motion<S>& b) {
  return {a.angular - b.angular, a.linear - b.linear};
}

// s a + b.
template <class S>
ROBOSIM_INLINE Motion<S> mul_add(const S& s, const Motion<S>& a, const Motion<S>& b) {
  return {mul_add(s, a.angular, b.angular), mul_add(s, a.linear, b.linear)};
}
template <class S>
ROBOSIM_INLINE Force<S> mul_add(const S& s, const Force<S>& a, const Force<S>& b) {
  return {mul_add(s, a.angular, b.angular), mul_add(s, a.linear, b.linear)};
}

// R^T F: the force in the axes that R turns to the present ones.
template <class S>
ROBOSIM_INLINE Force<S> transpose_times(const Mat3<S>& R, const Force<S>& F) {
  return {transpose_times(R, F.angular), transpose_times(R, F.linear)};
}

// Power of a force on a motion, or component of the force along it.
template <class S>
ROBOSIM_INLINE S dot(const Motion<S>& a, const Force<S>& f) {
  return dot_add(a.angular, f.angular, dot(a.linear, f.linear));
}
template <class S>
ROBOSIM_INLINE S dot(const AngularMotion<S>& a, const Force<S>& f) {
  return dot(a.angular, f.angular);
}
template <class S>
ROBOSIM_INLINE S dot(const LinearMotion<S>& a, const Force<S>& f) {
  return dot(a.linear, f.linear);
}

template <class S>
ROBOSIM_INLINE Motion<S> cross(const Motion<S>& a, const Motion<S>& b) {
  return {cross(a.angular, b.angular), cross_add(a.angular, b.linear, cross(a.linear, b.angular))};
}
template <class S>
ROBOSIM_INLINE Motion<S> cross(const Motion<S>& a, const AngularMotion<S>& b) {
  return {cross(a.angular, b.angular), cross(a.linear, b.angular)};
}
template <class S>
ROBOSIM_INLINE Motion<S> cross(const Motion<S>& a, const LinearMotion<S>& b) {
  return {Vec3<S>(), cross(a.angular, b.linear)};
}
template <class S>
ROBOSIM_INLINE Force<S> cross(const Motion<S>& a, const Force<S>& f) {
  return {cross_add(a.angular, f.angular, cross(a.linear, f.linear)), cross(a.angular, f.linear)};
}

// Motion and force with the point p, given in A, in place of A's origin; the axes are unchanged.
template <class S>
ROBOSIM_INLINE Motion<S> at_point(const Motion<S>& V, const Vec3<S>& p) {
  return {V.angular, cross_add(V.angular, p, V.linear)};
}
template <class S>
ROBOSIM_INLINE Force<S> at_point(const Force<S>& F, const Vec3<S>& p) {
  return {cross_subtract(p, F.linear, F.angular), F.linear};
}

// Transform a motion from A to B: X_AB^-1 V_A.
template <class S>
ROBOSIM_INLINE Motion<S> inverse_times(const SE3<S>& X_AB, const Motion<S>& V_A) {
  return {transpose_times(X_AB.R, V_A.angular),
          transpose_times(X_AB.R, cross_add(V_A.angular, X_AB.p, V_A.linear))};
}

// Transform a motion from B to A.
template <class S>
ROBOSIM_INLINE Motion<S> operator*(const SE3<S>& X_AB, const Motion<S>& V_B) {
  const Vec3<S> w = X_AB.R * V_B.angular;
  return {w, times_add(X_AB.R, V_B.linear, cross(X_AB.p, w))};
}

// Transform a force from B to A.
template <class S>
ROBOSIM_INLINE Force<S> operator*(const SE3<S>& X_AB, const Force<S>& F_B) {
  const Vec3<S> f = X_AB.R * F_B.linear;
  return {times_add(X_AB.R, F_B.angular, cross(X_AB.p, f)), f};
}

// Transform a force from A to B.
template <class S>
ROBOSIM_INLINE Force<S> inverse_times(const SE3<S>& X_AB, const Force<S>& F_A) {
  return {transpose_times(X_AB.R, F_A.angular - cross(X_AB.p, F_A.linear)),
          transpose_times(X_AB.R, F_A.linear)};
}

}  // namespace robosim

// Helical joint, a screw in its nut: rotation by q [rad] about a fixed axis and translation by
// pitch q [m] along it, pitch in m/rad. v is dq/dt. Featherstone, "Rigid Body Dynamics Algorithms"
// (2008), table 4.1.
#pragma once

#include <cmath>

#include "model/joints/scalar.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

namespace robosim {

struct HelicalJoint : ScalarJoint<Coordinate::angle> {
  static constexpr const char* name = "helical";
  static constexpr bool has_pitch = true;

  template <class S>
  static SE3<S> placement(const Joint& joint, const S* q) {
    return {axis_angle<S>(joint.axis, q[0]), q[0] * Vec3<S>(joint.pitch * joint.axis)};
  }

  static constexpr int angle = 0;
  template <class S>
  static ROBOSIM_INLINE Vec3<S> position_in_parent(const Joint& joint, const S* q) {
    return mul_add(q[0], Vec3<S>(joint.pitch * joint.axis_P), Vec3<S>(joint.X_PJ.p));
  }

  template <class S>
  static Motion<S> column(const Joint& joint, int) {
    return {Vec3<S>(joint.axis), Vec3<S>(joint.pitch * joint.axis)};
  }

  template <class S>
  static ROBOSIM_INLINE void columns_in_ground(const Joint& joint, const Mat3<S>& R,
                                               const Vec3<S>& p, Motion<S>* J) {
    const Vec3<S> w = joint.turned_axis(R);
    *J = {w, mul_add(S(joint.pitch), w, cross(p, w))};
  }

  static Travel travel(const Joint& joint, const double* dq) {
    return {std::abs(dq[0]), std::abs(joint.pitch * dq[0])};
  }
};

}  // namespace robosim

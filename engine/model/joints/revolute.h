// Revolute (and continuous) joint: rotation by q [rad] about a fixed axis. v is dq/dt.
#pragma once

#include <cmath>

#include "model/joints/scalar.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

namespace robosim {

struct RevoluteJoint : ScalarJoint<Coordinate::periodic_angle> {
  static constexpr const char* name = "revolute";

  template <class S>
  static SE3<S> placement(const Joint& joint, const S* q) {
    return {axis_angle<S>(joint.axis, q[0]), Vec3<S>()};
  }

  static constexpr int angle = 0;
  template <class S>
  static ROBOSIM_INLINE Vec3<S> position_in_parent(const Joint& joint, const S*) {
    return Vec3<S>(joint.X_PJ.p);
  }

  template <class S>
  static AngularMotion<S> column(const Joint& joint, int) {
    return {Vec3<S>(joint.axis)};
  }

  static UnitColumn unit_column(const Joint& joint, int) { return {joint.along, joint.sense}; }

  template <class S>
  static ROBOSIM_INLINE void columns_in_ground(const Joint& joint, const Mat3<S>& R,
                                               const Vec3<S>& p, Motion<S>* J) {
    const Vec3<S> w = joint.turned_axis(R);
    *J = {w, cross(p, w)};
  }

  static Travel travel(const Joint&, const double* dq) { return {std::abs(dq[0]), 0}; }
};

}  // namespace robosim

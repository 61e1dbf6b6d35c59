// Prismatic joint: translation by q [m] along a fixed axis. v is dq/dt.
#pragma once

#include <cmath>

#include "model/joints/scalar.h"
#include "spatial/motion.h"

namespace robosim {

struct PrismaticJoint : ScalarJoint<Coordinate::length> {
  static constexpr const char* name = "prismatic";

  template <class S>
  static SE3<S> placement(const Joint& joint, const S* q) {
    return {Mat3<S>::identity(), q[0] * Vec3<S>(joint.axis)};
  }

  template <class S>
  static SE3<S> placement_in_parent(const Joint& joint, const S* q) {
    return {Mat3<S>(joint.X_PJ.R), mul_add(q[0], Vec3<S>(joint.axis_P), Vec3<S>(joint.X_PJ.p))};
  }

  template <class S>
  static LinearMotion<S> column(const Joint& joint, int) {
    return {Vec3<S>(joint.axis)};
  }

  static UnitColumn unit_column(const Joint& joint, int) {
    return {joint.along >= 0 ? 3 + joint.along : -1, joint.sense};
  }

  template <class S>
  static ROBOSIM_INLINE void columns_in_ground(const Joint& joint, const Mat3<S>& R, const Vec3<S>&,
                                               Motion<S>* J) {
    *J = {Vec3<S>(), joint.turned_axis(R)};
  }

  static Travel travel(const Joint&, const double* dq) { return {0, std::abs(dq[0])}; }
};

}  // namespace robosim

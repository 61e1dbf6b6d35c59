// Revolute (and continuous) joint: rotation by q [rad] about a fixed axis. v is dq/dt.
#pragma once

#include "model/joint.h"
#include "model/joints/sampling.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

namespace robosim {

struct RevoluteJoint {
  static constexpr const char* name = "revolute";
  static constexpr int n_q = 1, n_v = 1;
  static constexpr const char *q_names[] = {""}, *v_names[] = {""};
  static constexpr unsigned angular = 0b1;

  template <class S>
  static SE3<S> placement(const Joint& joint, const S* q) {
    return {axis_angle<S>(joint.axis, q[0]), Vec3<S>()};
  }

  static constexpr int angle = 0;
  template <class S>
  static ROBOSIM_INLINE SE3<S> placement_in_parent(const Joint& joint, const S*, const S& sine, const S& cosine) {
    return {joint.turned(sine, cosine), Vec3<S>(joint.X_PJ.p)};
  }

  template <class S>
  static AngularMotion<S> column(const Joint& joint, int) {
    return {Vec3<S>(joint.axis)};
  }

  template <class S>
  static void integrate(const S* q, const S* v, S* out) {
    out[0] = q[0] + v[0];
  }

  // Not wrapped: angles 2 pi apart are different coordinates.
  template <class S>
  static void difference(const S* q0, const S* q1, S* v) {
    v[0] = q1[0] - q0[0];
  }

  static void sample(const double* u, const double* lower, const double* upper, double* q) {
    q[0] = sample_between(u[0], lower[0], upper[0], pi);
  }
};

}  // namespace robosim

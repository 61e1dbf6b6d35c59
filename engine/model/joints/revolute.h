// Revolute (and continuous) joint: rotation by q about a fixed axis. v is dq/dt.
#pragma once

#include "spatial/rotation.h"
#include "spatial/se3.h"

namespace robosim {

struct RevoluteJoint {
  static constexpr int n_q = 1, n_v = 1;
  static constexpr const char *q_names[] = {""}, *v_names[] = {""};
  static constexpr unsigned angular = 0b1;

  template <class S>
  static SE3<S> placement(const Vec3d& axis, const S* q) {
    return {axis_angle<S>(axis, q[0]), Vec3<S>()};
  }
};

}  // namespace robosim

// Prismatic joint: translation by q along a fixed axis. v is dq/dt.
#pragma once

#include "spatial/se3.h"

namespace robosim {

struct PrismaticJoint {
  static constexpr int n_q = 1, n_v = 1;
  static constexpr const char *q_names[] = {""}, *v_names[] = {""};
  static constexpr unsigned angular = 0b0;

  template <class S>
  static SE3<S> placement(const Vec3d& axis, const S* q) {
    return {Mat3<S>::identity(), q[0] * Vec3<S>(axis)};
  }
};

}  // namespace robosim

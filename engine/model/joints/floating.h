// Floating joint: q = (p, quaternion x y z w), v = (linear, angular) velocity in the moving frame.
#pragma once

#include "spatial/rotation.h"
#include "spatial/se3.h"

namespace robosim {

struct FloatingJoint {
  static constexpr int n_q = 7, n_v = 6;
  static constexpr const char* q_names[] = {"x", "y", "z", "qx", "qy", "qz", "qw"};
  static constexpr const char* v_names[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
  static constexpr unsigned angular = 0b111000;

  template <class S>
  static SE3<S> placement(const Vec3d&, const S* q) {
    return {quaternion_rotation<S>(q + 3), {q[0], q[1], q[2]}};
  }
};

}  // namespace robosim

// Planar joint: q = (x, y, theta) in the plane whose normal is the axis; v = (vx, vy, omega) in the moving frame.
#pragma once

#include <cmath>

#include "spatial/rotation.h"
#include "spatial/se3.h"

namespace robosim {

struct PlanarJoint {
  static constexpr int n_q = 3, n_v = 3;
  static constexpr const char *q_names[] = {"x", "y", "theta"}, *v_names[] = {"vx", "vy", "omega"};
  static constexpr unsigned angular = 0b100;

  // Right-handed plane axes (e1, e2, n): for n = z they are x and y. Duff et al., "Building an orthonormal basis, revisited" (2017).
  static Mat3d plane_axes(const Vec3d& n) {
    const double sign = std::copysign(1.0, n.z), a = -1 / (sign + n.z), b = n.x * n.y * a;
    return {{1 + sign * n.x * n.x * a, sign * b, -sign * n.x}, {b, sign + n.y * n.y * a, -n.y}, n};
  }

  template <class S>
  static SE3<S> placement(const Vec3d& axis, const S* q) {
    const Mat3<S> e(plane_axes(axis));
    return {axis_angle<S>(axis, q[2]), q[0] * e.row[0] + q[1] * e.row[1]};
  }
};

}  // namespace robosim

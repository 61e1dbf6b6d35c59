// Rotation matrices from an axis and angle, and from a unit quaternion.
#pragma once

#include <cmath>

#include "spatial/mat3.h"

namespace robosim {

// Rodrigues' formula: R = c I + (1 - c) a a^T + s skew(a), for a unit axis a.
template <class S>
ROBOSIM_INLINE Mat3<S> axis_angle(const Vec3d& axis, const S& angle) {
  S s, c;
  sin_cos(angle, s, c);
  const S t = S(1) - c;
  const Vec3<S> a(axis);
  const Vec3<S> ta = t * a, sa = s * a;
  return {{ta.x * a.x + c, ta.x * a.y - sa.z, ta.x * a.z + sa.y},
          {ta.y * a.x + sa.z, ta.y * a.y + c, ta.y * a.z - sa.x},
          {ta.z * a.x - sa.y, ta.z * a.y + sa.x, ta.z * a.z + c}};
}

// Rotation of the quaternion (x, y, z, w), which is scaled to unit length first.
template <class S>
ROBOSIM_INLINE Mat3<S> quaternion_rotation(const S* q) {
  const S s = S(2) / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const S xx = s * q[0] * q[0], yy = s * q[1] * q[1], zz = s * q[2] * q[2];
  const S xy = s * q[0] * q[1], xz = s * q[0] * q[2], yz = s * q[1] * q[2];
  const S xw = s * q[0] * q[3], yw = s * q[1] * q[3], zw = s * q[2] * q[3];
  return {{S(1) - yy - zz, xy - zw, xz + yw},
          {xy + zw, S(1) - xx - zz, yz - xw},
          {xz - yw, yz + xw, S(1) - xx - yy}};
}

}  // namespace robosim

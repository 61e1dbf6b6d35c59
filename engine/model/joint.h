// Joint: what connects a body to its parent, with everything that depends on the description only.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "spatial/se3.h"

namespace robosim {

enum class JointType : std::uint8_t { revolute, prismatic, helical, planar, floating };

// What an entry of q measures: a length [m]; an angle [rad]; an angle of which 2 pi more is the same pose; a part of a unit
// quaternion, of which all four stand together as x y z w.
enum class Coordinate : std::uint8_t { length, angle, periodic_angle, quaternion };

// How far a joint moves its child at most: the angle [rad] that it turns by, and the way [m] of the child's origin.
struct Travel {
  double turn = 0, slide = 0;
};

// Joint i carries body i. Its placement: X_PC(q) = X_PJ * X_J(q), with P the parent body's frame, J the joint frame fixed in P, C
// the child body's frame, equal to J at q = 0.
struct Joint {
  std::string name;
  JointType type = JointType::revolute;
  int parent = 0;            // body index of P
  SE3d X_PJ;
  Vec3d axis{0, 0, 1};       // unit, in J: of rotation or translation; of a planar joint the plane's normal
  double pitch = 0;          // of a helical joint: way along the axis per angle about it [m/rad]
  int q_index = 0, n_q = 0;  // this joint's part of q
  int v_index = 0, n_v = 0;  // and of v
  bool continuous = false;   // a revolute joint without limits, on which angles 2 pi apart are the same pose
  // A mimic joint has no q of its own: q_index and v_index are the source's, and its position is ratio * q + offset. The
  // source is the joint that moves by itself, also where the description chains mimics.
  bool mimic = false;
  double ratio = 1, offset = 0;

  // The joint's columns of the motion subspace: its own, also where it shares coordinates with the joint that it mimics.
  int column = 0;

  int angle = -1;  // the joint's place among Model::angle_joints, if it is there

  // Computed by prepare. Of a joint that turns by theta about its axis: R_PC = R_fixed + cos(theta) R_cos + sin(theta) R_sin.
  Mat3d R_fixed, R_cos, R_sin;
  Vec3d axis_P{0, 0, 1};  // the axis in the parent's axes
  int along = -1;         // which of the child's axes the axis is, or points against; -1 for none of them
  double sense = 1;       // 1 or -1

  // R_PC at the angle of this sine and cosine.
  template <class S>
  ROBOSIM_INLINE Mat3<S> turned(const S& sine, const S& cosine) const {
    Mat3<S> R;
    for (int i = 0; i < 3; ++i)
      R.row[i] = mul_add(sine, Vec3<S>(R_sin.row[i]), mul_add(cosine, Vec3<S>(R_cos.row[i]), Vec3<S>(R_fixed.row[i])));
    return R;
  }

  // R times the axis.
  template <class S>
  ROBOSIM_INLINE Vec3<S> turned_axis(const Mat3<S>& R) const {
    return along >= 0 ? S(sense) * R.col(along) : R * Vec3<S>(axis);
  }

  // To be called whenever X_PJ or the axis has changed. Rodrigues: R(theta) = a a^T + cos (1 - a a^T) + sin [a].
  void prepare() {
    const Mat3d aaT(axis.x * axis, axis.y * axis, axis.z * axis);
    Mat3d rest = Mat3d::identity();
    rest -= aaT;
    R_fixed = X_PJ.R * aaT, R_cos = X_PJ.R * rest, R_sin = X_PJ.R * skew(axis);
    axis_P = X_PJ.R * axis;
    along = -1;
    for (int k = 0; k < 3; ++k)
      if (std::abs(axis[k]) == 1) along = k, sense = axis[k];
  }
};

}  // namespace robosim

// Joint: the connection of a body to its parent, with all quantities that depend on the
// description only.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "spatial/axis_turn.h"
#include "spatial/se3.h"

namespace robosim {

enum class JointType : std::uint8_t { revolute, prismatic, helical, planar, floating };

// Kind of an entry of q: a length [m]; an angle [rad]; an angle that is the same pose after 2 pi; a
// component of a unit quaternion, of which all four are consecutive as x y z w.
enum class Coordinate : std::uint8_t { length, angle, periodic_angle, quaternion };

// Upper bound of the motion of a joint's child: rotation angle [rad], and displacement [m] of the
// child's origin.
struct Travel {
  double turn = 0, slide = 0;
};

// Column of a joint that is one component of the child's motion (angular 0 to 2, linear 3 to 5),
// or, with sign -1, its negative.
struct UnitColumn {
  int component = -1;  // -1: none
  double sign = 1;
};

// Joint i, which carries body i. Its placement is X_PC(q) = X_PJ * X_J(q), with P the parent body's
// frame, J the joint frame fixed in P, C the child body's frame, equal to J at q = 0.
struct Joint {
  std::string name;
  JointType type = JointType::revolute;
  int parent = 0;  // body index of P
  SE3d X_PJ;
  // Unit vector in J, of rotation or translation; the plane's normal for a planar joint.
  Vec3d axis{0, 0, 1};
  double pitch = 0;          // of a helical joint: displacement along the axis per angle [m/rad]
  int q_index = 0, n_q = 0;  // this joint's part of q
  int v_index = 0, n_v = 0;  // and of v
  // True for a revolute joint without limits, on which angles 2 pi apart are the same pose.
  bool continuous = false;
  // A mimic joint has no q of its own: q_index and v_index are the source's, and its position is
  // ratio * q + offset. The source is an independent joint, even if the description chains mimics.
  bool mimic = false;
  double ratio = 1, offset = 0;

  // First column of the joint in the motion subspace. A mimic joint has columns of its own,
  // although it shares coordinates.
  int column = 0;
  int column_end = 0;  // one past the last column of its descendants

  int angle = -1;  // index in Model::angle_joints, or -1

  // Computed by prepare. For a joint that turns by theta about its axis: R_PC = R_fixed +
  // cos(theta) R_cos + sin(theta) R_sin.
  Mat3d R_fixed, R_cos, R_sin;
  Vec3d axis_P{0, 0, 1};  // the axis in the parent's axes
  // Index of the child's axis that the joint's axis is parallel to; -1 for none.
  int along = -1;
  double sense = 1;  // 1 or -1
  // Index of the coordinate axis that X_PJ turns about; 3 without rotation, -1 for any other axis.
  int fixed_turn = -1;

  // R_PC at the angle of the given sine and cosine.
  template <class S>
  ROBOSIM_INLINE Mat3<S> turned(const S& sine, const S& cosine) const {
    Mat3<S> R;
    for (int i = 0; i < 3; ++i)
      R.row[i] = mul_add(sine, Vec3<S>(R_sin.row[i]),
                         mul_add(cosine, Vec3<S>(R_cos.row[i]), Vec3<S>(R_fixed.row[i])));
    return R;
  }

  // Call f(R_PC) with that rotation as one AxisTurn or two. Requires nonnegative `along`
  // and `fixed_turn`.
  template <class S, class F>
  ROBOSIM_INLINE void visit_turn(const S& sine, const S& cosine, F&& f) const {
    const S sign(sense);
    if (along == 0)
      visit_turn_about<0>(sign * sine, cosine, f);
    else if (along == 1)
      visit_turn_about<1>(sign * sine, cosine, f);
    else
      visit_turn_about<2>(sign * sine, cosine, f);
  }

  // R times the axis.
  template <class S>
  ROBOSIM_INLINE Vec3<S> turned_axis(const Mat3<S>& R) const {
    return along >= 0 ? S(sense) * R.col(along) : R * Vec3<S>(axis);
  }

  // Update after a change of X_PJ or the axis. Rodrigues: R(theta) = a a^T + cos (1 - a a^T) +
  // sin [a].
  void prepare() {
    const Mat3d aaT(axis.x * axis, axis.y * axis, axis.z * axis);
    Mat3d rest = Mat3d::identity();
    rest -= aaT;
    R_fixed = X_PJ.R * aaT;
    R_cos = X_PJ.R * rest;
    R_sin = X_PJ.R * skew(axis);
    axis_P = X_PJ.R * axis;
    along = -1;
    sense = 1;
    for (int k = 0; k < 3; ++k)
      if (std::abs(axis[k]) == 1 && axis[(k + 1) % 3] == 0 && axis[(k + 2) % 3] == 0) {
        along = k;
        sense = axis[k];
      }
    fixed_turn = -1;
    const Mat3d& R = X_PJ.R;
    for (int k = 0; k < 3; ++k) {
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      const bool about_k =
          R(k, k) == 1 && R(k, a) == 0 && R(k, b) == 0 && R(a, k) == 0 && R(b, k) == 0;
      if (about_k && R(a, a) == R(b, b) && R(b, a) == -R(a, b))
        fixed_turn = R(a, a) == 1 && R(b, a) == 0 ? 3 : k;
    }
  }

 private:
  template <int k, class S, class F>
  ROBOSIM_INLINE void visit_turn_about(const S& sine, const S& cosine, F&& f) const {
    constexpr int a = (k + 1) % 3, b = (k + 2) % 3;
    const Mat3d& R = X_PJ.R;
    if (fixed_turn == 3) return f(AxisTurn<k, S>{sine, cosine});
    if (fixed_turn == a)
      return f(TwoTurns<AxisTurn<a, S>, AxisTurn<k, S>>{{S(R(k, b)), S(R(b, b))}, {sine, cosine}});
    if (fixed_turn == b)
      return f(TwoTurns<AxisTurn<b, S>, AxisTurn<k, S>>{{S(R(a, k)), S(R(k, k))}, {sine, cosine}});
    const S s(R(b, a)), c(R(a, a));  // about the same axis: the angles add up
    f(AxisTurn<k, S>{mul_add(s, cosine, c * sine), nmul_add(s, sine, c * cosine)});
  }
};

}  // namespace robosim

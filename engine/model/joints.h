// The one place that switches on the joint type.
//
// To add a joint type: write joints/x.h with a struct that offers what RevoluteJoint does, and add
// its name to JointType (joint.h), to joint_types and to visit_joint here. In detail, for the
// joint's own q and v:
//   name                                  as descriptions and ModelBuilder call it
//   n_q, n_v, q_names, v_names, angular   how many numbers, their names, which v are angular (bit
//                                         k)
//   coordinates                           what each q measures
//   has_axis                              whether a turn of the joint, if it turns, is about
//                                         joint.axis through the child's
//                                         origin: then descriptions have to give one
//   has_pitch                             optional: true where they have to give a pitch
//   placement(joint, q)                   X_JC, child frame in joint frame
//   column(joint, k)                      k-th column of the motion subspace: the velocity of the
//                                         child at v[k] = 1, in the
//                                         child frame, where it must be constant
//   placement_in_parent(joint, q)         optional: X_PC, where that is cheaper than X_PJ times the
//                                         placement
//   unit_columns                          optional: true where the columns are the six unit motions
//                                         of the child, linear first
//   columns_in_ground(joint, R, p, J)     optional: all columns in world axes about a point from
//                                         which the child, turned by R,
//                                         is p away, where that is cheaper than turning each
//   unit_column(joint, k)                 optional: which component of the child's motion column k
//                                         is, if it is one
//   angle, position_in_parent(joint, q)   instead, where the child turns by q[angle] about
//                                         joint.axis: p_PC. Sines and cosines
//                                         are then computed for all joints at once
//   integrate, difference                 along a body-side velocity over unit time, and back
//   velocity(q, dq, v)                    the v of coordinates that change at the rates dq
//   travel(joint, dq)                     how far the child moves at most when q changes by up to
//                                         |dq| along any way
//   sample(u, lower, upper, q)            a random q from n_q numbers uniform in [0, 1)
// The builder, kinematics, dynamics, inverse kinematics, motion bounds, timing and their test
// batteries are written once over these two lists, and ask a joint nothing else.
#pragma once

#include "model/joints/floating.h"
#include "model/joints/helical.h"
#include "model/joints/planar.h"
#include "model/joints/prismatic.h"
#include "model/joints/revolute.h"
#include "model/model.h"

namespace robosim {

inline constexpr JointType joint_types[] = {JointType::revolute, JointType::prismatic,
                                            JointType::helical, JointType::planar,
                                            JointType::floating};

// Calls f with the joint's type object (RevoluteJoint{} and so on).
template <class F>
ROBOSIM_INLINE decltype(auto) visit_joint(JointType type, F&& f) {
  switch (type) {
    case JointType::prismatic:
      return f(PrismaticJoint{});
    case JointType::helical:
      return f(HelicalJoint{});
    case JointType::planar:
      return f(PlanarJoint{});
    case JointType::floating:
      return f(FloatingJoint{});
    case JointType::revolute:
      break;
  }
  return f(RevoluteJoint{});
}

// The number of a joint's columns: one as a constant, several as a number.
struct SingleColumn {
  static constexpr bool is_single = true;
  static constexpr int n_v = 1;
};
struct SeveralColumns {
  static constexpr bool is_single = false;
  int n_v;
};
inline constexpr int max_columns = 6;

// Calls f with one of the two: for code that depends on the number of columns alone. It is compiled
// twice, where visit_joint would compile it for each type of joint. Nearly all joints have one
// column; of the others loops are not worth unrolling.
template <class F>
ROBOSIM_INLINE decltype(auto) visit_columns(const Joint& joint, F&& f) {
  if (joint.n_v == 1) [[likely]]
    return f(SingleColumn());
  return f(SeveralColumns{joint.n_v});
}

// Whether the joint lets its child move in every way, in coordinates along the child's own axes.
ROBOSIM_INLINE bool has_unit_columns(const Joint& joint) {
  return visit_joint(joint.type, []<class J>(J) {
    return requires { J::unit_columns; };
  });
}

// Which component of the child's motion column k is, if it is one.
template <class J>
ROBOSIM_INLINE UnitColumn unit_column(const Joint& joint, int k) {
  if constexpr (requires { J::unit_column(joint, k); })
    return J::unit_column(joint, k);
  else
    return {};
}

namespace detail {

// Calls f with the q that the joint's functions take: a mimic joint's from its source's.
template <class J, class S, class F>
ROBOSIM_INLINE decltype(auto) with_own_q(const Joint& joint, const S* q, F&& f) {
  if constexpr (J::n_q == 1) {
    const S own = mul_add(S(joint.ratio), q[0], S(joint.offset));
    return f(&own);
  } else {
    return f(q);
  }
}

}  // namespace detail

// X_PC(q) = X_PJ * X_J(q), q being the joint's own entries (a mimic joint's: its source's); sine
// and cosine those of its angle, if it has one.
template <class S>
ROBOSIM_INLINE SE3<S> joint_placement(const Joint& joint, const S* q, const S* sine,
                                      const S* cosine) {
  return visit_joint(
      joint.type, [&]<class J>(J) __attribute__((always_inline)) {
        return detail::with_own_q<J>(
            joint, q, [&](const S* own) __attribute__((always_inline)) {
              if constexpr (requires { J::angle; })
                return SE3<S>(joint.turned(*sine, *cosine), J::position_in_parent(joint, own));
              else if constexpr (requires { J::placement_in_parent(joint, own); })
                return J::placement_in_parent(joint, own);
              else
                return SE3<S>(joint.X_PJ) * J::placement(joint, own);
            });
      });
}

// Calls f(R_PC, p_PC), R_PC as what takes the fewest products: where all axes are coordinate axes
// AxisTurn or TwoTurns, else Mat3.
template <class S, class F>
ROBOSIM_INLINE void visit_placement(const Joint& joint, const S* q, const S* sine, const S* cosine,
                                    F&& f) {
  if (joint.angle < 0 || joint.along < 0 || joint.fixed_turn < 0) {
    const SE3<S> X = joint_placement(joint, q, sine, cosine);
    return f(X.R, X.p);
  }
  const Vec3<S> p = visit_joint(
      joint.type, [&]<class J>(J) __attribute__((always_inline)) {
        return detail::with_own_q<J>(
            joint, q, [&](const S* own) __attribute__((always_inline)) {
              if constexpr (requires { J::angle; })
                return J::position_in_parent(joint, own);
              else
                return Vec3<S>();
            });
      });
  joint.visit_turn(
      *sine, *cosine, [&](const auto& R) __attribute__((always_inline)) { f(R, p); });
}

// The angle of a joint of Model::angle_joints.
template <class S>
S joint_angle(const Joint& joint, const S* q) {
  return visit_joint(joint.type, [&]<class J>(J) {
    if constexpr (requires { J::angle; })
      return mul_add(S(joint.ratio), q[J::angle], S(joint.offset));
    else
      return S(0);
  });
}

template <class S>
SE3<S> joint_placement(const Joint& joint, const S* q) {
  S sine(0), cosine(1);
  if (joint.angle >= 0) sin_cos(joint_angle(joint, q), sine, cosine);
  return joint_placement(joint, q, &sine, &cosine);
}

}  // namespace robosim

// Dispatch on the joint type; no other file switches on it.
//
// To add a joint type: write joints/x.h with a struct that has the members of RevoluteJoint, and
// add its name to JointType (joint.h), to joint_types and to visit_joint here. For the joint's own
// q and v, the members are:
//   name                                 name in descriptions and in ModelBuilder
//   n_q, n_v, q_names, v_names, angular  numbers of entries, their names, bit k: v[k] is angular
//   coordinates                          kind of each entry of q
//   has_axis                             true if descriptions must have an axis; a joint that turns
//                                        does so about joint.axis through the child's origin
//   has_pitch                            optional: true if descriptions must have a pitch
//   placement(joint, q)                  X_JC, child frame in joint frame
//   column(joint, k)                     k-th column of the motion subspace: velocity of the child
//                                        at v[k] = 1, in the child frame, where it must be constant
//   placement_in_parent(joint, q)        optional: X_PC, if cheaper than X_PJ times the placement
//   unit_columns                         optional: true if the columns are the six unit motions of
//                                        the child, linear first
//   columns_in_ground(joint, R, p, J)    optional: all columns in world axes about a point, for a
//                                        child with rotation R at p from it, if cheaper than
//                                        turning each column
//   unit_column(joint, k)                optional: component of the child's motion that column k is
//   angle, position_in_parent(joint, q)  instead of a placement, if the child turns by q[angle]
//                                        about joint.axis: p_PC. Sines and cosines are then
//                                        computed for all joints at once
//   integrate, difference                motion along a body-side velocity for unit time, and its
//                                        inverse
//   velocity(q, dq, v)                   the v of coordinates that change at the rates dq
//   travel(joint, dq)                    upper bound of the child's motion as q changes by up to
//                                        |dq| along any path
//   sample(u, lower, upper, q)           random q from n_q numbers uniform in [0, 1)
// The builder, kinematics, dynamics, inverse kinematics, motion bounds, timing and their test
// batteries are written once over these members, and use no others.
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

// Call f with the joint's type object (RevoluteJoint{} and so on).
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

// Number of a joint's columns: a constant for one, a variable for several.
struct SingleColumn {
  static constexpr bool is_single = true;
  static constexpr int n_v = 1;
};
struct SeveralColumns {
  static constexpr bool is_single = false;
  int n_v;
};
inline constexpr int max_columns = 6;

// Call f with one of the two, for code that depends on the number of columns only. Such code is
// compiled twice, instead of once per joint type. Nearly all joints have one column; loops over the
// columns of the others are not worth unrolling.
template <class F>
ROBOSIM_INLINE decltype(auto) visit_columns(const Joint& joint, F&& f) {
  if (joint.n_v == 1) [[likely]]
    return f(SingleColumn());
  return f(SeveralColumns{joint.n_v});
}

// Return true if the joint leaves its child free to move in all directions, in coordinates along
// the child's own axes.
ROBOSIM_INLINE bool has_unit_columns(const Joint& joint) {
  return visit_joint(joint.type, []<class J>(J) {
    return requires { J::unit_columns; };
  });
}

// Component of the child's motion that column k is, if it is a single one.
template <class J>
ROBOSIM_INLINE UnitColumn unit_column(const Joint& joint, int k) {
  if constexpr (requires { J::unit_column(joint, k); })
    return J::unit_column(joint, k);
  else
    return {};
}

namespace detail {

// Call f with the q of the joint's functions; a mimic joint's is computed from its source's.
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

// Placement X_PC(q) = X_PJ * X_J(q). q: the joint's own entries (for a mimic joint, its source's).
// sine and cosine: of its angle, if it has one.
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

// Call f(R_PC, p_PC) with R_PC in the cheapest form: AxisTurn or TwoTurns if all axes are
// coordinate axes, else Mat3.
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

// Angle of a joint of Model::angle_joints.
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

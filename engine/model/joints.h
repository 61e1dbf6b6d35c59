// The one place that switches on the joint type.
#pragma once

#include "model/joints/floating.h"
#include "model/joints/planar.h"
#include "model/joints/prismatic.h"
#include "model/joints/revolute.h"
#include "model/model.h"

namespace robosim {

// Calls f with the joint's type object (RevoluteJoint{} and so on).
template <class F>
decltype(auto) visit_joint(JointType type, F&& f) {
  switch (type) {
    case JointType::prismatic:
      return f(PrismaticJoint{});
    case JointType::planar:
      return f(PlanarJoint{});
    case JointType::floating:
      return f(FloatingJoint{});
    case JointType::revolute:
      break;
  }
  return f(RevoluteJoint{});
}

// X_PC(q) = X_PJ * X_J(q), q being the joint's own entries (a mimic joint's: its source's).
template <class S>
SE3<S> joint_placement(const Joint& joint, const S* q) {
  if (joint.mimic) {
    const S own = S(joint.ratio) * q[0] + S(joint.offset);
    return visit_joint(joint.type, [&](auto type) { return SE3<S>(joint.X_PJ) * type.placement(joint.axis, &own); });
  }
  return visit_joint(joint.type, [&](auto type) { return SE3<S>(joint.X_PJ) * type.placement(joint.axis, q); });
}

}  // namespace robosim

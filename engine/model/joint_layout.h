// How many numbers each kind of joint adds to q and v, and what they are called and measured in.
#pragma once

#include "model/builder.h"
#include "model/joints.h"

namespace robosim {

struct JointLayout {
  int n_q = 0, n_v = 0;
  const char* const* q_names = nullptr;  // n_q names, each "" when the joint's own name says it
  const char* const* v_names = nullptr;  // n_v names
  unsigned angular = 0;                  // bit k: v[k] is an angular velocity

  bool is_angular(int k) const { return (angular >> k & 1u) != 0; }
};

inline JointLayout joint_layout(JointType type) {
  return visit_joint(type, [](auto joint) {
    using J = decltype(joint);
    return JointLayout{J::n_q, J::n_v, J::q_names, J::v_names, J::angular};
  });
}

// The type that moves a joint of this kind; `fixed` has none.
inline JointType joint_type(JointKind kind) {
  switch (kind) {
    case JointKind::prismatic:
      return JointType::prismatic;
    case JointKind::planar:
      return JointType::planar;
    case JointKind::floating:
      return JointType::floating;
    case JointKind::revolute:
    case JointKind::continuous:
    case JointKind::fixed:
      break;
  }
  return JointType::revolute;
}

inline JointLayout joint_layout(JointKind kind) {
  return kind == JointKind::fixed ? JointLayout{} : joint_layout(joint_type(kind));
}

}  // namespace robosim

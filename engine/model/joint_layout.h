// How many numbers a joint type adds to q and v, and what they are called and measured in.
#pragma once

#include "model/joints.h"

namespace robosim {

struct JointLayout {
  const char* name = nullptr;            // of the type
  int n_q = 0, n_v = 0;
  const char* const* q_names = nullptr;  // n_q names, each "" when the joint's own name says it
  const char* const* v_names = nullptr;  // n_v names
  unsigned angular = 0;                  // bit k: v[k] is an angular velocity

  bool is_angular(int k) const { return (angular >> k & 1u) != 0; }
};

inline JointLayout joint_layout(JointType type) {
  return visit_joint(type, []<class J>(J) { return JointLayout{J::name, J::n_q, J::n_v, J::q_names, J::v_names, J::angular}; });
}

}  // namespace robosim

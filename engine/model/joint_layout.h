// Layout of a joint type, apart from its kernels: numbers, names and units of its entries of q and
// v, and the inputs that a description must have.
#pragma once

#include "model/joints.h"

namespace robosim {

struct JointLayout {
  const char* name = nullptr;  // of the type
  int n_q = 0, n_v = 0;
  const char* const* q_names = nullptr;     // n_q names, each "" if the joint's own name suffices
  const char* const* v_names = nullptr;     // n_v names
  const Coordinate* coordinates = nullptr;  // n_q
  unsigned angular = 0;                     // bit k: v[k] is an angular velocity
  bool has_axis = false, has_pitch = false;

  bool is_angular(int k) const { return (angular >> k & 1u) != 0; }
  // Index of the unit quaternion in the joint's q, or -1.
  int quaternion() const {
    for (int k = 0; k < n_q; ++k)
      if (coordinates[k] == Coordinate::quaternion) return k;
    return -1;
  }
};

inline JointLayout joint_layout(JointType type) {
  return visit_joint(type, []<class J>(J) {
    return JointLayout{J::name, J::n_q, J::n_v, J::q_names, J::v_names, J::coordinates, J::angular,
                       J::has_axis, requires {J::has_pitch; }
};
});
}

// Return the joint of entry k of q.
inline const Joint& joint_of_position(const Model& model, int k) {
  std::size_t i = 1;
  while (model.joints[i].mimic || k < model.joints[i].q_index ||
         k >= model.joints[i].q_index + model.joints[i].n_q)
    ++i;
  return model.joints[i];
}

// Return the kind of entry k of q.
inline Coordinate coordinate_of(const Model& model, int k) {
  const Joint& joint = joint_of_position(model, k);
  return joint_layout(joint.type).coordinates[k - joint.q_index];
}

}  // namespace robosim

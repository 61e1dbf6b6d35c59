// Forward kinematics: X_WB of every body from q, root to leaves. X_WB(i) = X_WB(parent) * X_PC(q).
#pragma once

#include "model/data.h"
#include "model/joints.h"

namespace robosim {

// q: n_q entries. Fills data.X_PC and data.X_WB.
template <class S>
void forward_kinematics(const Model& model, Data<S>& data, const S* q) {
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    data.X_PC[i] = joint_placement(joint, q + joint.q_index);
    data.X_WB[i] = data.X_WB[joint.parent] * data.X_PC[i];
  }
}

// X_WF, after forward_kinematics.
template <class S>
SE3<S> frame_placement(const Model&, const Data<S>& data, const Frame& frame) {
  return data.X_WB[frame.body] * SE3<S>(frame.X_BF);
}

// All joints at zero; quaternions at the identity.
template <class S>
void neutral(const Model& model, S* q) {
  for (int i = 0; i < model.n_q; ++i) q[i] = S(0);
  for (const Joint& joint : model.joints)
    if (joint.type == JointType::floating) q[joint.q_index + 6] = S(1);
}

}  // namespace robosim

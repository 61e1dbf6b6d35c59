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

}  // namespace robosim

// Velocity v of a joint as a single entry of q changes. v may turn with the joint (planar joints),
// so that dq_k/dt = 1 can take several entries of v.
#pragma once

#include "model/joints.h"

namespace robosim {

// Call f(dof, rate) for each entry of v of the joint: v[dof] = rate as q[column], an entry of this
// joint, changes at unit rate. q: n_q entries.
template <class F>
void for_each_rate(const Joint& joint, const double* q, int column, F&& f) {
  visit_joint(joint.type, [&]<class J>(J) {
    double unit[J::n_q] = {}, rate[J::n_v];
    unit[column - joint.q_index] = 1;
    J::velocity(q + joint.q_index, unit, rate);
    for (int k = 0; k < J::n_v; ++k) f(joint.v_index + k, rate[k]);
  });
}

}  // namespace robosim

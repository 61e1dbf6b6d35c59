// What velocity the change of a single entry of q is: a joint's v may turn with it (planar joints),
// so that dq_k/dt = 1 can take several.
#pragma once

#include "model/joints.h"

namespace robosim {

// f(dof, rate) for each entry of v of the joint: v[dof] = rate while q[column], an entry of this
// joint's, changes at unit rate. q: n_q entries.
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

// Composite rigid bodies: the joint-space mass matrix M(q), armature included.
//
// Inward: each body's composite inertia I_c is its own plus its children's. Then M_ij = S_j^T X I_c S_i for each joint j on
// the way from i to the root. Walker and Orin (1982); Featherstone, "Rigid Body Dynamics Algorithms" (2008), table 6.2.
// Cost O(n depth).
#pragma once

#include <algorithm>

#include "model/data.h"
#include "model/joints.h"

namespace robosim {

namespace detail {

template <class S>
void crba_sweep(const Model& model, Data<S>& data, S* M) {
  const int n = model.n_bodies(), n_v = model.n_v;
  for (int k = 0; k < n_v * n_v; ++k) M[k] = S(0);
  for (int k = 0; k < n_v; ++k) M[k * n_v + k] = S(model.armature[k]);
  for (int i = 1; i < n; ++i) data.I_c[i] = CompositeInertia<S>(model.inertias[i]);
  for (int i = n - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    if (joint.parent > 0) data.I_c[joint.parent] += data.X_PC[i] * data.I_c[i];
    visit_joint(joint.type, [&]<class J>(J) {
      for (int k = 0; k < J::n_v; ++k) {
        const int row = joint.v_index + k;
        Force<S> F = data.I_c[i] * (S(joint.ratio) * J::template column<S>(joint.axis, k));
        S own[J::n_v] = {};
        add_joint_force<J>(joint, F, own);
        for (int l = 0; l <= k; ++l) M[row * n_v + joint.v_index + l] += own[l];
        for (int j = i; model.joints[j].parent > 0;) {
          F = data.X_PC[j] * F;
          j = model.joints[j].parent;
          const Joint& above = model.joints[j];
          visit_joint(above.type, [&]<class J2>(J2) {
            S m[J2::n_v] = {};
            add_joint_force<J2>(above, F, m);
            // Into the lower triangle. Where a mimic joint shares its source's coordinate, M_ij and M_ji both belong there.
            for (int l = 0; l < J2::n_v; ++l) {
              const int column = above.v_index + l;
              M[std::max(row, column) * n_v + std::min(row, column)] += row == column ? S(2) * m[l] : m[l];
            }
          });
        }
      }
    });
  }
  for (int k = 0; k < n_v; ++k)
    for (int l = 0; l < k; ++l) M[l * n_v + k] = M[k * n_v + l];
}

}  // namespace detail

// q: n_q entries. Fills M (n_v x n_v, symmetric) and data.X_PC, I_c.
template <class S>
void crba(const Model& model, Data<S>& data, const S* q, S* M) {
  for (int i = 1; i < model.n_bodies(); ++i) data.X_PC[i] = joint_placement(model.joints[i], q + model.joints[i].q_index);
  detail::crba_sweep(model, data, M);
}

extern template void crba(const Model&, Data<double>&, const double*, double*);

}  // namespace robosim

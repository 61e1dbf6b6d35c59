// Coriolis matrix C(q, v), n_v x n_v:
//
//   coriolis_matrix(model, data, q, v, C)
//
// with C v = nonlinear_effects - gravity_forces and dM/dt = C + C^T. So dM/dt - 2 C is
// skew-symmetric, as passivity-based control and momentum observers require. With B (half the 2
// B of rnea_derivatives.h) and the columns' derivatives in time J' = V x J, V of the column's
// own body,
//   C_ij = J_i^T (B J_j + I J'_j)
// where B and I are composites of the lower body of the two. Echeandia and Wensing, "Numerical
// methods to compute the Coriolis matrix and Christoffel symbols for rigid-body systems", Journal
// of Computational and Nonlinear Dynamics 16(9), 2021. The same matrix as Pinocchio's
// computeCoriolisMatrix. Armature is constant and adds nothing. Cost O(n depth).
#pragma once

#include "dynamics/composite_rates.h"

namespace robosim {

// q: n_q, v: n_v entries. Fills C (row by row), and data.X_WB, J, I, V, J_rate and the subtrees'
// I_c, h_c, K_c.
template <class S>
void coriolis_matrix(const Model& model, Data<S>& data, const S* q, const S* v, S* C) {
  const int n_v = model.n_v;
  inertia_stage(model, data, q);
  detail::rates_outward(model, data, v);
  for (int k = 0; k < n_v * n_v; ++k) C[k] = S(0);
  for (int i = model.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    const CompositeInertia<S>& I = data.I_c[i];
    for (int c = joint.column; c < joint.column + joint.n_v; ++c) {
      const Motion<S>& J = data.J[c];
      const int row = model.column_v[c];
      // Products of this column with the two sides of B and I, for the pairs with other columns.
      const Vec3<S> JB = S(0.5) * detail::twice_B_transposed(data.K_c[i], data.h_c[i], J);
      const Force<S> IJ = I * J,
                     BJ = mul_add(S(0.5), detail::twice_B(data.K_c[i], data.h_c[i], J.angular),
                                  I * data.J_rate[c]);
      const auto add_row = [&](int l) {
        C[row * n_v + model.column_v[l]] += dot_add(JB, data.J[l].angular, dot(data.J_rate[l], IJ));
      };
      for (int l = joint.column; l < joint.column + joint.n_v; ++l) add_row(l);
      for_each_on_path(model, joint.parent, [&](int l) {
        add_row(l);
        C[model.column_v[l] * n_v + row] += dot(data.J[l], BJ);
      });
    }
    detail::add_to_parent(model, data, i);
  }
}

}  // namespace robosim

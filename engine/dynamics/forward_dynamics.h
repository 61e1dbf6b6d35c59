// Forward dynamics of any model, a = M(q)^-1 (tau - h(q, v) + sum J^T F_ext). Uses aba for
// independent joints; with mimic joints, crba, rnea and the sparse factor of the mass matrix. Cost
// O(n), or O(n depth^2) with mimic joints.
#pragma once

#include "dynamics/aba.h"
#include "dynamics/mass_factor.h"
#include "dynamics/mass_matrix.h"

namespace robosim {

namespace detail {

// Factor of M, or of M with `added` on its diagonal, in data.L. Requires body_inertias. Also
// fills data.I_c.
template <class S>
const S* factor_mass_matrix(const Model& model, Data<S>& data, const S* added = nullptr) {
  S* L = data.take_L(model);
  for (int i = 1; i < model.n_bodies(); ++i) data.I_c[i] = data.I[i];
  if (model.has_mimic)
    mass_matrix_sweep<true>(model, data, L);
  else
    mass_matrix_sweep<false>(model, data, L);
  if (added)
    for (int k = 0; k < model.n_v; ++k) L[k * model.n_v + k] += added[k];
  mass_factor(model, L);
  return L;
}

}  // namespace detail

// Arguments as for aba.
template <class S>
void forward_dynamics(const Model& model, Data<S>& data, const S* q, const S* v, const S* tau, S* a,
                      Wrenches<S> wrenches = {}) {
  if (!model.has_mimic) return aba(model, data, q, v, tau, a, wrenches);
  inertia_stage(model, data, q);
  const S* L = detail::factor_mass_matrix(model, data);
  detail::rnea_sweep<true, false, true>(model, data, v, static_cast<const S*>(nullptr),
                                        data.bias.data(), wrenches);
  for (int k = 0; k < model.n_v; ++k) a[k] = tau[k] - data.bias[k];
  mass_solve(model, L, a, 1);
}

}  // namespace robosim

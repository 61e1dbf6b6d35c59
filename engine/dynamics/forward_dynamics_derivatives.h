// Derivatives of forward dynamics, a = M(q)^-1 (tau - h(q, v) + sum J^T F): by the implicit function theorem on
// rnea(q, v, a) = tau at the a that solves it,
//   da_dq = -M^-1 dtau_dq,  da_dv = -M^-1 dtau_dv,  da_dtau = M^-1,
// with the sparse factor of M that the derivative sweep of rnea yields beside. Carpentier and Mansard, "Analytical
// derivatives of rigid body dynamics algorithms", RSS 2018, section IV. In the tangent space; wrenches held fixed as in
// rnea_derivatives.h. Cost O(n depth) and 3 n solves.
#pragma once

#include "dynamics/forward_dynamics.h"
#include "dynamics/rnea_derivatives.h"

namespace robosim {

// q: n_q, v and tau: n_v entries. Fills a (n_v) and da_dq, da_dv, da_dtau (n_v x n_v, row by row).
template <class S>
void forward_dynamics_derivatives(const Model& model, Data<S>& data, const S* q, const S* v, const S* tau, S* a, S* da_dq,
                                  S* da_dv, S* da_dtau, Wrenches<S> wrenches = {}) {
  const int n = model.n_v;
  forward_dynamics(model, data, q, v, tau, a, wrenches);
  S* M = data.M.data();
  S* L = data.L.data();
  detail::rnea_derivatives_sweep(model, data, v, a, da_dq, da_dv, M, wrenches);
  for (int k = 0; k < n * n; ++k) da_dq[k] = -da_dq[k], da_dv[k] = -da_dv[k];
  mass_factor(model, M, L);
  mass_solve(model, L, da_dq, n);
  mass_solve(model, L, da_dv, n);
  mass_inverse(model, L, da_dtau);
}

}  // namespace robosim

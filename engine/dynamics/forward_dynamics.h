// Forward dynamics of any model, a = M(q)^-1 (tau - h(q, v) + sum J^T F_ext): by aba where every joint moves by itself, and
// where some mimic another by crba, rnea and a Cholesky factorisation of the mass matrix that they share. Cost O(n), or
// O(n depth + n_v^3) with mimic joints.
#pragma once

#include "dynamics/aba.h"
#include "dynamics/crba.h"
#include "dynamics/rnea.h"

namespace robosim {

// As aba.
template <class S>
void forward_dynamics(const Model& model, Data<S>& data, const S* q, const S* v, const S* tau, S* a,
                      const Force<S>* external = nullptr) {
  if (!model.has_mimic) return aba(model, data, q, v, tau, a, external);
  nonlinear_effects(model, data, q, v, data.h.data(), external);
  detail::crba_sweep(model, data, data.M.data());
  for (int k = 0; k < model.n_v; ++k) a[k] = tau[k] - data.h[k];
  cholesky_factor(data.M.data(), model.n_v);
  cholesky_solve(data.M.data(), model.n_v, a);
}

}  // namespace robosim

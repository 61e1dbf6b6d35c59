// Products with the derivatives of forward dynamics, a = M(q)^-1 (tau - h(q, v) + sum J^T F),
// without forming a matrix:
//   forward_dynamics_jvp   da = da/dq dq + da/dv dv + M^-1 dtau
//   forward_dynamics_vjp   q_bar = (da/dq)^T a_bar, v_bar = (da/dv)^T a_bar, tau_bar = M^-1 a_bar,
//                          wrenches_bar = J tau_bar
// By the implicit function theorem on rnea(q, v, a) = tau at the solution a,
//   da = M^-1 (dtau - rnea_jvp(dq, dv, 0)),   (q_bar, v_bar) = -rnea_vjp(tau_bar)
// Carpentier and Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS 2018,
// section IV, contracted. In the tangent space; wrenches fixed as in rnea_products.h. The factor of
// the articulated-body algorithm serves both solves. The force rates along the direction are its
// bias forces, and its outward pass yields the velocities of M^-1 a_bar. With mimic joints the
// factor of M is used. Cost O(n), about 1.6 times aba; with mimic joints O(n depth^2).
#pragma once

#include "dynamics/forward_dynamics.h"
#include "dynamics/rnea_products.h"

namespace robosim {

namespace detail {

// Compute a, a factor, and the inputs of the products: data.I, and V and A of the whole motion.
template <class S>
void forward_dynamics_stage(const Model& model, Data<S>& data, const S* q, const S* v, const S* tau,
                            S* a, Wrenches<S> wrenches) {
  forward_dynamics(model, data, q, v, tau, a, wrenches);
  if (model.has_mimic) return forward_accelerations(model, data, v, a);
  const Vec3<S> g(model.gravity);
  for (int i = 1; i < model.n_bodies(); ++i) {
    data.A[i] += data.dA[i];
    data.A[i].linear += g;
  }
}

// Solve with M in place. Without mimic joints, also fill data.dA with the velocities of
// the solution.
template <class S>
void solve_with_stage(const Model& model, Data<S>& data, S* x) {
  if (model.has_mimic) return mass_solve(model, data.L.data(), x, 1);
  for (Force<S>& p : data.p_A) p = Force<S>();
  data.dA[0] = Motion<S>();
  articulated_solve(model, data, x, x);
}

// Requires forward_dynamics_stage, once for many directions. da may be dtau.
template <class S>
void forward_dynamics_jvp_sweep(const Model& model, Data<S>& data, const S* v, const S* dq,
                                const S* dv, const S* dtau, S* da, Wrenches<S> wrenches,
                                Wrenches<S> dwrenches) {
  body_force_rates(model, data, v, dq, dv, static_cast<const S*>(nullptr), wrenches, dwrenches);
  turn_subtree_forces(model, data, dq, data.F_rate);
  if (model.has_mimic) {
    for (int k = 0; k < model.n_v; ++k) data.bias[k] = S(0);
    gather_joint_forces(model, data, data.F_rate, data.bias.data());
    for (int k = 0; k < model.n_v; ++k) da[k] = dtau[k] - data.bias[k];
    return mass_solve(model, data.L.data(), da, 1);
  }
  for (int i = 1; i < model.n_bodies(); ++i) data.p_A[i] = data.F_rate[i];
  data.dA[0] = Motion<S>();
  articulated_solve(model, data, dtau, da);
}

// Requires forward_dynamics_stage. tau_bar may be a_bar.
template <class S>
void forward_dynamics_vjp_sweep(const Model& model, Data<S>& data, const S* a_bar, S* q_bar,
                                S* v_bar, S* tau_bar, Wrenches<S> wrenches,
                                Motion<S>* wrenches_bar) {
  for (int k = 0; k < model.n_v; ++k) tau_bar[k] = a_bar[k];
  solve_with_stage(model, data, tau_bar);
  if (model.has_mimic) {
    data.dA[0] = Motion<S>();
    joint_velocities(model, data, tau_bar, data.dA);
  }
  rnea_vjp_sweep(model, data, data.dA, q_bar, v_bar, static_cast<S*>(nullptr), wrenches,
                 wrenches_bar);
  for (int k = 0; k < model.n_v; ++k) {
    q_bar[k] = -q_bar[k];
    v_bar[k] = -v_bar[k];
  }
  if (wrenches_bar)
    for (std::size_t k = 0; k < wrenches.size(); ++k)
      wrenches_bar[k] = {-wrenches_bar[k].angular, -wrenches_bar[k].linear};
}

}  // namespace detail

// q: n_q; v, tau and the directions dq, dv, dtau: n_v entries. Fills a and da (n_v each).
// dwrenches: rates of wrenches, on any frames.
template <class S>
void forward_dynamics_jvp(const Model& model, Data<S>& data, const S* q, const S* v, const S* tau,
                          const S* dq, const S* dv, const S* dtau, S* a, S* da,
                          Wrenches<S> wrenches = {}, Wrenches<S> dwrenches = {}) {
  detail::forward_dynamics_stage(model, data, q, v, tau, a, wrenches);
  detail::forward_dynamics_jvp_sweep(model, data, v, dq, dv, dtau, da, wrenches, dwrenches);
}

// q: n_q; v, tau and a_bar: n_v entries. Fills a, q_bar, v_bar, tau_bar (n_v each) and, unless
// null, wrenches_bar (one per wrench: gradients in its moment and its force).
template <class S>
void forward_dynamics_vjp(const Model& model, Data<S>& data, const S* q, const S* v, const S* tau,
                          const S* a_bar, S* a, S* q_bar, S* v_bar, S* tau_bar,
                          Wrenches<S> wrenches = {}, Motion<S>* wrenches_bar = nullptr) {
  detail::forward_dynamics_stage(model, data, q, v, tau, a, wrenches);
  detail::forward_dynamics_vjp_sweep(model, data, a_bar, q_bar, v_bar, tau_bar, wrenches,
                                     wrenches_bar);
}

}  // namespace robosim

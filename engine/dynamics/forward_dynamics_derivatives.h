// Derivatives of forward dynamics, a = M(q)^-1 (tau - h(q, v) + sum J^T F), by the implicit
// function theorem on rnea(q, v, a) = tau at the solution a,
//   da_dq = -M^-1 dtau_dq,  da_dv = -M^-1 dtau_dv,  da_dtau = M^-1,
// with the sparse factor of M, which the derivative sweep of rnea computes as well. Carpentier and
// Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS 2018, section IV. In the
// tangent space; wrenches fixed as in rnea_derivatives.h. Cost O(n depth) and 3 n solves.
#pragma once

#include "dynamics/forward_dynamics.h"
#include "dynamics/rnea_derivatives.h"

namespace robosim {

namespace detail {

// Nonlinear effects h(q, v) from the bodies' inertias in G: cheaper than rnea where these are
// needed anyway. Requires body_inertias. Fills data.V, A, F.
template <class S>
void bias_from_inertias(const Model& model, Data<S>& data, const S* v, S* h, Wrenches<S> wrenches) {
  const Vec3<S> g(model.gravity);
  if (!wrenches.empty()) sum_wrenches(model, data, wrenches);
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    const Motion<S> Jv = joint_motion(data, joint, v + joint.v_index), &V = data.V[joint.parent];
    data.A[i] = data.A[joint.parent] + cross(V, Jv);
    data.V[i] = V + Jv;
    data.F[i] = data.I[i] * Motion<S>{data.A[i].angular, data.A[i].linear - g} +
                cross(data.V[i], data.I[i] * data.V[i]);
    if (!wrenches.empty()) data.F[i] -= data.external[i];
  }
  for (int k = 0; k < model.n_v; ++k) h[k] = S(0);
  gather_joint_forces(model, data, data.F, h);
}

// First six columns of da_dq and three of da_dv for a free base. The motion of a robot is invariant
// under displacements and steady motions of its frame, as long as the angle between the base's axes
// and g is the same. With a = (linear, angular) and v in those axes, only the base's own linear
// part of a changes, which is
//   g_B - omega x v + terms of its forces:   d/dtheta = [g_B],  d/dv = -[omega]    (g_B = R^T g).
template <class S>
void free_base_columns(const Model& model, const Data<S>& data, const S* v, S* da_dq, S* da_dv) {
  const int n = model.n_v;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 6; ++k) da_dq[i * n + k] = S(0);
    for (int k = 0; k < 3; ++k) da_dv[i * n + k] = S(0);
  }
  const Mat3<S> by_turn = skew(transpose_times(data.X_WB[1].R, Vec3<S>(model.gravity))),
                by_v = skew(Vec3<S>{-v[3], -v[4], -v[5]});
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      da_dq[i * n + 3 + k] = by_turn(i, k);
      da_dv[i * n + k] = by_v(i, k);
    }
}

}  // namespace detail

// q: n_q, v and tau: n_v entries. Fills a (n_v), da_dq and da_dv (n_v x n_v, row by row) and
// da_dtau as Pattern::upper.
template <class S>
void forward_dynamics_derivatives(const Model& model, Data<S>& data, const S* q, const S* v,
                                  const S* tau, S* a, S* da_dq, S* da_dv, S* da_dtau,
                                  Wrenches<S> wrenches = {}) {
  const int n = model.n_v;

  // Acceleration, by the factor that the derivatives need.
  inertia_stage(model, data, q);
  const S* L = detail::factor_mass_matrix(model, data);
  detail::bias_from_inertias(model, data, v, data.bias.data(), wrenches);
  for (int k = 0; k < n; ++k) a[k] = tau[k] - data.bias[k];
  mass_solve(model, L, a, 1);

  // Derivatives of tau at this acceleration, and solves with M.
  const bool known = wrenches.empty() && !model.has_mimic && detail::base_is_free(model);
  const int from[] = {known ? 6 : 0, known ? 3 : 0};
  if (solves_in_place<S> && !model.has_mimic) {
    detail::rnea_derivatives_sweep<true>(model, data, v, a, da_dq, da_dv, n,
                                         static_cast<S*>(nullptr), wrenches);
    mass_solve_tree(model, L, {da_dq, da_dv}, from, n);
  } else {
    const int stride = std::max(padded(n, from[0]), padded(n, from[1]));
    const std::size_t size = static_cast<std::size_t>(n) * static_cast<std::size_t>(stride);
    S *dtau_dq = data.matrix_a.take(size), *dtau_dv = data.matrix_b.take(size);
    std::fill_n(dtau_dq, size, S(0));
    std::fill_n(dtau_dv, size, S(0));
    detail::rnea_derivatives_sweep<true>(model, data, v, a, dtau_dq, dtau_dv, stride,
                                         static_cast<S*>(nullptr), wrenches);
    mass_solve_tree(model, L, {dtau_dq, dtau_dv}, from, stride);
    for (int i = 0; i < n; ++i) {
      std::copy_n(dtau_dq + i * stride, n, da_dq + i * n);
      std::copy_n(dtau_dv + i * stride, n, da_dv + i * n);
    }
  }
  if (known) detail::free_base_columns(model, data, v, da_dq, da_dv);
  mass_inverse(model, L, data.matrix_a, da_dtau);
}

}  // namespace robosim

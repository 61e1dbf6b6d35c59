// Derivatives of inverse and forward dynamics with respect to the parameters of a model. Per body 1
// to n_b - 1 and its joint:
//   mass       of the body, its center of mass and moments held fixed [kg]
//   com        center of mass in the body's frame, moments about it held fixed [m]
//   inertia    moments about the center of mass, axes of the body: I_xx, I_xy, I_yy, I_xz, I_yz,
//              I_zz [kg m^2]
//   placement  of the joint in its parent: X_PJ becomes X_PJ exp(x), x = (linear, angular) in the
//              joint's frame [m, rad]
// and per v the armature. Passive joint forces (damping, friction, springs) add to tau: their
// derivatives are in joint_forces.h, and are multiplied by M^-1 or tau_bar of forward dynamics.
//
// Inverse dynamics: at the center of mass, the regressor's row (y_m, y_mc, y_I) of a body
// (regressor.h) has its derivatives: y_m with respect to mass, m y_mc with respect to center of
// mass, and y_I with respect to moments. Other terms of the parallel-axis theorem are of second
// order there. Moving a joint's frame is equivalent to a massless free joint before it, at rest: a
// column T that moves the joint's own columns and all descendants. Its closed forms are those of a
// column of q (rnea_derivatives.h, with the parent's V and A and composites of subtrees i), written
// as the force that T is multiplied with, for a row J_r
//   X = -V x ((2B)^T J_r - V x I J_r) - (A - g) x I J_r + wrench_row
// For r below the joint, or of the joint itself, composites are those of r. For r above it,
// composites are those of the joint's body, and J_r x F is subtracted. The same force is X_bar
// of rnea_products.h.
//
// Forward dynamics: da = -M^-1 dtau at the a that solves rnea(q, v, a) = tau. Singh, Russo and
// Wensing (2022) and Atkeson, An and Hollerbach (1986) as cited there. Cost: matrices O(n depth),
// forward dynamics one solve per column; gradients O(n).
#pragma once

#include "dynamics/composite_rates.h"
#include "dynamics/forward_dynamics_products.h"
#include "dynamics/regressor.h"

namespace robosim {

// Arrays of the results. Gradients: one number per parameter. Matrices: n_v rows of these, row
// by row.
template <class S>
struct ParameterOutputs {
  S* mass;       // n_b - 1
  S* com;        // 3 (n_b - 1)
  S* inertia;    // 6 (n_b - 1)
  S* placement;  // 6 (n_b - 1)
  S* armature;   // n_v
};

namespace detail {

// Components of a force about O along a twist (linear, angular) of joint i's frame in its parent.
template <class S>
ROBOSIM_INLINE void along_placement(const Model& model, const Data<S>& data, int i,
                                    const Force<S>& F, S* out) {
  const Joint& joint = model.joints[i];
  const int p = joint.parent;
  const SE3<S> X_OP{data.X_WB[p].R, p > 0 ? data.p_OB[p] : -data.X_WB[1].p};
  const Force<S> F_J = inverse_times(SE3<S>(joint.X_PJ), inverse_times(X_OP, F));
  for (int k = 0; k < 3; ++k) {
    out[k] = F_J.linear[k];
    out[3 + k] = F_J.angular[k];
  }
}

// Add scale times the regressor's row of body i at its center of mass, for its velocity,
// acceleration less gravity and virtual velocity in G.
template <class S>
void add_body_parameters(const Model& model, const Data<S>& data, int i, const Motion<S>& V,
                         const Motion<S>& A, const Motion<S>& virtual_V, const S& scale, S* mass,
                         S* com, S* inertia) {
  const Inertia& body = model.inertias[i];
  const Vec3<S> p = times_add(data.X_WB[i].R, Vec3<S>(body.com), data.p_OB[i]);
  const InertialRow<S> y(in_body(data, i, p, V), in_body(data, i, p, A),
                         in_body(data, i, p, virtual_V));
  const S scaled_mass = scale * S(body.mass);
  const S moments[] = {y.inertia.xx, y.inertia.xy, y.inertia.yy,
                       y.inertia.xz, y.inertia.yz, y.inertia.zz};
  mass[0] = mul_add(scale, y.mass, mass[0]);
  for (int k = 0; k < 3; ++k) com[k] = mul_add(scaled_mass, y.moment[k], com[k]);
  for (int k = 0; k < 6; ++k) inertia[k] = mul_add(scale, moments[k], inertia[k]);
}
// As above, with the velocities and accelerations in `data`.
template <class S>
void add_body_parameters(const Model& model, const Data<S>& data, int i, const Motion<S>& virtual_V,
                         const S& scale, S* mass, S* com, S* inertia) {
  add_body_parameters(model, data, i, data.V[i], without_gravity<S>(model, data.A[i]), virtual_V,
                      scale, mass, com, inertia);
}

// Compute scale times the gradients for the velocities F_bar of tau_bar. Requires rnea_vjp_sweep
// with the same F_bar.
template <class S>
void parameter_vjp_sweep(const Model& model, const Data<S>& data, const S* a, const S* tau_bar,
                         const std::vector<Motion<S>>& F_bar, const S& scale,
                         const ParameterOutputs<S>& out) {
  const int bodies = model.n_bodies() - 1;
  for (int k = 0; k < bodies; ++k) out.mass[k] = S(0);
  for (int k = 0; k < 3 * bodies; ++k) out.com[k] = S(0);
  for (int k = 0; k < 6 * bodies; ++k) out.inertia[k] = S(0);
  for (int i = 1; i <= bodies; ++i) {
    const int b = i - 1;
    add_body_parameters(model, data, i, F_bar[i], scale, out.mass + b, out.com + 3 * b,
                        out.inertia + 6 * b);
    along_placement(model, data, i, scale * data.X_bar[i], out.placement + 6 * b);
  }
  for (int k = 0; k < model.n_v; ++k) out.armature[k] = scale * a[k] * tau_bar[k];
}

// Motion about O of a twist (linear, angular) of joint i's frame in its parent: transpose
// of along_placement.
template <class S>
ROBOSIM_INLINE Motion<S> placement_motion(const Model& model, const Data<S>& data, int i,
                                          const S* twist) {
  const Joint& joint = model.joints[i];
  const int p = joint.parent;
  const SE3<S> X_OP{data.X_WB[p].R, p > 0 ? data.p_OB[p] : -data.X_WB[1].p};
  return X_OP * (SE3<S>(joint.X_PJ) *
                 Motion<S>{{twist[3], twist[4], twist[5]}, {twist[0], twist[1], twist[2]}});
}

// Direction in the parameters; as ParameterOutputs, one number per parameter.
template <class S>
struct ParameterDirections {
  const S *mass, *com, *inertia, *placement, *armature;
  Vec3<S> gravity;
};

// Add dtau along a direction in the parameters. A joint's frame moves like a joint of its own
// before it, by the rates of rnea_products.h. Requires body_inertias and forward_accelerations.
// Fills data.X_rate, V_rate, A_rate, F, F_rate.
template <class S>
void add_parameter_jvp(const Model& model, Data<S>& data, const S* v, const S* a,
                       const ParameterDirections<S>& along, S* dtau) {
  data.X_rate[0] = data.V_rate[0] = Motion<S>();
  data.A_rate[0] = {Vec3<S>(), -along.gravity};
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    const CompositeInertia<S>& I = data.I[i];
    const Motion<S>&V = data.V[i], A = without_gravity<S>(model, data.A[i]),
          s = placement_motion(model, data, i, along.placement + 6 * (i - 1));
    data.X_rate[i] = data.X_rate[joint.parent] + s;
    const Motion<S> V_rate = data.V_rate[joint.parent] + cross(data.V[joint.parent], s);
    Motion<S> A_rate =
        data.A_rate[joint.parent] + cross(without_gravity<S>(model, data.A[joint.parent]), s);
    A_rate += cross(V_rate, joint_motion(data, joint, v + joint.v_index));
    const Force<S> h = I * V;
    data.F[i] = I * A + cross(V, h);
    data.F_rate[i] = I * A_rate + cross(V_rate, h) + cross(V, I * V_rate);
    data.V_rate[i] = V_rate;
    data.A_rate[i] = A_rate;

    // Forces due to the changes of the body's inertial parameters.
    const Inertia& body = model.inertias[i];
    const Mat3<S>& R = data.X_WB[i].R;
    const Vec3<S> p = times_add(R, Vec3<S>(body.com), data.p_OB[i]);
    S x[n_inertial] = {along.mass[i - 1]};
    for (int k = 0; k < 3; ++k) x[1 + k] = S(body.mass) * along.com[3 * (i - 1) + k];
    for (int k = 0; k < 6; ++k) x[4 + k] = along.inertia[6 * (i - 1) + k];
    const Force<S> F = parameter_force(x, in_body(data, i, p, V), in_body(data, i, p, A));
    const Vec3<S> f = R * F.linear;
    data.F_rate[i] += Force<S>{times_add(R, F.angular, cross(p, f)), f};
  }
  for (int i = model.n_bodies() - 1; i > 0; --i) {
    const int p = model.joints[i].parent;
    if (p == 0) continue;
    data.F_rate[p] +=
        cross(placement_motion(model, data, i, along.placement + 6 * (i - 1)), data.F[i]);
    data.F[p] += data.F[i];
  }
  data.A_rate[0] = Motion<S>();  // as other rates expect
  for (int k = 0; k < model.n_v; ++k) dtau[k] += a[k] * along.armature[k];
  gather_joint_forces(model, data, data.F_rate, dtau);
}

// Compute dtau / dplacement (n_v x 6 (n_b - 1)). Requires body_inertias and forward_accelerations.
// Fills data.I_c, h_c, K_c, F, E_c, Y_c, all of subtrees.
template <class S>
void placement_sweep(const Model& model, Data<S>& data, S* placement, Wrenches<S> wrenches) {
  const int width = 6 * (model.n_bodies() - 1);
  for (int k = 0; k < model.n_v * width; ++k) placement[k] = S(0);
  sum_wrench_derivatives(model, data, wrenches);
  for (int i = 1; i < model.n_bodies(); ++i) {
    const CompositeInertia<S>& I = data.I[i];
    data.I_c[i] = I;
    data.h_c[i] = I * data.V[i];
    data.K_c[i] = inertia_rate(I, data.V[i]);
    data.F[i] = I * without_gravity<S>(model, data.A[i]) + cross(data.V[i], data.h_c[i]);
    data.F[i] -= data.E_c[i];
  }
  for (int i = model.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    // Add the force X of the header, from row c with composites of body i, less `turned`, along a
    // twist of joint l's frame.
    const auto add = [&](int l, int c, const Force<S>& turned) {
      const Motion<S>&column = data.J[c], &V = data.V[model.joints[l].parent];
      const Motion<S> A = without_gravity<S>(model, data.A[model.joints[l].parent]);
      const Force<S> IJ = data.I_c[i] * column;
      Force<S> rate{twice_B_transposed(data.K_c[i], data.h_c[i], column), Vec3<S>()};
      rate -= cross(V, IJ);
      Force<S> X{wrench_row(data.E_c[i], data.Y_c[i], column), Vec3<S>()};
      X -= cross(V, rate);
      X -= cross(A, IJ);
      X -= turned;
      S entries[6];
      along_placement(model, data, l, X, entries);
      S* to = placement + model.column_v[c] * width + 6 * (l - 1);
      for (int k = 0; k < 6; ++k) to[k] += entries[k];
    };
    for (int c = joint.column; c < joint.column + joint.n_v; ++c)
      for (int l = i; l > 0; l = model.joints[l].parent) add(l, c, Force<S>());
    for_each_on_path(model, joint.parent, [&](int c) { add(i, c, cross(data.J[c], data.F[i])); });
    add_to_parent(model, data, i);
    if (const int parent = joint.parent; parent > 0) {
      data.F[parent] += data.F[i];
      data.E_c[parent] += data.E_c[i];
      data.Y_c[parent] += data.Y_c[i];
    }
  }
}

// Derivatives of tau with respect to all parameters. Requires body_inertias.
template <class S>
void parameter_derivatives_sweep(const Model& model, Data<S>& data, const S* v, const S* a,
                                 const ParameterOutputs<S>& dtau, Wrenches<S> wrenches) {
  const int bodies = model.n_bodies() - 1, n_v = model.n_v;
  forward_accelerations(model, data, v, a);
  for (int k = 0; k < n_v * bodies; ++k) dtau.mass[k] = S(0);
  for (int k = 0; k < 3 * n_v * bodies; ++k) dtau.com[k] = S(0);
  for (int k = 0; k < 6 * n_v * bodies; ++k) dtau.inertia[k] = S(0);
  for (int i = 1; i <= bodies; ++i)
    for_each_on_path(model, i, [&](int c) {
      const int at = model.column_v[c] * bodies + i - 1;
      add_body_parameters(model, data, i, data.J[c], S(1), dtau.mass + at, dtau.com + 3 * at,
                          dtau.inertia + 6 * at);
    });
  placement_sweep(model, data, dtau.placement, wrenches);
  for (int k = 0; k < n_v * n_v; ++k) dtau.armature[k] = S(0);
  for (int k = 0; k < n_v; ++k) dtau.armature[k * n_v + k] = a[k];
}

}  // namespace detail

// Derivatives of tau = rnea(q, v, a), with wrenches as for rnea. Fills the matrices.
template <class S>
void rnea_parameter_derivatives(const Model& model, Data<S>& data, const S* q, const S* v,
                                const S* a, const ParameterOutputs<S>& dtau,
                                Wrenches<S> wrenches = {}) {
  inertia_stage(model, data, q);
  detail::parameter_derivatives_sweep(model, data, v, a, dtau, wrenches);
}

// Transposed derivatives of rnea times tau_bar (n_v). Fills the gradients.
template <class S>
void rnea_parameter_vjp(const Model& model, Data<S>& data, const S* q, const S* v, const S* a,
                        const S* tau_bar, const ParameterOutputs<S>& bar,
                        Wrenches<S> wrenches = {}) {
  S *q_bar = data.work.data(), *v_bar = q_bar + model.n_v, *a_bar = v_bar + model.n_v;
  rnea_vjp(model, data, q, v, a, tau_bar, q_bar, v_bar, a_bar, wrenches);
  detail::parameter_vjp_sweep(model, data, a, tau_bar, data.F_bar, S(1), bar);
}

// Derivatives of a = forward_dynamics(q, v, tau). Fills a (n_v) and the matrices.
template <class S>
void forward_dynamics_parameter_derivatives(const Model& model, Data<S>& data, const S* q,
                                            const S* v, const S* tau, S* a,
                                            const ParameterOutputs<S>& da,
                                            Wrenches<S> wrenches = {}) {
  forward_dynamics(model, data, q, v, tau, a, wrenches);
  if (!model.has_mimic) detail::factor_mass_matrix(model, data);
  detail::parameter_derivatives_sweep(model, data, v, a, da, wrenches);
  const int bodies = model.n_bodies() - 1;
  const auto solve = [&](S* matrix, int width) {
    for (int k = 0; k < model.n_v * width; ++k) matrix[k] = -matrix[k];
    mass_solve(model, data.L.data(), matrix, width);
  };
  solve(da.mass, bodies);
  solve(da.com, 3 * bodies);
  solve(da.inertia, 6 * bodies);
  solve(da.placement, 6 * bodies);
  solve(da.armature, model.n_v);
}

// Transposed derivatives of forward_dynamics times a_bar (n_v). Fills a, tau_bar = M^-1 a_bar (n_v
// each) and the gradients.
template <class S>
void forward_dynamics_parameter_vjp(const Model& model, Data<S>& data, const S* q, const S* v,
                                    const S* tau, const S* a_bar, S* a, S* tau_bar,
                                    const ParameterOutputs<S>& bar, Wrenches<S> wrenches = {}) {
  S *q_bar = data.work.data(), *v_bar = q_bar + model.n_v;
  forward_dynamics_vjp(model, data, q, v, tau, a_bar, a, q_bar, v_bar, tau_bar, wrenches);
  detail::parameter_vjp_sweep(model, data, a, tau_bar, data.dA, S(-1), bar);
}

}  // namespace robosim

// Products with the derivatives of inverse dynamics, tau = rnea(q, v, a), without forming a matrix:
//   rnea_jvp   dtau = dtau/dq dq + dtau/dv dv + M da - J^T dF      (Jacobian times vector)
//   rnea_vjp   q_bar = (dtau/dq)^T tau_bar, v_bar = (dtau/dv)^T tau_bar, a_bar = M tau_bar,
//              wrenches_bar = -J tau_bar
// with all directions and gradients of q in the tangent space (body side), and applied wrenches
// fixed in world axes at their frames' origins. Cost O(n): about twice rnea each.
//
// The Newton-Euler recursion (rnea.h, in frame G of data.h) is differentiated in the moving frame.
// The rate ' of a body's vector x is dx - X x x, where X is the body's displacement, so that
// columns and inertias do not change. With s = J dq, t = J dv and the parent's p,
//   X  = X_p + s,   V' = V_p' + V_p x s + t,   A' = A_p' + J da + (A_p - g) x s + V' x J v + V x t
//   F' = I A' + V' x I V + V x I V' + sum over children c (F_c' + s_c x F_c),      dtau = J^T F'
// A constant wrench (m, f) turns back relative to its body, which adds (X_angular x m, X_angular x
// f) at its point to -F_ext'. The transpose reverses these equations. With w = F_bar, the
// velocities due to joint rates tau_bar, and the sums over subtrees of each body's terms,
//   A_bar = sum I w,   V_bar = sum (I (w x V) - w x I V + J v x A_bar),
//   X_bar = -V_p x V_bar - (A_p - g) x A_bar - w_p x F, less (w x m + w_point x f, 0) per wrench
//   q_bar = J^T X_bar,   v_bar = J^T (V_bar - V x A_bar),   a_bar = J^T A_bar
// Carpentier and Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS 2018,
// section III differentiate the recursion in body frames; Echeandia and Wensing, "Numerical methods
// to compute the Coriolis matrix and Christoffel symbols for rigid-body systems", J. Comput.
// Nonlinear Dynamics 16(9), 2021 contract it with joint rates as here.
#pragma once

#include "dynamics/body_inertias.h"
#include "dynamics/rnea.h"

namespace robosim {

namespace detail {

// Force about O of a wrench at its frame's origin.
template <class S>
ROBOSIM_INLINE Force<S> about_origin(const Vec3<S>& p, const Force<S>& F) {
  return {cross_add(p, F.linear, F.angular), F.linear};
}

// Rates of the header, with forces of each single body. A null da stands for zero. Requires
// body_inertias and forward_accelerations. Fills data.X_rate, V_rate, A_rate, F, F_rate.
template <class S>
void body_force_rates(const Model& model, Data<S>& data, const S* v, const S* dq, const S* dv,
                      const S* da, Wrenches<S> wrenches, Wrenches<S> dwrenches) {
  const Vec3<S> g(model.gravity);
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    const CompositeInertia<S>& I = data.I[i];
    const Motion<S>&V = data.V[i], &A = data.A[i], &V_p = data.V[joint.parent],
          &A_p = data.A[joint.parent];
    const Motion<S> s = joint_motion(data, joint, dq + joint.v_index),
                    t = joint_motion(data, joint, dv + joint.v_index);
    data.X_rate[i] = data.X_rate[joint.parent] + s;
    const Motion<S> V_rate = data.V_rate[joint.parent] + cross(V_p, s) + t;
    Motion<S> A_rate = data.A_rate[joint.parent] + cross(Motion<S>{A_p.angular, A_p.linear - g}, s);
    A_rate += cross(V_rate, joint_motion(data, joint, v + joint.v_index)) + cross(V, t);
    if (da) A_rate += joint_motion(data, joint, da + joint.v_index);
    const Force<S> h = I * V;
    data.F[i] = I * Motion<S>{A.angular, A.linear - g} + cross(V, h);
    data.F_rate[i] = I * A_rate + cross(V_rate, h) + cross(V, I * V_rate);
    data.V_rate[i] = V_rate;
    data.A_rate[i] = A_rate;
  }
  for (const AppliedWrench<S>& wrench : wrenches) {
    const Frame& frame = model.frames[wrench.frame];
    const Vec3<S> p = frame_offset(data, frame), &w = data.X_rate[frame.body].angular;
    data.F[frame.body] -= about_origin(p, wrench.F);
    data.F_rate[frame.body] +=
        about_origin(p, Force<S>{cross(w, wrench.F.angular), cross(w, wrench.F.linear)});
  }
  for (const AppliedWrench<S>& rate : dwrenches) {
    const Frame& frame = model.frames[rate.frame];
    data.F_rate[frame.body] -= about_origin(frame_offset(data, frame), rate.F);
  }
}

// Add to the F' of each body the terms s_c x F_c of its children, due to the displacement of their
// joints. Requires body_force_rates. data.F then holds the forces of the subtrees.
template <class S>
void turn_subtree_forces(const Model& model, Data<S>& data, const S* dq,
                         std::vector<Force<S>>& F_rate) {
  for (int i = model.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    if (joint.parent == 0) continue;
    F_rate[joint.parent] += cross(joint_motion(data, joint, dq + joint.v_index), data.F[i]);
    data.F[joint.parent] += data.F[i];
  }
}

// Gradients of the header for given velocities w = F_bar; a_bar, which may be null, without the
// part of armature. Requires body_inertias and forward_accelerations. Fills data.F (of the
// subtrees), A_bar, V_bar, X_bar.
template <class S>
void rnea_vjp_sweep(const Model& model, Data<S>& data, const std::vector<Motion<S>>& F_bar,
                    S* q_bar, S* v_bar, S* a_bar, Wrenches<S> wrenches, Motion<S>* wrenches_bar) {
  const int n = model.n_bodies();
  const Vec3<S> g(model.gravity);
  // Terms of each body.
  for (int i = 1; i < n; ++i) {
    const CompositeInertia<S>& I = data.I[i];
    const Motion<S>&V = data.V[i], &A = data.A[i], &w = F_bar[i];
    const Force<S> h = I * V;
    data.F[i] = I * Motion<S>{A.angular, A.linear - g} + cross(V, h);
    data.A_bar[i] = I * w;
    data.V_bar[i] = I * cross(w, V);
    data.V_bar[i] -= cross(w, h);
    data.X_bar[i] = Force<S>();
  }
  // Terms of the wrenches.
  for (std::size_t k = 0; k < wrenches.size(); ++k) {
    const Frame& frame = model.frames[wrenches[k].frame];
    const Vec3<S> p = frame_offset(data, frame);
    const Force<S>& F = wrenches[k].F;
    const Motion<S>& w = F_bar[frame.body];
    const Vec3<S> w_point = cross_add(w.angular, p, w.linear);
    data.F[frame.body] -= about_origin(p, F);
    data.X_bar[frame.body].angular -= cross_add(w.angular, F.angular, cross(w_point, F.linear));
    if (wrenches_bar) wrenches_bar[k] = {-w.angular, -w_point};
  }
  for (int k = 0; k < model.n_v; ++k) q_bar[k] = v_bar[k] = S(0);
  // Inward: sums over subtrees, and their projections on the joints.
  for (int i = n - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    const int p = joint.parent;
    const Motion<S>&V_p = data.V[p], &A_p = data.A[p];
    const Force<S>& A_bar = data.A_bar[i];
    Force<S> X_bar = data.X_bar[i], v_force = data.V_bar[i];
    v_force -= cross(V_p, A_bar);
    const Force<S> V_bar = v_force + cross(data.V[i], A_bar);  // J v = V - V_p
    if (p > 0) {
      data.F[p] += data.F[i];
      data.A_bar[p] += A_bar;
      data.V_bar[p] += V_bar;
      data.X_bar[p].angular += X_bar.angular;  // part of the wrenches
    }
    X_bar -= cross(V_p, V_bar);
    X_bar -= cross(Motion<S>{A_p.angular, A_p.linear - g}, A_bar);
    X_bar -= cross(F_bar[p], data.F[i]);
    data.V_bar[i] = V_bar;
    data.X_bar[i] = X_bar;
    visit_columns(joint, [&](auto columns) {
      for (int k = 0; k < columns.n_v; ++k) {
        const Motion<S>& column = data.J[joint.column + k];
        q_bar[joint.v_index + k] += dot(column, X_bar);
        v_bar[joint.v_index + k] += dot(column, v_force);
        if (a_bar) a_bar[joint.v_index + k] += dot(column, A_bar);
      }
    });
  }
}

// Velocities due to joint rates x. Requires motion_subspaces. Fills F_bar.
template <class S>
void joint_velocities(const Model& model, const Data<S>& data, const S* x,
                      std::vector<Motion<S>>& F_bar) {
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    F_bar[i] = F_bar[joint.parent] + joint_motion(data, joint, x + joint.v_index);
  }
}

}  // namespace detail

// q: n_q; v, a and the directions dq, dv, da: n_v entries. Fills dtau (n_v), which must be none of
// them. dwrenches: rates of wrenches, on any frames. Fills data.X_WB, J, I, V, A and the rates of
// the product stage.
template <class S>
void rnea_jvp(const Model& model, Data<S>& data, const S* q, const S* v, const S* a, const S* dq,
              const S* dv, const S* da, S* dtau, Wrenches<S> wrenches = {},
              Wrenches<S> dwrenches = {}) {
  inertia_stage(model, data, q);
  forward_accelerations(model, data, v, a);
  detail::body_force_rates(model, data, v, dq, dv, da, wrenches, dwrenches);
  detail::turn_subtree_forces(model, data, dq, data.F_rate);
  for (int k = 0; k < model.n_v; ++k) dtau[k] = S(model.armature[k]) * da[k];
  detail::gather_joint_forces(model, data, data.F_rate, dtau);
}

// q: n_q; v, a and tau_bar: n_v entries. Fills q_bar, v_bar, a_bar (n_v each, none of them an
// input) and, unless null, wrenches_bar (one per wrench: gradients in its moment and its force).
// Fills data.X_WB, J, I, V, A and the cotangents of the product stage.
template <class S>
void rnea_vjp(const Model& model, Data<S>& data, const S* q, const S* v, const S* a,
              const S* tau_bar, S* q_bar, S* v_bar, S* a_bar, Wrenches<S> wrenches = {},
              Motion<S>* wrenches_bar = nullptr) {
  inertia_stage(model, data, q);
  forward_accelerations(model, data, v, a);
  detail::joint_velocities(model, data, tau_bar, data.F_bar);
  for (int k = 0; k < model.n_v; ++k) a_bar[k] = S(model.armature[k]) * tau_bar[k];
  detail::rnea_vjp_sweep(model, data, data.F_bar, q_bar, v_bar, a_bar, wrenches, wrenches_bar);
}

}  // namespace robosim

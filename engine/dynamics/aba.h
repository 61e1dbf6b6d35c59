// Articulated-body algorithm: acceleration due to joint forces, a = M(q)^-1 (tau - h(q, v) + sum
// J^T F_ext), armature included.
//
// The recursion has two parts, so that one factor serves many right-hand sides:
//   articulated_factor   inward: U = I_A J, D = J^T U + armature; the parent gets I_A - U D^-1 U^T
//   articulated_solve    inward: u = tau - J^T p, the parent gets p + U D^-1 u;
//                        outward: a = D^-1 u - D^-1 U^T dA_parent, dA = dA_parent + J a
// with p the bias force due to velocities (rnea with a = 0, without gravity) and dA the
// acceleration beyond the velocity products, which at the root is -g. Featherstone, "Rigid Body
// Dynamics Algorithms" (2008), table 7.1, in the common frame G (data.h), where inertias need no
// transforms. Cost O(n).
//
// Requires joints that move independently of one another. With mimic joints forward_dynamics uses
// crba instead.
#pragma once

#include "dynamics/cholesky.h"
#include "dynamics/body_inertias.h"
#include "dynamics/rnea.h"

namespace robosim {

// Requires body_inertias. Fills data.I_A, U, UD, D.
template <class S>
void articulated_factor(const Model& model, Data<S>& data) {
  const int n = model.n_bodies();
  for (int i = 1; i < n; ++i) data.I_A[i] = ArticulatedInertia<S>(data.I[i]);
  for (int i = n - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    const int first = joint.column;
    visit_columns(joint, [&](auto columns) {
      const int m = columns.n_v;
      S* D = data.D.data() + 6 * first;
      for (int k = 0; k < m; ++k) data.U[first + k] = data.I_A[i] * data.J[first + k];
      if constexpr (columns.is_single) {
        D[0] = S(1) / (dot(data.J[first], data.U[first]) + S(model.armature[joint.v_index]));
        data.UD[first] = D[0] * data.U[first];
      } else {
        for (int k = 0; k < m; ++k) {
          for (int l = 0; l <= k; ++l) D[k * m + l] = dot(data.J[first + k], data.U[first + l]);
          D[k * m + k] += S(model.armature[joint.v_index + k]);
        }
        cholesky_factor(D, m);
        // U D^-1, one component of all columns at a time.
        const auto solve_component = [&](auto&& component) {
          S row[max_columns];
          for (int k = 0; k < m; ++k) row[k] = component(data.U[first + k]);
          cholesky_solve(D, m, row);
          for (int k = 0; k < m; ++k) component(data.UD[first + k]) = row[k];
        };
        for (int r = 0; r < 3; ++r) {
          solve_component([r](Force<S>& F) -> S& { return F.angular[r]; });
          solve_component([r](Force<S>& F) -> S& { return F.linear[r]; });
        }
      }
      if (joint.parent == 0) return;
      ArticulatedInertia<S>& above = data.I_A[joint.parent];
      above += data.I_A[i];
      for (int k = 0; k < m; ++k) above.subtract_outer(data.U[first + k], data.UD[first + k]);
    });
  }
}

// Requires articulated_factor, with the bias forces of the bodies in data.p_A (overwritten) and the
// root's acceleration in data.dA[0]. a may be tau. Fills data.dA, Du.
template <class S>
void articulated_solve(const Model& model, Data<S>& data, const S* tau, S* a) {
  const int n = model.n_bodies();
  for (int i = n - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    const int first = joint.column;
    visit_columns(joint, [&](auto columns) {
      S* u = data.Du.data() + first;
      for (int k = 0; k < columns.n_v; ++k)
        u[k] = tau[joint.v_index + k] - dot(data.J[first + k], data.p_A[i]);
      if (joint.parent > 0) {
        Force<S> p = data.p_A[i];
        for (int k = 0; k < columns.n_v; ++k) p = mul_add(u[k], data.UD[first + k], p);
        data.p_A[joint.parent] += p;
      }
      const S* D = data.D.data() + 6 * first;
      if constexpr (columns.is_single)
        u[0] *= D[0];
      else
        cholesky_solve(D, columns.n_v, u);
    });
  }
  for (int i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    const int first = joint.column;
    visit_columns(joint, [&](auto columns) {
      Motion<S> dA = data.dA[joint.parent];
      S x[max_columns];
      for (int k = 0; k < columns.n_v; ++k) x[k] = data.Du[first + k] - dot(dA, data.UD[first + k]);
      for (int k = 0; k < columns.n_v; ++k) {
        dA = mul_add(x[k], data.J[first + k], dA);
        a[joint.v_index + k] = x[k];
      }
      data.dA[i] = dA;
    });
  }
}

namespace detail {

// Bias forces of the bodies, I A + V x (I V) - F_ext with A of the velocity products alone.
// Requires body_inertias. Fills data.V, A and p_A.
template <class S>
void bias_forces(const Model& model, Data<S>& data, const S* v, Wrenches<S> wrenches) {
  if (!wrenches.empty()) sum_wrenches(model, data, wrenches);
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    const Motion<S> Jv = joint_motion(data, joint, v + joint.v_index), &V = data.V[joint.parent];
    data.A[i] = data.A[joint.parent] + cross(V, Jv);
    data.V[i] = V + Jv;
    data.p_A[i] = data.I[i] * data.A[i] + cross(data.V[i], data.I[i] * data.V[i]);
    if (!wrenches.empty()) data.p_A[i] -= data.external[i];
  }
}

}  // namespace detail

// q: n_q, v and tau: n_v entries. Fills a (n_v) and data.X_WB, J, I, V, I_A, U, UD, D, Du, dA. a
// may be tau. The result is not finite if a joint moves no mass.
template <class S>
void aba(const Model& model, Data<S>& data, const S* q, const S* v, const S* tau, S* a,
         Wrenches<S> wrenches = {}) {
  inertia_stage(model, data, q);
  articulated_factor(model, data);
  detail::bias_forces(model, data, v, wrenches);
  data.dA[0] = {Vec3<S>(), -Vec3<S>(model.gravity)};
  articulated_solve(model, data, tau, a);
}

extern template void aba(const Model&, Data<double>&, const double*, const double*, const double*,
                         double*, Wrenches<double>);

}  // namespace robosim

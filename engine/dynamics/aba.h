// Articulated bodies: the acceleration that joint forces make, a = M(q)^-1 (tau - h(q, v) + sum J^T F_ext), armature included.
//
// Outward: V, c = V x S v, p_A = V x (I V) - F_ext. Inward: U = I_A S, D = S^T U + armature, u = tau - S^T p_A; the parent
// feels I_A - U D^-1 U^T and p_A + (I_A - U D^-1 U^T) c + U D^-1 u. Outward: a = D^-1 (u - U^T A'), A = A' + S a with
// A' = X^-1 A_parent + c. Featherstone, "Rigid Body Dynamics Algorithms" (2008), table 7.1. Body frames. Cost O(n).
//
// It needs joints that move independently of one another. With mimic joints forward_dynamics goes through crba instead.
#pragma once

#include "dynamics/cholesky.h"
#include "model/data.h"
#include "model/joints.h"

namespace robosim {

// q: n_q, v and tau: n_v entries; external: per body a force on it in its own frame, or null. Fills a (n_v) and data.X_PC, V,
// c, I_A, p_A, U, UD, Du, A_g. a may be tau. Where a joint moves no mass the result is not finite.
template <class S>
void aba(const Model& model, Data<S>& data, const S* q, const S* v, const S* tau, S* a, const Force<S>* external = nullptr) {
  const int n = model.n_bodies();

  // Velocities and what they do, as if no body were connected to another.
  for (int i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    data.X_PC[i] = joint_placement(joint, q + joint.q_index);
    visit_joint(joint.type, [&]<class J>(J) {
      const auto Sv = joint_velocity<J>(joint, v + joint.v_index);
      data.V[i] = inverse_times(data.X_PC[i], data.V[joint.parent]) + Sv;
      data.c[i] = cross(data.V[i], Sv);
    });
    data.I_A[i] = ArticulatedInertia<S>(model.inertias[i]);
    data.p_A[i] = cross(data.V[i], model.inertias[i] * data.V[i]);
    if (external) data.p_A[i] -= external[i];
  }

  // Leaves to root: each joint gives way as much as its own forces let it, and the rest is passed on to the parent.
  for (int i = n - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    const int first = joint.v_index;
    visit_joint(joint.type, [&]<class J>(J) {
      constexpr int m = J::n_v;
      S D[m * m], u[m];
      for (int k = 0; k < m; ++k) {
        const auto column = J::template column<S>(joint.axis, k);
        data.U[first + k] = data.I_A[i] * column;
        u[k] = tau[first + k] - dot(column, data.p_A[i]);
      }
      for (int k = 0; k < m; ++k)
        for (int l = 0; l < m; ++l) D[k * m + l] = dot(J::template column<S>(joint.axis, k), data.U[first + l]);
      for (int k = 0; k < m; ++k) D[k * m + k] += S(model.armature[first + k]);

      // W = U D^-1, row by row of U^T, and D^-1 u.
      if constexpr (m == 1) {
        const S inverse = S(1) / D[0];
        data.UD[first] = inverse * data.U[first];
        data.Du[first] = inverse * u[0];
      } else {
        cholesky_factor(D, m);
        for (int r = 0; r < 3; ++r) {
          S row[m];
          for (int k = 0; k < m; ++k) row[k] = data.U[first + k].angular[r];
          cholesky_solve(D, m, row);
          for (int k = 0; k < m; ++k) data.UD[first + k].angular[r] = row[k];
          for (int k = 0; k < m; ++k) row[k] = data.U[first + k].linear[r];
          cholesky_solve(D, m, row);
          for (int k = 0; k < m; ++k) data.UD[first + k].linear[r] = row[k];
        }
        cholesky_solve(D, m, u);
        for (int k = 0; k < m; ++k) data.Du[first + k] = u[k];
      }
      if (joint.parent == 0) return;
      ArticulatedInertia<S> felt = data.I_A[i];
      for (int k = 0; k < m; ++k) felt.subtract_outer(data.U[first + k], data.UD[first + k]);
      Force<S> p = data.p_A[i] + felt * data.c[i];
      for (int k = 0; k < m; ++k) p += data.Du[first + k] * data.U[first + k];
      data.I_A[joint.parent] += data.X_PC[i] * felt;
      data.p_A[joint.parent] += data.X_PC[i] * p;
    });
  }

  // Root to leaves: accelerations.
  data.A_g[0] = {Vec3<S>(), -Vec3<S>(model.gravity)};
  for (int i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    const int first = joint.v_index;
    const Motion<S> A = inverse_times(data.X_PC[i], data.A_g[joint.parent]) + data.c[i];
    visit_joint(joint.type, [&]<class J>(J) {
      for (int k = 0; k < J::n_v; ++k) a[first + k] = data.Du[first + k] - dot(A, data.UD[first + k]);
      data.A_g[i] = A + joint_velocity<J>(joint, a + first);
    });
  }
}

extern template void aba(const Model&, Data<double>&, const double*, const double*, const double*, double*, const Force<double>*);

}  // namespace robosim

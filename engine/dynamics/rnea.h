// Recursive Newton-Euler algorithm: joint forces of a given motion, tau = M(q) a + h(q, v) - sum
// J^T F_ext.
//
// Outward: V and A. The force on each body is F = I (A - g) + V x (I V) - F_ext. Inward these add
// up, tau = J^T F + armature a. Luh, Walker and Paul (1980) in the form of Featherstone, "Rigid
// Body Dynamics Algorithms" (2008), table 5.1, here in the common frame G (data.h). Damping, dry
// friction and springs are not in M and h: see joint_forces.h. Cost O(n).
#pragma once

#include "dynamics/applied_wrench.h"

namespace robosim {

namespace detail {

// Force required for a body to move with V and A - g, about the center of mass c, with the
// gyroscopic part in the body's axes:
//   f = m (a + alpha x c + w x (v + w x c)),  n = R (I alpha + w x I w) + c x f
template <bool with_v, class S>
ROBOSIM_INLINE Force<S> newton_euler(const Inertia& inertia, const Mat3<S>& R, const Vec3<S>& p_OB,
                                     const Motion<S>& V, const Motion<S>& A) {
  const Mat3<S> I(inertia.I_com);
  const Vec3<S> c = times_add(R, Vec3<S>(inertia.com), p_OB);
  Vec3<S> a = cross_add(A.angular, c, A.linear);
  Vec3<S> n = I * transpose_times(R, A.angular);
  if constexpr (with_v) {
    a = cross_add(V.angular, cross_add(V.angular, c, V.linear), a);
    const Vec3<S> w = transpose_times(R, V.angular);
    n = cross_add(w, I * w, n);
  }
  const Vec3<S> f = S(inertia.mass) * a;
  return {times_add(R, n, cross(c, f)), f};
}

// Momentum of one body about O: the force that accelerates the body from rest to V in unit time.
// Requires forward_velocities.
template <class S>
ROBOSIM_INLINE Force<S> momentum(const Model& model, const Data<S>& data, int i) {
  return newton_euler<false>(model.inertias[i], data.X_WB[i].R, data.p_OB[i], Motion<S>(),
                             data.V[i]);
}

// Sum the forces of subtrees up to the root, and project each on its joint: tau += J^T F.
template <class S>
void gather_joint_forces(const Model& model, const Data<S>& data, std::vector<Force<S>>& F,
                         S* tau) {
  for (int i = model.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    visit_columns(joint, [&](auto columns) {
      for (int k = 0; k < columns.n_v; ++k)
        tau[joint.v_index + k] += dot(data.J[joint.column + k], F[i]);
    });
    if (joint.parent > 0) F[joint.parent] += F[i];
  }
}

// Sweep for rnea and its special cases; a null v or a stands for zero and costs nothing.
// Requires motion_subspaces.
template <bool with_v, bool with_a, bool with_gravity, class S>
void rnea_sweep(const Model& model, Data<S>& data, const S* v, const S* a, S* tau,
                Wrenches<S> wrenches) {
  const int n = model.n_bodies();
  const Vec3<S> g(model.gravity);
  if (!wrenches.empty()) sum_wrenches(model, data, wrenches);
  for (int i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    Motion<S> A = data.A[joint.parent];
    if constexpr (with_v) {
      const Motion<S> Jv = joint_motion(data, joint, v + joint.v_index), &V = data.V[joint.parent];
      if (joint.parent > 0) A += cross(V, Jv);
      data.V[i] = V + Jv;
    }
    if constexpr (with_a) A += joint_motion(data, joint, a + joint.v_index);
    data.A[i] = A;
    if constexpr (with_gravity) A.linear -= g;
    data.F[i] = newton_euler<with_v>(model.inertias[i], data.X_WB[i].R, data.p_OB[i], data.V[i], A);
    if (!wrenches.empty()) data.F[i] -= data.external[i];
  }
  for (int k = 0; k < model.n_v; ++k) tau[k] = with_a ? S(model.armature[k]) * a[k] : S(0);
  gather_joint_forces(model, data, data.F, tau);
}

}  // namespace detail

// q: n_q, v and a: n_v entries. Fills tau (n_v), which must be none of them, and data.X_WB, J, V,
// A, F.
template <class S>
void rnea(const Model& model, Data<S>& data, const S* q, const S* v, const S* a, S* tau,
          Wrenches<S> wrenches = {}) {
  position_stage(model, data, q);
  detail::rnea_sweep<true, true, true>(model, data, v, a, tau, wrenches);
}

// Nonlinear effects h(q, v): Coriolis, centrifugal and gravity forces.
template <class S>
void nonlinear_effects(const Model& model, Data<S>& data, const S* q, const S* v, S* h,
                       Wrenches<S> wrenches = {}) {
  position_stage(model, data, q);
  detail::rnea_sweep<true, false, true>(model, data, v, static_cast<const S*>(nullptr), h,
                                        wrenches);
}

// Gravity forces g(q) = h(q, 0): the joint forces that hold the mechanism at rest.
template <class S>
void gravity_forces(const Model& model, Data<S>& data, const S* q, S* g) {
  const S* none = nullptr;
  position_stage(model, data, q);
  detail::rnea_sweep<false, false, true>(model, data, none, none, g, Wrenches<S>());
}

extern template void rnea(const Model&, Data<double>&, const double*, const double*, const double*,
                          double*, Wrenches<double>);
extern template void nonlinear_effects(const Model&, Data<double>&, const double*, const double*,
                                       double*, Wrenches<double>);
extern template void gravity_forces(const Model&, Data<double>&, const double*, double*);

}  // namespace robosim

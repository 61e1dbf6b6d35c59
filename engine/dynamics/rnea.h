// Recursive Newton-Euler: the joint forces that make a motion, tau = M(q) a + h(q, v) - sum J^T F_ext.
//
// Outward: V, and A with the world accelerating by -g, which stands for gravity. Inward: F = I A + V x (I V) - F_ext plus
// what the children pass on; tau = S^T F + armature a. Luh, Walker and Paul (1980) in the form of Featherstone, "Rigid Body
// Dynamics Algorithms" (2008), table 5.1. Body frames throughout. Damping and dry friction are not in M and h: see
// passive_forces. Cost O(n).
#pragma once

#include "model/data.h"
#include "model/joints.h"

namespace robosim {

namespace detail {

// One sweep for rnea and its special cases; a null v or a stands for zero and costs nothing.
template <bool with_v, bool with_a, class S>
void rnea_sweep(const Model& model, Data<S>& data, const S* q, const S* v, const S* a, S* tau, const Force<S>* external) {
  const int n = model.n_bodies();
  data.A_g[0] = {Vec3<S>(), -Vec3<S>(model.gravity)};
  for (int i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    data.X_PC[i] = joint_placement(joint, q + joint.q_index);
    Motion<S> A = inverse_times(data.X_PC[i], data.A_g[joint.parent]);
    visit_joint(joint.type, [&]<class J>(J) {
      if constexpr (with_v) {
        const auto Sv = joint_velocity<J>(joint, v + joint.v_index);
        data.V[i] = inverse_times(data.X_PC[i], data.V[joint.parent]) + Sv;
        A += cross(data.V[i], Sv);
      }
      if constexpr (with_a) A = A + joint_velocity<J>(joint, a + joint.v_index);
    });
    data.A_g[i] = A;
    data.F[i] = model.inertias[i] * A;
    if constexpr (with_v) data.F[i] += cross(data.V[i], model.inertias[i] * data.V[i]);
    if (external) data.F[i] -= external[i];
  }
  for (int k = 0; k < model.n_v; ++k) tau[k] = with_a ? S(model.armature[k]) * a[k] : S(0);
  for (int i = n - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    visit_joint(joint.type, [&]<class J>(J) { add_joint_force<J>(joint, data.F[i], tau + joint.v_index); });
    if (joint.parent > 0) data.F[joint.parent] += data.X_PC[i] * data.F[i];
  }
}

}  // namespace detail

// q: n_q, v and a: n_v entries; external: per body a force on it in its own frame, or null. Fills tau (n_v), which must not
// be a, and data.X_PC, V, A_g, F.
template <class S>
void rnea(const Model& model, Data<S>& data, const S* q, const S* v, const S* a, S* tau, const Force<S>* external = nullptr) {
  detail::rnea_sweep<true, true>(model, data, q, v, a, tau, external);
}

// h(q, v): Coriolis, centrifugal and gravity forces.
template <class S>
void nonlinear_effects(const Model& model, Data<S>& data, const S* q, const S* v, S* h, const Force<S>* external = nullptr) {
  detail::rnea_sweep<true, false>(model, data, q, v, static_cast<const S*>(nullptr), h, external);
}

// g(q) = h(q, 0): what holds the mechanism still.
template <class S>
void gravity_forces(const Model& model, Data<S>& data, const S* q, S* g) {
  const S* none = nullptr;
  detail::rnea_sweep<false, false>(model, data, q, none, none, g, static_cast<const Force<S>*>(nullptr));
}

// What the joints' viscous and dry friction exert: -damping v - friction sign(v). Adds nothing at rest.
template <class S>
void passive_forces(const Model& model, const S* v, S* tau) {
  for (int k = 0; k < model.n_v; ++k) {
    const S sign = select(v[k] > S(0), S(1), select(v[k] < S(0), S(-1), S(0)));
    tau[k] = -(S(model.damping[k]) * v[k] + S(model.friction[k]) * sign);
  }
}

// Adds to external[body] the force F on a frame, given at the frame's origin in world axes; after forward_kinematics.
template <class S>
void add_frame_force(const Data<S>& data, const Frame& frame, const Force<S>& F, Force<S>* external) {
  const SE3<S>& X_WB = data.X_WB[frame.body];
  // In the axes of B, still at the origin of F.
  const Force<S> F_B{transpose_times(X_WB.R, F.angular), transpose_times(X_WB.R, F.linear)};
  const Vec3<S> p_BF(frame.X_BF.p);
  external[frame.body] += Force<S>{F_B.angular + cross(p_BF, F_B.linear), F_B.linear};
}

extern template void rnea(const Model&, Data<double>&, const double*, const double*, const double*, double*, const Force<double>*);
extern template void nonlinear_effects(const Model&, Data<double>&, const double*, const double*, double*, const Force<double>*);
extern template void gravity_forces(const Model&, Data<double>&, const double*, double*);

}  // namespace robosim

// Forward kinematics: poses, velocities and accelerations of every body from q, v and a, root to leaves.
//
//   X_WB(i) = X_WB(parent) X_PC(q)
//   V_i = X_PC^-1 V_parent + S v
//   A_i = X_PC^-1 A_parent + S a + V_i x S v     (S is constant in the child frame)
// Featherstone, "Rigid Body Dynamics Algorithms" (2008), eqs. 5.7 and 5.8. V and A in body frames. Cost O(n).
#pragma once

#include "model/data.h"
#include "model/joints.h"

namespace robosim {

// q: n_q entries. Fills data.X_PC and data.X_WB.
template <class S>
void forward_kinematics(const Model& model, Data<S>& data, const S* q) {
  const int n = model.n_bodies();
  for (int i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    data.X_PC[i] = joint_placement(joint, q + joint.q_index);
    data.X_WB[i] = data.X_WB[joint.parent] * data.X_PC[i];
  }
}

// v: n_v entries; after forward_kinematics(q). Fills data.V.
template <class S>
void forward_velocities(const Model& model, Data<S>& data, const S* v) {
  const int n = model.n_bodies();
  for (int i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    visit_joint(joint.type, [&]<class J>(J) {
      data.V[i] = inverse_times(data.X_PC[i], data.V[joint.parent]) + joint_velocity<J>(joint, v + joint.v_index);
    });
  }
}

// v, a: n_v entries; after forward_velocities(v). Fills data.A, the spatial accelerations without gravity.
template <class S>
void forward_accelerations(const Model& model, Data<S>& data, const S* v, const S* a) {
  const int n = model.n_bodies();
  for (int i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    visit_joint(joint.type, [&]<class J>(J) {
      const auto Sv = joint_velocity<J>(joint, v + joint.v_index);
      data.A[i] = inverse_times(data.X_PC[i], data.A[joint.parent]) + joint_velocity<J>(joint, a + joint.v_index) +
                  cross(data.V[i], Sv);
    });
  }
}

// X_WF, after forward_kinematics.
template <class S>
SE3<S> frame_placement(const Model&, const Data<S>& data, const Frame& frame) {
  return data.X_WB[frame.body] * SE3<S>(frame.X_BF);
}

enum class Axes : bool { world, local };

namespace detail {

template <class S>
Motion<S> with_axes(const Data<S>& data, const Frame& frame, Axes axes, const Motion<S>& V_F) {
  if (axes == Axes::local) return V_F;
  const Mat3<S> R = data.X_WB[frame.body].R * Mat3<S>(frame.X_BF.R);
  return {R * V_F.angular, R * V_F.linear};
}

}  // namespace detail

// Angular velocity of the frame and velocity of its origin, after forward_velocities.
template <class S>
Motion<S> frame_velocity(const Model&, const Data<S>& data, const Frame& frame, Axes axes) {
  return detail::with_axes(data, frame, axes, inverse_times(SE3<S>(frame.X_BF), data.V[frame.body]));
}

// Angular acceleration of the frame and acceleration of its origin as an accelerometer without gravity would see it
// (d^2 p / dt^2, not the spatial acceleration), after forward_accelerations.
template <class S>
Motion<S> frame_acceleration(const Model&, const Data<S>& data, const Frame& frame, Axes axes) {
  const SE3<S> X_BF(frame.X_BF);
  const Motion<S> V = inverse_times(X_BF, data.V[frame.body]);
  Motion<S> A = inverse_times(X_BF, data.A[frame.body]);
  A.linear += cross(V.angular, V.linear);
  return detail::with_axes(data, frame, axes, A);
}

extern template void forward_kinematics(const Model&, Data<double>&, const double*);
extern template void forward_velocities(const Model&, Data<double>&, const double*);
extern template void forward_accelerations(const Model&, Data<double>&, const double*, const double*);

}  // namespace robosim

// Derivatives of the velocity V and classical acceleration A of a frame at a point fixed in it
// (kinematics.h) with respect to q, v, a:
//
//   after forward_velocities:
//     frame_velocity_derivatives(model, data, frame, axes, dV_dq, J, point)
//   after forward_accelerations:
//     frame_acceleration_derivatives(model, data, frame, axes, dV_dq, dA_dq, dA_dv, J, point)
//
// each 6 x n_v, rows 0..2 linear, 3..5 angular; dV_dv = dA_da = J, the frame Jacobian. q moves in
// the tangent space.
//
// A displacement of column j of joint k by J_j moves body k and its descendants rigidly and leaves
// V, A of the parent unchanged. So the spatial velocity and acceleration of body i change by
//   dV_i/dq_j = J_j x (V_i - V),   dA_i/dq_j = J_j x (A_i - A) + J_dot_j x (V_i - V)
//   dV_i/dv_j = J_j,               dA_i/dv_j = J_dot_j + J_j x (V_i - V_k)
// with J_dot_j = V x J_j. Carpentier and Mansard, "Analytical derivatives of rigid body dynamics
// algorithms", RSS 2018, here in the common frame G (data.h), with all quantities taken at the
// point p. There linear = v and a + w x v. In addition p itself moves by dp = J_j's linear part,
// which adds w x dp to dv and (dw/dt) x dp to da. Local axes R^T x turn with the frame, by w_j:
// d(R^T x) = R^T (dx - w_j x x). Cost O(depth).
//
// These are the true derivatives of the results of frame_velocity and frame_acceleration in the
// same axes. In Pinocchio, the linear rows are those of getPointVelocityDerivatives and
// getPointClassicAccelerationDerivatives in LOCAL or LOCAL_WORLD_ALIGNED, and the angular rows
// those of getFrameVelocityDerivatives and getFrameAccelerationDerivatives. The linear rows of the
// latter two are of spatial accelerations and, in LOCAL_WORLD_ALIGNED, at a point that does not
// move with q.
#pragma once

#include "dynamics/jacobian.h"

namespace robosim {

namespace detail {

// Derivatives for both functions below; dA_dq and dA_dv are unused for the velocity.
template <bool with_acceleration, class S>
void frame_derivatives(const Model& model, const Data<S>& data, const Frame& frame, Axes axes,
                       S* dV_dq, S* dA_dq, S* dA_dv, S* J, const Vec3<S>& point) {
  const int n_v = model.n_v;
  for (int k = 0; k < 6 * n_v; ++k) dV_dq[k] = J[k] = S(0);
  if constexpr (with_acceleration)
    for (int k = 0; k < 6 * n_v; ++k) dA_dq[k] = dA_dv[k] = S(0);
  const Vec3<S> p = frame_offset(data, frame, point);
  const Mat3<S> R = frame_rotation(data, frame);
  const Motion<S> V_F = at_point(data.V[frame.body], p), A_F = at_point(data.A[frame.body], p);
  const Vec3<S> a_F = cross_add(V_F.angular, V_F.linear, A_F.linear);
  const auto add = [&](const Motion<S>& x, S* to, int c) {
    add_column(with_axes(R, axes, x), to + model.column_v[c], n_v);
  };
  // Subtract the rotation of local axes due to a change of q.
  const auto turn = [&](const Vec3<S>& w_j, const Vec3<S>& angular, const Vec3<S>& linear,
                        Motion<S> x) {
    if (axes == Axes::world) return x;
    return Motion<S>{cross_subtract(w_j, angular, x.angular),
                     cross_subtract(w_j, linear, x.linear)};
  };
  for (int i = frame.body; i > 0; i = model.joints[i].parent) {
    const Joint& joint = model.joints[i];
    const Motion<S> V = at_point(data.V[joint.parent], p), V_behind = V_F - V;
    Motion<S> A_behind, V_below;
    if constexpr (with_acceleration) {
      A_behind = A_F - at_point(data.A[joint.parent], p);
      V_below = V_F - at_point(data.V[i], p);
    }
    for (int c = joint.column; c < joint.column + joint.n_v; ++c) {
      const Motion<S> J_c = at_point(data.J[c], p);
      const Vec3<S>&w_j = J_c.angular, &dp = J_c.linear;
      Motion<S> dV = cross(J_c, V_behind);
      dV.linear = cross_add(V_F.angular, dp, dV.linear);
      add(J_c, J, c);
      add(turn(w_j, V_F.angular, V_F.linear, dV), dV_dq, c);
      if constexpr (with_acceleration) {
        const Motion<S> J_dot = cross(V, J_c);
        Motion<S> dA = cross(J_c, A_behind) + cross(J_dot, V_behind);
        dA.linear = cross_add(A_F.angular, dp, dA.linear);
        // d(w x v).
        dA.linear = cross_add(dV.angular, V_F.linear, cross_add(V_F.angular, dV.linear, dA.linear));
        add(turn(w_j, A_F.angular, a_F, dA), dA_dq, c);
        Motion<S> by_v = J_dot + cross(J_c, V_below);
        by_v.linear = cross_add(w_j, V_F.linear, cross_add(V_F.angular, dp, by_v.linear));
        add(by_v, dA_dv, c);
      }
    }
  }
}

}  // namespace detail

template <class S>
void frame_velocity_derivatives(const Model& model, const Data<S>& data, const Frame& frame,
                                Axes axes, S* dV_dq, S* J, const Vec3<S>& point = Vec3<S>()) {
  S* none = nullptr;
  detail::frame_derivatives<false>(model, data, frame, axes, dV_dq, none, none, J, point);
}

template <class S>
void frame_acceleration_derivatives(const Model& model, const Data<S>& data, const Frame& frame,
                                    Axes axes, S* dV_dq, S* dA_dq, S* dA_dv, S* J,
                                    const Vec3<S>& point = Vec3<S>()) {
  detail::frame_derivatives<true>(model, data, frame, axes, dV_dq, dA_dq, dA_dv, J, point);
}

}  // namespace robosim

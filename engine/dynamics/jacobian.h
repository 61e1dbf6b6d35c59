// Jacobian of a frame at a point fixed in it, (linear; angular) velocity = J v, and its derivative
// in time.
//
//   frame_jacobian(model, data, frame, axes, J, point)          6 x n_v, after motion_subspaces
//   frame_jacobian_dot(model, data, frame, axes, J_dot, point)  6 x n_v, after forward_velocities
//
// The column of a joint on the path to the root is its motion (w, v) in frame G (data.h), taken at
// the point p: linear = v + w x p, angular = w. Siciliano et al., "Robotics" (2009), eq. 3.30. In
// time the column moves with its joint's body, by V_i x J, and p with the frame, which adds w x
// p_dot to the linear part. In local axes, R^T J, the axes turn with the frame, which subtracts w_F
// x J. Cost O(depth).
//
// J_dot is the true derivative of J in either axes, as Pinocchio's getFrameJacobianTimeVariation
// for LOCAL_WORLD_ALIGNED and LOCAL. So J_dot v is the classical acceleration at a = 0 in world
// axes. In local axes it is the rate of R^T (linear; angular), that is, the spatial acceleration:
// the classical one minus w_F x the point's velocity.
#pragma once

#include "dynamics/kinematics.h"

namespace robosim {

namespace detail {

// Add a motion or force to a column of a 6-row matrix in the public order: rows 0..2 linear, 3..5
// angular. With mimic joints, several joints share a column.
template <class Spatial, class S>
ROBOSIM_INLINE void add_column(const Spatial& x, S* to, int n_columns) {
  for (int i = 0; i < 3; ++i) {
    to[i * n_columns] += x.linear[i];
    to[(3 + i) * n_columns] += x.angular[i];
  }
}

}  // namespace detail

template <class S>
void frame_jacobian(const Model& model, const Data<S>& data, const Frame& frame, Axes axes, S* J,
                    const Vec3<S>& point = Vec3<S>()) {
  const int n_v = model.n_v;
  for (int k = 0; k < 6 * n_v; ++k) J[k] = S(0);
  const Vec3<S> p = detail::frame_offset(data, frame, point);
  const Mat3<S> R = detail::frame_rotation(data, frame);
  for_each_on_path(model, frame.body, [&](int c) {
    detail::add_column(detail::with_axes(R, axes, at_point(data.J[c], p)), J + model.column_v[c],
                       n_v);
  });
}

template <class S>
void frame_jacobian_dot(const Model& model, const Data<S>& data, const Frame& frame, Axes axes,
                        S* J_dot, const Vec3<S>& point = Vec3<S>()) {
  const int n_v = model.n_v;
  for (int k = 0; k < 6 * n_v; ++k) J_dot[k] = S(0);
  const Vec3<S> p = detail::frame_offset(data, frame, point);
  const Mat3<S> R = detail::frame_rotation(data, frame);
  const Motion<S> V_F = at_point(data.V[frame.body], p);
  for (int i = frame.body; i > 0; i = model.joints[i].parent) {
    const Joint& joint = model.joints[i];
    const Motion<S> V = at_point(data.V[i], p);
    for (int c = joint.column; c < joint.column + joint.n_v; ++c) {
      const Motion<S> J = at_point(data.J[c], p);
      Motion<S> rate = cross(V, J);
      rate.linear = cross_add(J.angular, V_F.linear, rate.linear);  // the point moves
      if (axes == Axes::local) {
        rate.angular = cross_subtract(V_F.angular, J.angular, rate.angular);
        rate.linear = cross_subtract(V_F.angular, J.linear, rate.linear);
      }
      detail::add_column(detail::with_axes(R, axes, rate), J_dot + model.column_v[c], n_v);
    }
  }
}

extern template void frame_jacobian(const Model&, const Data<double>&, const Frame&, Axes, double*,
                                    const Vec3<double>&);

}  // namespace robosim

// Forward kinematics: poses, velocities and accelerations of every body from q, v and a, from root
// to leaves.
//
//   X_WB(i) = X_WB(parent) X_PC(q)
//   V_i = V_parent + J_i v_i
//   A_i = A_parent + J_i a_i + V_parent x J_i v_i
// where J_i has the joint's columns in frame G (data.h). The last term is the motion of J_i with
// the body, as J_i v_i x J_i v_i = 0. Featherstone, "Rigid Body Dynamics Algorithms" (2008), eqs.
// 5.7 and 5.8. Cost O(n).
#pragma once

#include "base/lane_math.h"
#include "model/data.h"
#include "model/joints.h"

namespace robosim {

// Sines and cosines of all angles in q. Fills data.angle, sine, cosine.
template <class S>
void joint_angles(const Model& model, Data<S>& data, const S* q) {
  const int n = static_cast<int>(model.angle_joints.size());
  for (int t = 0; t < n; ++t) {
    const Joint& joint = model.joints[model.angle_joints[t]];
    data.angle[t] = joint_angle(joint, q + joint.q_index);
  }
  sin_cos_each(n, data.angle.data(), data.sine.data(), data.cosine.data());
}

namespace detail {

// Requires joint_angles.
template <class S>
ROBOSIM_INLINE void place_body(const Model& model, Data<S>& data, int i, const S* q) {
  const Joint& joint = model.joints[i];
  const int angle = joint.angle < 0 ? 0 : joint.angle;  // unused by joints without an angle
  const SE3<S> X_PC = joint_placement(joint, q + joint.q_index, data.sine.data() + angle,
                                      data.cosine.data() + angle);
  data.X_WB[i] = joint.parent > 0 ? data.X_WB[joint.parent] * X_PC : X_PC;
}

// Transform a joint's column from the body's frame to G.
template <class S>
ROBOSIM_INLINE Motion<S> in_ground(const Mat3<S>& R, const Vec3<S>& p,
                                   const AngularMotion<S>& column) {
  const Vec3<S> w = R * column.angular;
  return {w, cross(p, w)};
}
template <class S>
ROBOSIM_INLINE Motion<S> in_ground(const Mat3<S>& R, const Vec3<S>&,
                                   const LinearMotion<S>& column) {
  return {Vec3<S>(), R * column.linear};
}
template <class S>
ROBOSIM_INLINE Motion<S> in_ground(const Mat3<S>& R, const Vec3<S>& p, const Motion<S>& column) {
  const Vec3<S> w = R * column.angular;
  return {w, times_add(R, column.linear, cross(p, w))};
}

template <class S>
ROBOSIM_INLINE void body_subspace(const Model& model, Data<S>& data, int i) {
  const Joint& joint = model.joints[i];
  const SE3<S>& X_WB = data.X_WB[i];
  data.p_OB[i] = X_WB.p - data.X_WB[1].p;
  visit_joint(
      joint.type, [&]<class J>(J) __attribute__((always_inline)) {
        if constexpr (requires {
                        J::columns_in_ground(joint, X_WB.R, data.p_OB[i], &data.J[joint.column]);
                      })
          J::columns_in_ground(joint, X_WB.R, data.p_OB[i], &data.J[joint.column]);
        else
          for (int k = 0; k < J::n_v; ++k)
            data.J[joint.column + k] =
                in_ground(X_WB.R, data.p_OB[i], J::template column<S>(joint, k));
      });
  if (joint.mimic) data.J[joint.column] = S(joint.ratio) * data.J[joint.column];
}

}  // namespace detail

// q: n_q entries. Fills data.X_WB.
template <class S>
void forward_kinematics(const Model& model, Data<S>& data, const S* q) {
  joint_angles(model, data, q);
  for (int i = 1; i < model.n_bodies(); ++i) detail::place_body(model, data, i, q);
}

// Requires forward_kinematics. Fills data.p_OB and J.
template <class S>
void motion_subspaces(const Model& model, Data<S>& data) {
  for (int i = 1; i < model.n_bodies(); ++i) detail::body_subspace(model, data, i);
}

// forward_kinematics and motion_subspaces in one sweep.
template <class S>
void position_stage(const Model& model, Data<S>& data, const S* q) {
  joint_angles(model, data, q);
  for (int i = 1; i < model.n_bodies(); ++i) {
    detail::place_body(model, data, i, q);
    detail::body_subspace(model, data, i);
  }
}

// J_i x: motion of joint i's body relative to its parent, for x = v or a; `x` points to the joint's
// own entries.
template <class S>
ROBOSIM_INLINE Motion<S> joint_motion(const Data<S>& data, const Joint& joint, const S* x) {
  return visit_columns(
      joint, [&](auto columns) __attribute__((always_inline)) {
        Motion<S> sum = x[0] * data.J[joint.column];
        for (int k = 1; k < columns.n_v; ++k) sum = mul_add(x[k], data.J[joint.column + k], sum);
        return sum;
      });
}

// v: n_v entries. Requires motion_subspaces. Fills data.V.
template <class S>
void forward_velocities(const Model& model, Data<S>& data, const S* v) {
  const int n = model.n_bodies();
  for (int i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    data.V[i] = data.V[joint.parent] + joint_motion(data, joint, v + joint.v_index);
  }
}

// v, a: n_v entries. Requires motion_subspaces. Fills data.V and A.
template <class S>
void forward_accelerations(const Model& model, Data<S>& data, const S* v, const S* a) {
  const int n = model.n_bodies();
  for (int i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    const Motion<S> Jv = joint_motion(data, joint, v + joint.v_index), &V = data.V[joint.parent];
    data.A[i] = data.A[joint.parent] + joint_motion(data, joint, a + joint.v_index) + cross(V, Jv);
    data.V[i] = V + Jv;
  }
}

// Pose X_WF of a frame. Requires forward_kinematics.
template <class S>
SE3<S> frame_placement(const Model&, const Data<S>& data, const Frame& frame) {
  return data.X_WB[frame.body] * SE3<S>(frame.X_BF);
}

enum class Axes : bool { world, local };

// Call f(l) for every column l >= from on the path from the root to body i, including those of its
// own joint.
template <class F>
ROBOSIM_INLINE void for_each_on_path(const Model& model, int i, F&& f, int from = 0) {
  for (int r = model.run_begin[i]; r < model.run_begin[i + 1]; ++r) {
    const Model::Run run = model.runs[r];
    for (int l = run.first > from ? run.first : from; l < run.first + run.count; ++l) f(l);
  }
}

// Return true if the path to body i begins with columns 0 to 5 of a floating base. These are unit
// motions along body 1's axes at O, so that their transposed products reduce to its rotation.
inline bool on_floating_base(const Model& model, int i) {
  const int r = model.run_begin[i];
  return r < model.run_begin[i + 1] && model.runs[r].first == 0 &&
         has_unit_columns(model.joints[1]);
}

namespace detail {

// Vector from O to a point given in the frame, in world axes.
template <class S>
Vec3<S> frame_offset(const Data<S>& data, const Frame& frame, const Vec3<S>& point = Vec3<S>()) {
  const Vec3<S> p_B = times_add(Mat3<S>(frame.X_BF.R), point, Vec3<S>(frame.X_BF.p));
  return times_add(data.X_WB[frame.body].R, p_B, data.p_OB[frame.body]);
}

template <class S>
Mat3<S> frame_rotation(const Data<S>& data, const Frame& frame) {
  return data.X_WB[frame.body].R * Mat3<S>(frame.X_BF.R);
}

// Motion in the requested axes; R: rotation of the frame.
template <class S>
ROBOSIM_INLINE Motion<S> with_axes(const Mat3<S>& R, Axes axes, const Motion<S>& V_W) {
  if (axes == Axes::world) return V_W;
  return {transpose_times(R, V_W.angular), transpose_times(R, V_W.linear)};
}

}  // namespace detail

// The functions below are about a frame and a point fixed in it, given in the frame; by default
// its origin.

// Angular velocity of the frame and velocity of the point. Requires forward_velocities.
template <class S>
Motion<S> frame_velocity(const Model&, const Data<S>& data, const Frame& frame, Axes axes,
                         const Vec3<S>& point = Vec3<S>()) {
  const Motion<S> V = at_point(data.V[frame.body], detail::frame_offset(data, frame, point));
  return detail::with_axes(detail::frame_rotation(data, frame), axes, V);
}

// Angular acceleration of the frame and classical acceleration of the point (d^2 p /
// dt^2, not the spatial acceleration), as an accelerometer without gravity measures it.
// Requires forward_accelerations.
template <class S>
Motion<S> frame_acceleration(const Model&, const Data<S>& data, const Frame& frame, Axes axes,
                             const Vec3<S>& point = Vec3<S>()) {
  const Vec3<S> p = detail::frame_offset(data, frame, point);
  const Motion<S> V = at_point(data.V[frame.body], p), A = at_point(data.A[frame.body], p);
  const Motion<S> classical{A.angular, cross_add(V.angular, V.linear, A.linear)};
  return detail::with_axes(detail::frame_rotation(data, frame), axes, classical);
}

extern template void forward_kinematics(const Model&, Data<double>&, const double*);
extern template void motion_subspaces(const Model&, Data<double>&);
extern template void forward_velocities(const Model&, Data<double>&, const double*);
extern template void forward_accelerations(const Model&, Data<double>&, const double*,
                                           const double*);

}  // namespace robosim

// Frame Jacobian: (linear; angular) velocity of a frame = J v, n_v columns, for body-side velocities.
//
// Column of a joint on the way to the root: its axis moved to the frame, linear = v + w x (p_WF - p_WC), angular = w, with
// S = (w, v) turned into world axes. Siciliano et al., "Robotics" (2009), eq. 3.30. Cost O(depth).
#pragma once

#include "dynamics/kinematics.h"

namespace robosim {

// After forward_kinematics. J: 6 x n_v, row by row; rows 0..2 linear, 3..5 angular, the public order of 6-vectors. The
// velocity is that of the frame's origin, in the given axes.
template <class S>
void frame_jacobian(const Model& model, const Data<S>& data, const Frame& frame, Axes axes, S* J) {
  const int n_v = model.n_v;
  for (int k = 0; k < 6 * n_v; ++k) J[k] = S(0);
  const SE3<S> X_WF = frame_placement(model, data, frame);
  for (int i = frame.body; i > 0; i = model.joints[i].parent) {
    const Joint& joint = model.joints[i];
    const SE3<S>& X_WC = data.X_WB[i];
    const Vec3<S> p_CF_W = X_WF.p - X_WC.p;
    visit_joint(joint.type, [&]<class J_>(J_) {
      for (int k = 0; k < J_::n_v; ++k) {
        const Motion<S> column = Motion<S>() + S(joint.ratio) * J_::template column<S>(joint.axis, k);
        Vec3<S> w = X_WC.R * column.angular;
        Vec3<S> v = X_WC.R * column.linear + cross(w, p_CF_W);
        if (axes == Axes::local) w = transpose_times(X_WF.R, w), v = transpose_times(X_WF.R, v);
        S* to = J + joint.v_index + k;  // several joints share a column where some mimic another
        to[0] += v.x, to[n_v] += v.y, to[2 * n_v] += v.z;
        to[3 * n_v] += w.x, to[4 * n_v] += w.y, to[5 * n_v] += w.z;
      }
    });
  }
}

extern template void frame_jacobian(const Model&, const Data<double>&, const Frame&, Axes, double*);

}  // namespace robosim

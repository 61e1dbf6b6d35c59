// Frame Jacobian: (linear; angular) velocity of a frame = J v, n_v columns, for body-side velocities.
//
// Column of a joint on the way to the root: its motion (w, v) in frame G (data.h), taken at the frame's origin p, which is
// linear = v + w x p, angular = w. Siciliano et al., "Robotics" (2009), eq. 3.30. Cost O(depth).
#pragma once

#include "dynamics/kinematics.h"

namespace robosim {

// After motion_subspaces. J: 6 x n_v, row by row; rows 0..2 linear, 3..5 angular, the public order of 6-vectors. The
// velocity is that of the frame's origin, in the given axes.
template <class S>
void frame_jacobian(const Model& model, const Data<S>& data, const Frame& frame, Axes axes, S* J) {
  const int n_v = model.n_v;
  for (int k = 0; k < 6 * n_v; ++k) J[k] = S(0);
  const Vec3<S> p = detail::frame_offset(data, frame);
  const Mat3<S> R = data.X_WB[frame.body].R * Mat3<S>(frame.X_BF.R);
  for_each_on_path(model, frame.body, [&](int c) {
    Vec3<S> w = data.J[c].angular, v = cross_add(w, p, data.J[c].linear);
    if (axes == Axes::local) w = transpose_times(R, w), v = transpose_times(R, v);
    S* to = J + model.column_v[c];  // several joints share a column where some mimic another
    to[0] += v.x, to[n_v] += v.y, to[2 * n_v] += v.z;
    to[3 * n_v] += w.x, to[4 * n_v] += w.y, to[5 * n_v] += w.z;
  });
}

extern template void frame_jacobian(const Model&, const Data<double>&, const Frame&, Axes, double*);

}  // namespace robosim

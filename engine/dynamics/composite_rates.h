// Velocity-dependent terms of composite inertias: momentum h, the matrix 2 B of rnea_derivatives.h,
// and the derivatives of the columns in time. They determine the rate of an inertia in the common
// frame G (data.h):
//   dI/dt = V x I - I V x = 2 B - (h x-bar),   (dI/dt) x = 2 B x - x x h
// Echeandia and Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel symbols
// for rigid-body systems", Journal of Computational and Nonlinear Dynamics 16(9), 2021.
#pragma once

#include "dynamics/rnea_derivatives.h"

namespace robosim::detail {

// Terms of every single body. Requires body_inertias. Fills data.V, J_rate, I_c, h_c, K_c.
template <class S>
void rates_outward(const Model& model, Data<S>& data, const S* v) {
  forward_velocities(model, data, v);
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    for (int c = joint.column; c < joint.column + joint.n_v; ++c)
      data.J_rate[c] = cross(data.V[i], data.J[c]);
    data.I_c[i] = data.I[i];
    data.h_c[i] = data.I[i] * data.V[i];
    data.K_c[i] = inertia_rate(data.I[i], data.V[i]);
  }
}

// Add a complete subtree to its parent's; inward.
template <class S>
ROBOSIM_INLINE void add_to_parent(const Model& model, Data<S>& data, int i) {
  const int parent = model.joints[i].parent;
  if (parent > 0) {
    data.I_c[parent] += data.I_c[i];
    data.h_c[parent] += data.h_c[i];
    data.K_c[parent] += data.K_c[i];
  }
}

}  // namespace robosim::detail

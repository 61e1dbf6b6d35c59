// Energies of the model, including links welded to the world.
//
//   kinetic    1/2 sum V^T I V + 1/2 sum armature v^2 = 1/2 v^T M v
//   potential  -m g . p_com, zero at the world's origin; that of the joints' springs is
//              spring_energy (joint_forces.h)
#pragma once

#include "dynamics/center_of_mass.h"

namespace robosim {

// Kinetic energy [J]. Requires forward_velocities.
template <class S>
S kinetic_energy(const Model& model, const Data<S>& data, const S* v) {
  S twice(0);
  for (int i = 1; i < model.n_bodies(); ++i) {
    // Velocity in the body's frame, in which its inertia is given.
    const Mat3<S>& R = data.X_WB[i].R;
    const Motion<S>& V = data.V[i];
    const Motion<S> V_B{transpose_times(R, V.angular),
                        transpose_times(R, cross_add(V.angular, data.p_OB[i], V.linear))};
    twice += dot(V_B, model.inertias[i] * V_B);
  }
  for (int k = 0; k < model.n_v; ++k) twice += S(model.armature[k]) * v[k] * v[k];
  return S(0.5) * twice;
}

// Potential energy of gravity [J]. Requires forward_kinematics.
template <class S>
S potential_energy(const Model& model, const Data<S>& data) {
  return -dot(Vec3<S>(model.gravity), mass_moment(model, data));
}

}  // namespace robosim

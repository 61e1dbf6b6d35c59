// Gradients of the energies, and the derivative of gravity forces:
//
//   kinetic_energy_derivatives(model, data, q, v, dT_dq, dT_dv)  n_v each; dT_dv = M v, the
//                                                                generalized momentum
//   gravity_forces(model, data, q, g)                            in rnea.h: the potential energy's,
//                                                                dU_dq = g
//   gravity_forces_derivatives(model, data, q, dg_dq)            n_v x n_v, g's derivative in the
//                                                                tangent space
//
// A displacement of column j by J_j that also turned the parent's velocity V would leave the energy
// unchanged. As V is fixed, it adds V x J_j to the velocity of every body moved by j. So with the
// momentum h_j of these bodies
//   dT/dq_j = (V x J_j)^T h_j,   dT/dv_j = J_j^T h_j + armature v_j
// The first moment of mass moved by j changes by m_j v_j + w_j x h_j. For i on the path from j to
// the root, j's own joint and i = j included,
//   dg_j/dq_i = w_i . (g x (m_j v_j + w_j x h_j)),   dg_i/dq_j equal for i above j's joint
// which is rnea_derivatives.h at rest. The derivative is not symmetric between columns of one joint
// whose directions do not commute. Cost O(n) and O(n depth).
#pragma once

#include "dynamics/center_of_mass.h"
#include "dynamics/rnea.h"

namespace robosim {

// q: n_q, v: n_v entries. Fills dT_dq, dT_dv (n_v each, neither of them v), and data.X_WB, J, V,
// h_c.
template <class S>
void kinetic_energy_derivatives(const Model& model, Data<S>& data, const S* q, const S* v, S* dT_dq,
                                S* dT_dv) {
  position_stage(model, data, q);
  forward_velocities(model, data, v);
  for (int i = 1; i < model.n_bodies(); ++i) data.h_c[i] = detail::momentum(model, data, i);
  for (int k = 0; k < model.n_v; ++k) {
    dT_dq[k] = S(0);
    dT_dv[k] = S(model.armature[k]) * v[k];
  }
  for (int i = model.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    const Force<S>& h = data.h_c[i];
    for (int c = joint.column; c < joint.column + joint.n_v; ++c) {
      dT_dq[model.column_v[c]] += dot(cross(data.V[joint.parent], data.J[c]), h);
      dT_dv[model.column_v[c]] += dot(data.J[c], h);
    }
    if (joint.parent > 0) data.h_c[joint.parent] += h;
  }
}

// q: n_q entries. Fills dg_dq (row by row), and data.X_WB, J, mass_c, moment_c.
template <class S>
void gravity_forces_derivatives(const Model& model, Data<S>& data, const S* q, S* dg_dq) {
  const int n_v = model.n_v;
  const Vec3<S> g(model.gravity);
  position_stage(model, data, q);
  mass_moments(model, data);
  for (int k = 0; k < n_v * n_v; ++k) dg_dq[k] = S(0);
  for (int i = model.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    for (int c = joint.column; c < joint.column + joint.n_v; ++c) {
      const int row = model.column_v[c];
      const Vec3<S> moment = cross(
          g, cross_add(data.J[c].angular, data.moment_c[i], data.mass_c[i] * data.J[c].linear));
      for (int l = joint.column; l < joint.column + joint.n_v; ++l)
        dg_dq[row * n_v + model.column_v[l]] += dot(data.J[l].angular, moment);
      for_each_on_path(model, joint.parent, [&](int l) {
        const S x = dot(data.J[l].angular, moment);
        dg_dq[row * n_v + model.column_v[l]] += x;
        dg_dq[model.column_v[l] * n_v + row] += x;
      });
    }
  }
}

}  // namespace robosim

// Inertias of bodies and subtrees in the common frame G (data.h), where inertias of several bodies
// add up.
#pragma once

#include "dynamics/kinematics.h"

namespace robosim {

namespace detail {

template <class S>
ROBOSIM_INLINE void body_inertia(const Model& model, const Data<S>& data, int i,
                                 CompositeInertia<S>& I) {
  const Inertia& body = model.inertias[i];
  const Mat3<S>& R = data.X_WB[i].R;
  const Vec3<S> c = times_add(R, Vec3<S>(body.com), data.p_OB[i]);
  I.mass = S(body.mass);
  I.h = I.mass * c;
  const Mat3d& I_com = body.I_com;
  const Sym3<S> I_B(S(I_com(0, 0)), S(I_com(0, 1)), S(I_com(0, 2)), S(I_com(1, 1)), S(I_com(1, 2)),
                    S(I_com(2, 2)));
  I.I_o = moved_from_com(rotated(R, I_B), I.h, c);
}

}  // namespace detail

// Inertia of each body in G. Requires motion_subspaces. Fills data.I.
template <class S>
void body_inertias(const Model& model, Data<S>& data) {
  for (int i = 1; i < model.n_bodies(); ++i) detail::body_inertia(model, data, i, data.I[i]);
}

namespace detail {

// position_stage and the inertias of bodies, written to I, in one sweep.
template <class S>
void inertia_stage(const Model& model, Data<S>& data, const S* q,
                   std::vector<CompositeInertia<S>>& I) {
  joint_angles(model, data, q);
  for (int i = 1; i < model.n_bodies(); ++i) {
    place_body(model, data, i, q);
    body_subspace(model, data, i);
    body_inertia(model, data, i, I[i]);
  }
}

}  // namespace detail

// position_stage and body_inertias in one sweep.
template <class S>
void inertia_stage(const Model& model, Data<S>& data, const S* q) {
  detail::inertia_stage(model, data, q, data.I);
}

// Inertia of every subtree. Requires body_inertias. Fills data.I_c.
template <class S>
void composite_inertias(const Model& model, Data<S>& data) {
  for (int i = 1; i < model.n_bodies(); ++i) data.I_c[i] = data.I[i];
  for (int i = model.n_bodies() - 1; i > 0; --i)
    if (const int parent = model.joints[i].parent; parent > 0) data.I_c[parent] += data.I_c[i];
}

}  // namespace robosim

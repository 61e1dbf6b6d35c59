// Composite rigid bodies: the joint-space mass matrix M(q), armature included.
//
// Inward: each body's composite inertia I_c is its own plus its children's. Then M_ij = J_j^T I_c,i J_i for each column j on
// the way from i to the root. Walker and Orin (1982); Featherstone, "Rigid Body Dynamics Algorithms" (2008), table 6.2, here
// in the common frame G (data.h). Cost O(n depth).
#pragma once

#include <algorithm>

#include "dynamics/kinematics.h"
#include "dynamics/tree_matrix.h"

namespace robosim {

namespace detail {

template <class S>
ROBOSIM_INLINE void body_inertia(const Model& model, const Data<S>& data, int i, CompositeInertia<S>& I) {
  const Inertia& body = model.inertias[i];
  const Mat3<S>& R = data.X_WB[i].R;
  const Vec3<S> c = times_add(R, Vec3<S>(body.com), data.p_OB[i]);
  I.mass = S(body.mass), I.h = I.mass * c;
  const Mat3d& I_com = body.I_com;
  I.I_o = rotated(R, Sym3<S>(S(I_com(0, 0)), S(I_com(0, 1)), S(I_com(0, 2)), S(I_com(1, 1)), S(I_com(1, 2)), S(I_com(2, 2))));
  I.I_o += symmetric_shift(S(0.5) * I.h, c);  // m (c.c 1 - c c^T)
}

}  // namespace detail

// Each body's own inertia in G; after motion_subspaces. Fills data.I.
template <class S>
void body_inertias(const Model& model, Data<S>& data) {
  for (int i = 1; i < model.n_bodies(); ++i) detail::body_inertia(model, data, i, data.I[i]);
}

namespace detail {

// position_stage and the bodies' inertias, written to I, in one sweep.
template <class S>
void inertia_stage(const Model& model, Data<S>& data, const S* q, std::vector<CompositeInertia<S>>& I) {
  joint_angles(model, data, q);
  for (int i = 1; i < model.n_bodies(); ++i) {
    place_body(model, data, i, q);
    body_subspace(model, data, i);
    body_inertia(model, data, i, I[i]);
  }
}

template <class S>
void sum_subtrees(const Model& model, std::vector<CompositeInertia<S>>& I) {
  for (int i = model.n_bodies() - 1; i > 0; --i)
    if (const int parent = model.joints[i].parent; parent > 0) I[parent] += I[i];
}

}  // namespace detail

// position_stage and body_inertias in one sweep.
template <class S>
void inertia_stage(const Model& model, Data<S>& data, const S* q) {
  detail::inertia_stage(model, data, q, data.I);
}

// Of every subtree; after body_inertias. Fills data.I_c.
template <class S>
void composite_inertias(const Model& model, Data<S>& data) {
  for (int i = 1; i < model.n_bodies(); ++i) data.I_c[i] = data.I[i];
  detail::sum_subtrees(model, data.I_c);
}

namespace detail {

// What columns c and l <= c have in common, to the lower triangle, or to both (tree_matrix.h). Where joints mimic others
// several columns share a coordinate, and what two of them have in common counts twice.
template <bool mimic, class S>
ROBOSIM_INLINE void add_lower(const Model& model, int c, int l, const S& x, S* M) {
  if constexpr (mimic) {
    const auto [column, row] = std::minmax(model.column_v[c], model.column_v[l]);
    M[row * model.n_v + column] += row == column && c != l ? x + x : x;
    if (fills_both<S> && row != column) M[column * model.n_v + row] = M[row * model.n_v + column];
  } else {
    M[c * model.n_v + l] = x;
    if constexpr (fills_both<S>) M[l * model.n_v + c] = x;
  }
}

// Before columns are added to M: the drives, where each entry is written more than once.
template <bool mimic, class S>
void begin_mass_matrix(const Model& model, S* M) {
  if constexpr (mimic) {
    for (int k = 0; k < model.n_v * model.n_v; ++k) M[k] = S(0);
    for (int k = 0; k < model.n_v; ++k) M[k * model.n_v + k] = S(model.armature[k]);
  }
}
// The diagonal's part of column c.
template <bool mimic, class S>
ROBOSIM_INLINE void add_diagonal(const Model& model, int c, const S& x, S* M) {
  if constexpr (mimic) add_lower<true>(model, c, c, x, M);
  else M[c * model.n_v + c] = S(model.armature[c]) + x;
}

// After composite_inertias. Fills M as Pattern::tree_lower.
template <bool mimic, class S>
void crba_sweep(const Model& model, Data<S>& data, S* M) {
  const int n = model.n_bodies();
  begin_mass_matrix<mimic>(model, M);
  for (int i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    visit_joint(joint.type, [&]<class J>(J) {
      for (int c = joint.column; c < joint.column + J::n_v; ++c) {
        const Force<S> F = data.I_c[i] * data.J[c];
        add_diagonal<mimic>(model, c, dot(data.J[c], F), M);
        for (int l = joint.column; l < c; ++l) add_lower<mimic>(model, c, l, dot(data.J[l], F), M);
        for_each_on_path(model, joint.parent, [&](int l) { add_lower<mimic>(model, c, l, dot(data.J[l], F), M); });
      }
    });
  }
}

}  // namespace detail

// q: n_q entries. Fills M (n_v x n_v) as Pattern::tree_lower, and data.X_WB, J, I_c.
template <class S>
void crba_lower(const Model& model, Data<S>& data, const S* q, S* M) {
  detail::inertia_stage(model, data, q, data.I_c);
  detail::sum_subtrees(model, data.I_c);
  if (model.has_mimic) detail::crba_sweep<true>(model, data, M);
  else detail::crba_sweep<false>(model, data, M);
}

// The same, all of M.
template <class S>
void crba(const Model& model, Data<S>& data, const S* q, S* M) {
  clear_unrelated(model, Pattern::tree_lower, M);
  crba_lower(model, data, q, M);
  mirror(model, Pattern::tree_lower, M);
}

extern template void crba(const Model&, Data<double>&, const double*, double*);

}  // namespace robosim

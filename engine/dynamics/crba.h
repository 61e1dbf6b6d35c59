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
  const Sym3<S> I_B(S(I_com(0, 0)), S(I_com(0, 1)), S(I_com(0, 2)), S(I_com(1, 1)), S(I_com(1, 2)), S(I_com(2, 2)));
  I.I_o = moved_from_com(rotated(R, I_B), I.h, c);
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
  for (int i = model.n_bodies() - 1; i > 0; --i)
    if (const int parent = model.joints[i].parent; parent > 0) data.I_c[parent] += data.I_c[i];
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

// The block of a floating base, whose columns in its own axes at O, its origin, are unit vectors: the whole robot's inertia,
//   M = [m 1, -[h]; [h], I_o]    (linear before angular)
template <bool mimic, class S>
void add_floating_base(const Model& model, const Mat3<S>& R, const CompositeInertia<S>& I, S* M) {
  const Mat3<S> R_BW = transpose(R);
  const Vec3<S> h = R_BW * I.h;
  const Sym3<S> I_o = rotated(R_BW, I.I_o);
  const S zero(0);
  const S lower[6][6] = {{I.mass},
                         {zero, I.mass},
                         {zero, zero, I.mass},
                         {zero, -h.z, h.y, I_o.xx},
                         {h.z, zero, -h.x, I_o.xy, I_o.yy},
                         {-h.y, h.x, zero, I_o.xz, I_o.yz, I_o.zz}};
  for (int c = 0; c < 6; ++c) {
    add_diagonal<mimic>(model, c, lower[c][c], M);
    for (int l = 0; l < c; ++l) add_lower<mimic>(model, c, l, lower[c][l], M);
  }
}

// data.I_c: of each body by itself; becomes what composite_inertias fills. Fills M as Pattern::tree_lower.
template <bool mimic, class S>
void crba_sweep(const Model& model, Data<S>& data, S* M) {
  const int n = model.n_bodies();
  const bool floating_base = n > 1 && has_unit_columns(model.joints[1]);
  const Mat3<S>& R_base = data.X_WB[n > 1 ? 1 : 0].R;
  begin_mass_matrix<mimic>(model, M);
  for (int i = n - 1; i > (floating_base ? 1 : 0); --i) {
    const Joint& joint = model.joints[i];
    const CompositeInertia<S> I = data.I_c[i];
    if (joint.parent > 0) data.I_c[joint.parent] += I;
    visit_joint(joint.type, [&]<class J>(J) {
      for (int c = joint.column; c < joint.column + J::n_v; ++c) {
        const Force<S> F = I * data.J[c];
        add_diagonal<mimic>(model, c, dot(data.J[c], F), M);
        for (int l = joint.column; l < c; ++l) add_lower<mimic>(model, c, l, dot(data.J[l], F), M);
        for (int r = model.run_begin[joint.parent]; r < model.run_begin[joint.parent + 1]; ++r) {
          const Model::Run run = model.runs[r];
          int l = run.first;
          if (floating_base && l == 0) {  // all six at once, in the base's axes
            const Vec3<S> f = transpose_times(R_base, F.linear), moment = transpose_times(R_base, F.angular);
            for (; l < 3; ++l) add_lower<mimic>(model, c, l, f[l], M), add_lower<mimic>(model, c, 3 + l, moment[l], M);
            l = 6;
          }
          for (; l < run.first + run.count; ++l) add_lower<mimic>(model, c, l, dot(data.J[l], F), M);
        }
      }
    });
  }
  if (floating_base) add_floating_base<mimic>(model, R_base, data.I_c[1], M);
}

}  // namespace detail

// q: n_q entries. Fills M (n_v x n_v) as Pattern::tree_lower, and data.X_WB, J, I_c.
template <class S>
void crba_lower(const Model& model, Data<S>& data, const S* q, S* M) {
  detail::inertia_stage(model, data, q, data.I_c);
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

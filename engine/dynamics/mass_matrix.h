// Entries of the joint-space mass matrix, and the matrix from composite inertias in the common
// frame G, for algorithms that compute these anyway. crba is faster for the mass matrix alone.
#pragma once

#include <algorithm>

#include "dynamics/body_inertias.h"
#include "dynamics/tree_matrix.h"

namespace robosim {
namespace detail {

// Add the product of columns c and l <= c to the lower triangle, or to both (tree_matrix.h). With
// mimic joints several columns share a coordinate, and the product of two of them counts twice.
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

// Initialize M with the armature if entries are written more than once.
template <bool mimic, class S>
void begin_mass_matrix(const Model& model, S* M) {
  if constexpr (mimic) {
    for (int k = 0; k < model.n_v * model.n_v; ++k) M[k] = S(0);
    for (int k = 0; k < model.n_v; ++k) M[k * model.n_v + k] = S(model.armature[k]);
  }
}
// Add the diagonal entry of column c.
template <bool mimic, class S>
ROBOSIM_INLINE void add_diagonal(const Model& model, int c, const S& x, S* M) {
  if constexpr (mimic)
    add_lower<true>(model, c, c, x, M);
  else
    M[c * model.n_v + c] = S(model.armature[c]) + x;
}

// Block of a floating base: the inertia of the whole robot, since the base's columns in its own
// axes at O, its origin, are unit vectors,
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

// data.I_c: inertias of the single bodies, overwritten by those of composite_inertias. Fills M
// as Pattern::tree_lower.
template <bool mimic, class S>
void mass_matrix_sweep(const Model& model, Data<S>& data, S* M) {
  const int n = model.n_bodies();
  const bool floating_base = n > 1 && has_unit_columns(model.joints[1]);
  const Mat3<S>& R_base = data.X_WB[n > 1 ? 1 : 0].R;
  begin_mass_matrix<mimic>(model, M);
  for (int i = n - 1; i > (floating_base ? 1 : 0); --i) {
    const Joint& joint = model.joints[i];
    const CompositeInertia<S> I = data.I_c[i];
    if (joint.parent > 0) data.I_c[joint.parent] += I;
    visit_columns(joint, [&](auto columns) {
      for (int c = joint.column; c < joint.column + columns.n_v; ++c) {
        const Force<S> F = I * data.J[c];
        add_diagonal<mimic>(model, c, dot(data.J[c], F), M);
        for (int l = joint.column; l < c; ++l) add_lower<mimic>(model, c, l, dot(data.J[l], F), M);
        const bool on_base = on_floating_base(model, joint.parent);
        if (on_base) {  // all six at once, in the base's axes
          const Force<S> f = transpose_times(R_base, F);
          for (int l = 0; l < 3; ++l) {
            add_lower<mimic>(model, c, l, f.linear[l], M);
            add_lower<mimic>(model, c, 3 + l, f.angular[l], M);
          }
        }
        const auto add = [&](int l) __attribute__((always_inline)) {
          add_lower<mimic>(model, c, l, dot(data.J[l], F), M);
        };
        for_each_on_path(model, joint.parent, add, on_base ? 6 : 0);
      }
    });
  }
  if (floating_base) add_floating_base<mimic>(model, R_base, data.I_c[1], M);
}

}  // namespace detail
}  // namespace robosim

// Derivatives of inverse dynamics, tau = rnea(q, v, a), with wrenches fixed in world axes at their
// frames' origins: dtau_dq, dtau_dv and dtau_da = M, each n_v x n_v, in the tangent space
// (body-side perturbations of q).
//
// Closed forms over subtrees, in frame G (data.h). A displacement of column j by J_j moves its
// subtree rigidly. With V, A of the parent,
//   J_dot_j = V x J_j,  J_ddot_j = (A - g) x J_j + V x J_dot_j,  J_sum_j = J_dot_j + V_j x J_j,
// and composites of the lower body of the two (F the force that the subtree requires, 2 B below),
// for column j on the path to row i or i itself:
//   dtau_i/dq_j = J_i^T (2 B_i J_dot_j + I_i J_ddot_j)
//   dtau_i/dv_j = J_i^T (2 B_i J_j + I_i J_sum_j)
// and for i strictly above j:
//   dtau_i/dq_j = J_i^T (2 B_j J_dot_j + I_j J_ddot_j + J_j x F_j)
//   dtau_i/dv_j = J_i^T (2 B_j J_j + I_j J_sum_j)
// Singh, Russo and Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial
// vector algebra", IEEE Robotics and Automation Letters 7(2), 2022, eqs. 32 to 37. There 2 B = V x
// I - I V x + (I V) x-bar is a 6x6 matrix of each body. Its right half vanishes, and with the
// momentum (n, l) = I V it is
//   2 B (w, v) = (K w - n x w, -2 l x w)
//   K = [w] I_o - I_o [w] + 2 (v . h) 1 - h v^T - v h^T    (symmetric)
// These are 12 numbers, which add up over a subtree. Wrenches: see detail::wrench_row. Cost
// O(n depth).
#pragma once

#include "dynamics/mass_matrix.h"
#include "dynamics/rnea.h"

namespace robosim {

namespace detail {

// K of the header for a body that moves with V.
template <class S>
ROBOSIM_INLINE Sym3<S> inertia_rate(const CompositeInertia<S>& I, const Motion<S>& V) {
  const Vec3<S>&w = V.angular, &v = V.linear, &h = I.h;
  // Columns of [w] I_o.
  const Vec3<S> z0 = cross(w, I.I_o.row0()), z1 = cross(w, I.I_o.row1()),
                z2 = cross(w, I.I_o.row2());
  const S vh2 = S(2) * dot(v, h);
  const auto entry = [&](const S& z, int i, int j) {
    return nmul_add(h[i], v[j], nmul_add(v[i], h[j], z));
  };
  return {entry(mul_add(S(2), z0.x, vh2), 0, 0),
          entry(z1.x + z0.y, 0, 1),
          entry(z2.x + z0.z, 0, 2),
          entry(mul_add(S(2), z1.y, vh2), 1, 1),
          entry(z2.y + z1.z, 1, 2),
          entry(mul_add(S(2), z2.z, vh2), 2, 2)};
}

// 2 B x, which depends on the angular part of x alone.
template <class S>
ROBOSIM_INLINE Force<S> twice_B(const Sym3<S>& K, const Force<S>& h, const Vec3<S>& w) {
  return {cross_subtract(h.angular, w, K * w), S(2) * cross(w, h.linear)};
}
// (2 B)^T x, whose linear part is zero.
template <class S>
ROBOSIM_INLINE Vec3<S> twice_B_transposed(const Sym3<S>& K, const Force<S>& h, const Motion<S>& x) {
  return cross_add(h.angular, x.angular, mul_add(S(2), cross(h.linear, x.linear), K * x.angular));
}

// For a wrench F = (n, f) fixed in world axes at a point p of a body: under a twist (w, v) of the
// body p moves, and F changes by ((v + w x p) x f, 0). Summed over a subtree this is (v x f + Y w,
// 0) with Y = sum p f^T - (p . f) 1. wrench_row is the part of dtau_i/dq_j = -(J_j x J_i)^T F -
// J_i^T dF, for i below or at j, that multiplies the angular part of J_j.
template <class S>
ROBOSIM_INLINE Vec3<S> wrench_row(const Force<S>& F, const Mat3<S>& Y, const Motion<S>& J_i) {
  return -(cross_add(J_i.angular, F.angular,
                     cross_add(J_i.linear, F.linear, transpose_times(Y, J_i.angular))));
}
// For i strictly above j: the force that J_i is multiplied with.
template <class S>
ROBOSIM_INLINE Vec3<S> wrench_column(const Force<S>& F, const Mat3<S>& Y, const Motion<S>& J_j) {
  return -(cross_add(J_j.linear, F.linear, Y * J_j.angular));
}

// Sum applied wrenches in G with their Y, per body. Requires motion_subspaces. Fills data.external,
// E_c, Y_c.
template <class S>
void sum_wrench_derivatives(const Model& model, Data<S>& data, Wrenches<S> wrenches) {
  sum_wrenches(model, data, wrenches);
  for (int i = 1; i < model.n_bodies(); ++i) {
    data.E_c[i] = data.external[i];
    data.Y_c[i] = Mat3<S>();
  }
  for (const AppliedWrench<S>& wrench : wrenches) {
    const Frame& frame = model.frames[wrench.frame];
    const Vec3<S> p = frame_offset(data, frame), &f = wrench.F.linear;
    const S pf = dot(p, f);
    Mat3<S>& Y = data.Y_c[frame.body];
    Y += Mat3<S>(p.x * f, p.y * f, p.z * f);
    Y -= Mat3<S>::diagonal(pf, pf, pf);
  }
}

// Compute velocities, accelerations, the columns' rates and the F, momentum and K of every single
// body. Requires body_inertias. Fills data.V, A, J_dot, J_ddot, J_sum, F, h_c, K_c, and unless
// `composites` exist already the I_c of every single body.
template <bool composites, class S>
void derivatives_outward(const Model& model, Data<S>& data, const S* v, const S* a,
                         const Vec3<S>& g) {
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    const Motion<S> V = data.V[joint.parent], A_parent = data.A[joint.parent];
    const Motion<S> A_g{A_parent.angular, A_parent.linear - g};
    visit_columns(joint, [&](auto columns) {
      Motion<S> V_i = V, A_i = A_parent;
      for (int k = 0; k < columns.n_v; ++k) {
        const int c = joint.column + k;
        const Motion<S>&column = data.J[c], J_dot = cross(V, column);
        data.J_dot[c] = J_dot;
        data.J_ddot[c] = cross(A_g, column) + cross(V, J_dot);
        V_i = mul_add(v[joint.v_index + k], column, V_i);
        A_i = mul_add(v[joint.v_index + k], J_dot, mul_add(a[joint.v_index + k], column, A_i));
      }
      data.V[i] = V_i;
      data.A[i] = A_i;
      // For a single column V_i x J = V x J.
      for (int c = joint.column; c < joint.column + columns.n_v; ++c)
        data.J_sum[c] = data.J_dot[c] + (columns.is_single ? data.J_dot[c] : cross(V_i, data.J[c]));
    });
    const CompositeInertia<S>& I = data.I[i];
    data.h_c[i] = I * data.V[i];
    data.F[i] =
        I * Motion<S>{data.A[i].angular, data.A[i].linear - g} + cross(data.V[i], data.h_c[i]);
    data.K_c[i] = inertia_rate(I, data.V[i]);
    if constexpr (!composites) data.I_c[i] = I;
  }
}

// Return true if the first joint is that of a base which only gravity and applied wrenches act on.
inline bool base_is_free(const Model& model) {
  const auto unhindered = [](double armature) { return armature == 0; };
  return model.n_bodies() > 1 && has_unit_columns(model.joints[1]) &&
         std::all_of(model.armature.begin(), model.armature.begin() + 6, unhindered);
}

// Sweep over all rows. Requires body_inertias, and for `negative` composite_inertias. Fills dtau_dq
// and dtau_dv, their rows `stride` apart, on the tree's pattern (with zeros elsewhere if joints
// mimic others), and M as mass_matrix_sweep. `negative`: fills the negative of the former two, for
// solves with M, without M and without those columns of a free base that are known after the solve
// (forward_dynamics_derivatives.h). `general`: with mimic joints, whose columns share coordinates,
// or with wrenches.
template <bool general, bool negative, class S>
void rnea_derivatives_sweep(const Model& model, Data<S>& data, const S* v, const S* a, S* dtau_dq,
                            S* dtau_dv, int stride, S* M, Wrenches<S> wrenches) {
  const auto v_of = [&](int c) {
    if constexpr (general)
      return model.column_v[c];
    else
      return c;
  };
  if constexpr (general) sum_wrench_derivatives(model, data, wrenches);
  derivatives_outward<negative>(model, data, v, a, Vec3<S>(model.gravity));
  if constexpr (general)
    for (int k = 0; k < model.n_v * stride; ++k) dtau_dq[k] = dtau_dv[k] = S(0);
  if constexpr (!negative) begin_mass_matrix<general>(model, M);
  // Columns of the base in dtau_dq, and the first three in dtau_dv, are known.
  const bool known = negative && !general && base_is_free(model);
  for (int i = model.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    const bool on_base = !general && on_floating_base(model, joint.parent);
    const CompositeInertia<S>& I = data.I_c[i];
    const Sym3<S>& K = data.K_c[i];
    const Force<S>& h = data.h_c[i];
    visit_columns(joint, [&](auto columns) {
      for (int c = joint.column; c < joint.column + columns.n_v; ++c) {
        const Motion<S>& column = data.J[c];
        const int row = v_of(c);
        // Effect of this column's displacement on the subtree, for the rows above.
        Force<S> IJ = I * column;
        Force<S> by_q =
            twice_B(K, h, data.J_dot[c].angular) + I * data.J_ddot[c] + cross(column, data.F[i]);
        Force<S> by_v = twice_B(K, h, column.angular) + I * data.J_sum[c];
        // Effect of the columns above on this row.
        Vec3<S> BJ = twice_B_transposed(K, h, column);
        Vec3<S> wrench;
        if constexpr (general) {
          by_q.angular += wrench_column(data.E_c[i], data.Y_c[i], column);
          wrench = wrench_row(data.E_c[i], data.Y_c[i], column);
        }
        if constexpr (negative) {
          IJ = -IJ;
          by_q = -by_q;
          by_v = -by_v;
          BJ = -BJ;
          wrench = -wrench;
        }
        // Entries are zero before, unless mimic joints share them.
        const auto add = [](S& entry, const S& x) {
          if constexpr (general)
            entry += x;
          else
            entry = x;
        };
        const auto add_dq = [&](int l) __attribute__((always_inline)) {
          S dq = dot_add(BJ, data.J_dot[l].angular, dot(data.J_ddot[l], IJ));
          if constexpr (general) dq = dot_add(wrench, data.J[l].angular, dq);
          add(dtau_dq[row * stride + v_of(l)], dq);
        };
        const auto add_dv = [&](int l) __attribute__((always_inline)) {
          add(dtau_dv[row * stride + v_of(l)],
              dot_add(BJ, data.J[l].angular, dot(data.J_sum[l], IJ)));
        };
        if (!(known && i == 1))
          for (int l = joint.column; l < joint.column + columns.n_v; ++l) add_dq(l);
        for (int l = joint.column + (known && i == 1 ? 3 : 0); l < joint.column + columns.n_v; ++l)
          add_dv(l);
        if constexpr (!negative) {
          for (int l = joint.column; l < c; ++l)
            add_lower<general>(model, c, l, dot(data.J[l], IJ), M);
          add_diagonal<general>(model, c, dot(column, IJ), M);
        }
        if (on_base) {  // its six columns at once, in its axes
          const Mat3<S>& R = data.X_WB[1].R;
          const Force<S> dq{transpose_times(R, by_q.angular), transpose_times(R, by_q.linear)};
          const Force<S> dv{transpose_times(R, by_v.angular), transpose_times(R, by_v.linear)};
          for (int l = 0; l < 6; ++l) {
            dtau_dq[l * stride + row] = l < 3 ? dq.linear[l] : dq.angular[l - 3];
            dtau_dv[l * stride + row] = l < 3 ? dv.linear[l] : dv.angular[l - 3];
          }
          if constexpr (!negative) {
            const Force<S> f{transpose_times(R, IJ.angular), transpose_times(R, IJ.linear)};
            for (int l = 0; l < 6; ++l)
              add_lower<general>(model, c, l, l < 3 ? f.linear[l] : f.angular[l - 3], M);
          }
          if (!known)
            for (int l = 0; l < 6; ++l) add_dq(l);
          for (int l = known ? 3 : 0; l < 6; ++l) add_dv(l);
        }
        const auto add_both = [&](int l) __attribute__((always_inline)) {
          add_dq(l);
          add_dv(l);
          const int at = v_of(l) * stride + row;
          add(dtau_dq[at], dot(data.J[l], by_q));
          add(dtau_dv[at], dot(data.J[l], by_v));
          if constexpr (!negative) add_lower<general>(model, c, l, dot(data.J[l], IJ), M);
        };
        for_each_on_path(model, joint.parent, add_both, on_base ? 6 : 0);
      }
    });
    if (const int parent = joint.parent; parent > 0) {
      if constexpr (!negative) data.I_c[parent] += I;
      data.K_c[parent] += K;
      data.h_c[parent] += h;
      data.F[parent] += data.F[i];
      if constexpr (general) {
        data.E_c[parent] += data.E_c[i];
        data.Y_c[parent] += data.Y_c[i];
      }
    }
  }
}

template <bool negative, class S>
void rnea_derivatives_sweep(const Model& model, Data<S>& data, const S* v, const S* a, S* dtau_dq,
                            S* dtau_dv, int stride, S* M, Wrenches<S> wrenches) {
  if (wrenches.empty() && !model.has_mimic)
    rnea_derivatives_sweep<false, negative>(model, data, v, a, dtau_dq, dtau_dv, stride, M,
                                            wrenches);
  else
    rnea_derivatives_sweep<true, negative>(model, data, v, a, dtau_dq, dtau_dv, stride, M,
                                           wrenches);
}

}  // namespace detail

// q: n_q, v and a: n_v entries. Fills dtau_dq and dtau_dv (n_v x n_v, row by row) as Pattern::tree
// and M as Pattern::tree_lower; in data the members of rnea, crba and the derivative stage. data.F
// then holds the forces of the subtrees, without the wrenches.
template <class S>
void rnea_derivatives_on_tree(const Model& model, Data<S>& data, const S* q, const S* v, const S* a,
                              S* dtau_dq, S* dtau_dv, S* M, Wrenches<S> wrenches = {}) {
  inertia_stage(model, data, q);
  detail::rnea_derivatives_sweep<false>(model, data, v, a, dtau_dq, dtau_dv, model.n_v, M,
                                        wrenches);
}

// As rnea_derivatives_on_tree, but fills all of the matrices.
template <class S>
void rnea_derivatives(const Model& model, Data<S>& data, const S* q, const S* v, const S* a,
                      S* dtau_dq, S* dtau_dv, S* M, Wrenches<S> wrenches = {}) {
  for (S* matrix : {dtau_dq, dtau_dv, M}) clear_unrelated(model, Pattern::tree, matrix);
  rnea_derivatives_on_tree(model, data, q, v, a, dtau_dq, dtau_dv, M, wrenches);
  mirror(model, Pattern::tree_lower, M);
}

}  // namespace robosim

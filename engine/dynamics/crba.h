// Composite-rigid-body algorithm: the joint-space mass matrix M(q), armature included.
//
// Inward, in body frames: the composite inertia I_c of a body is its own plus its children's. I_c
// S_c is the force of unit motion of the joint's column c. Transformed to the body of each joint on
// the path to the root, it determines M_lc = S_l^T F_c. Walker and Orin (1982); Featherstone,
// "Rigid Body Dynamics Algorithms" (2008), table 6.2. In body frames most joints turn about
// coordinate axes: their columns select components, and placements need few products. No pose in
// the world is needed. Cost O(n depth).
#pragma once

#include "dynamics/mass_matrix.h"

namespace robosim {

namespace detail {

// Inertia of a single body, in its frame.
template <class S>
ROBOSIM_INLINE CompositeInertia<S> own_inertia(const Model& model, int i) {
  return CompositeInertia<S>(CompositeInertia<double>(model.inertias[i]));
}

// Sum of `sum` and an inertia I given in a frame with rotation `turn` and position p.
template <class R, class S>
ROBOSIM_INLINE CompositeInertia<S> add_placed(const R& turn, const Vec3<S>& p,
                                              const CompositeInertia<S>& I,
                                              const CompositeInertia<S>& sum) {
  const Vec3<S> Rh = turn * I.h, h = mul_add(I.mass, p, Rh), g = Rh + h, half = S(0.5) * p;
  const Sym3<S> A = rotated(turn, I.I_o);
  const Sym3<S>& B = sum.I_o;
  return {sum.mass + I.mass,
          sum.h + h,
          {mul_add(g.y, p.y, mul_add(g.z, p.z, B.xx + A.xx)),
           nmul_add(g.x, half.y, nmul_add(g.y, half.x, B.xy + A.xy)),
           nmul_add(g.x, half.z, nmul_add(g.z, half.x, B.xz + A.xz)),
           mul_add(g.x, p.x, mul_add(g.z, p.z, B.yy + A.yy)),
           nmul_add(g.y, half.z, nmul_add(g.z, half.y, B.yz + A.yz)),
           mul_add(g.x, p.x, mul_add(g.y, p.y, B.zz + A.zz))}};
}

// Transform a force from such a frame.
template <class R, class S>
ROBOSIM_INLINE void carry(const R& turn, const Vec3<S>& p, Force<S>& F) {
  const Vec3<S> f = turn * F.linear;
  F = {cross_add(p, f, turn * F.angular), f};
}
// Transform several forces. A function of its own for lanes: inlined, gcc 12 keeps copies of wide
// vectors in memory.
template <class R, class S>
[[gnu::noinline]] void carry_wide(const R& turn, const Vec3<S>& p, Force<S>* begin, Force<S>* end) {
  const R own_turn = turn;
  const Vec3<S> own_p = p;
  for (Force<S>* F = begin; F < end; ++F) carry(own_turn, own_p, *F);
}

// Force of unit motion along column k of a joint, in its body's frame.
template <class J, class S>
ROBOSIM_INLINE Force<S> column_force(const Joint& joint, const CompositeInertia<S>& I, int k) {
  const UnitColumn unit = unit_column<J>(joint, k);
  const double factor = unit.sign * joint.ratio;
  const Force<S> F =
      unit.component >= 0 ? I.times_unit(unit.component) : I * J::template column<S>(joint, k);
  return factor == 1 ? F : S(factor) * F;
}

// Call f(c, k, x) for the columns c from `begin` to `end`, where x is the product of their force
// with column k of the joint to whose body F has been transformed.
template <class J, class S, class Use>
ROBOSIM_INLINE void for_each_common(const Joint& joint, const Force<S>* F, int begin, int end,
                                    Use&& f) {
  if (const UnitColumn unit = unit_column<J>(joint, 0); J::n_v == 1 && unit.component >= 0) {
    const double factor = unit.sign * joint.ratio;
    const ForceComponent<S> component(unit.component);
    if (factor == 1)
      for (int c = begin; c < end; ++c) f(c, 0, component.of(F[c]));
    else
      for (int c = begin; c < end; ++c) f(c, 0, S(factor) * component.of(F[c]));
    return;
  }
  for (int c = begin; c < end; ++c)
    for (int k = 0; k < J::n_v; ++k) {
      const UnitColumn unit = unit_column<J>(joint, k);
      if (unit.component >= 0)
        f(c, k, S(unit.sign) * ForceComponent<S>(unit.component).of(F[c]));
      else
        f(c, k, S(joint.ratio) * dot(J::template column<S>(joint, k), F[c]));
    }
}

template <bool mimic, class S>
void crba_sweep(const Model& model, Data<S>& data, const S* q, S* M) {
  Force<S>* F = data.U.data();
  begin_mass_matrix<mimic>(model, M);
  for (int i = model.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    const int begin = joint.column, end = joint.column_end;
    const bool leaf = i + 1 == model.n_bodies() || model.joints[i + 1].parent != i;
    // Forces of the joint's own columns, and its own block of M.
    const CompositeInertia<S> I = leaf ? own_inertia<S>(model, i) : data.I_c[i];
    visit_joint(
        joint.type, [&]<class J>(J) __attribute__((always_inline)) {
          for (int k = 0; k < J::n_v; ++k) F[begin + k] = column_force<J>(joint, I, k);
          for_each_common<J>(
              joint, F, begin,
              begin + J::n_v, [&](int c, int k, const S& x) __attribute__((always_inline)) {
                if (const int l = begin + k; c == l)
                  add_diagonal<mimic>(model, c, x, M);
                else if (l < c)
                  add_lower<mimic>(model, c, l, x, M);
              });
        });
    // Transform the composite inertia and the forces to the parent.
    if (joint.parent == 0) continue;
    const Joint& above = model.joints[joint.parent];
    const bool last_child = above.column_end == end;  // the first one visited
    CompositeInertia<S>& sum = data.I_c[joint.parent];
    const int angle = joint.angle < 0 ? 0 : joint.angle;  // unused by joints without an angle
    const S *sine = data.sine.data() + angle, *cosine = data.cosine.data() + angle;
    const auto carry_on = [&](const auto& R, const Vec3<S>& p) __attribute__((always_inline)) {
      sum = add_placed(R, p, I, last_child ? own_inertia<S>(model, joint.parent) : sum);
      if constexpr (fills_both<S>)
        for (int c = begin; c < end; ++c) carry(R, p, F[c]);
      else
        carry_wide(R, p, F + begin, F + end);
    };
    if constexpr (mimic) {  // rare robots: not worth a version for each pair of axes
      const SE3<S> X_PC = joint_placement(joint, q + joint.q_index, sine, cosine);
      carry_on(X_PC.R, X_PC.p);
    } else {
      visit_placement(joint, q + joint.q_index, sine, cosine, carry_on);
    }
    // Products with the parent's columns.
    visit_joint(
        above.type, [&]<class J>(J) __attribute__((always_inline)) {
          for_each_common<J>(
              above, F, begin, end, [&](int c, int k, const S& x) __attribute__((always_inline)) {
                add_lower<mimic>(model, c, above.column + k, x, M);
              });
        });
  }
}

}  // namespace detail

// q: n_q entries. Fills M (n_v x n_v) as Pattern::tree_lower, and data.I_c, each in its
// body's frame.
template <class S>
void crba_lower(const Model& model, Data<S>& data, const S* q, S* M) {
  joint_angles(model, data, q);
  if (model.has_mimic)
    detail::crba_sweep<true>(model, data, q, M);
  else
    detail::crba_sweep<false>(model, data, q, M);
}

// As crba_lower, but fills all of M.
template <class S>
void crba(const Model& model, Data<S>& data, const S* q, S* M) {
  clear_unrelated(model, Pattern::tree_lower, M);
  crba_lower(model, data, q, M);
  mirror(model, Pattern::tree_lower, M);
}

extern template void crba(const Model&, Data<double>&, const double*, double*);

}  // namespace robosim

// Centroidal momentum: the momentum of all moving bodies about their common center of mass, world
// axes, [linear; angular].
//
//   centroidal_momentum(model, data, q, v, h)                     h = A_G v              (6)
//   centroidal_momentum_rate(model, data, q, v, a, h, hdot)       hdot = A_G a + dA_G v  (6) each
//   centroidal_momentum_matrix(model, data, q, A_G)               6 x n_v
//   centroidal_momentum_matrix_dot(model, data, q, v, A_G, dA_G)  6 x n_v each, dA_G = dA_G/dt
//   centroidal_momentum_derivatives(model, data, q, v, a, dh_dq, dhdot_dq, dhdot_dv, A_G)
//                                                                 6 x n_v each; dh_dv = dhdot_da =
//                                                                   A_G
//
// Gravity is not removed from hdot: it is the total rate, due to gravity, contacts and the support
// of the base, about the center of mass. Links welded to the world and armature do not count. All
// results are zero if no moving body has mass.
//
// In the common frame G (data.h), with subtrees' inertia I_j and momentum h_j about O, column j of
// joint k contributes
//   A_j = I_j J_j
//   dA_j/dt = (dI_j/dt) J_j + I_j (V_k x J_j)    (composite_rates.h)
//   dh/dq_j = J_j x h_j + I_j J_dot_j
//   dhdot/dq_j, dhdot/dv_j: by_q, by_v of rnea_derivatives.h without gravity
// About the center of mass c, a momentum (n, l) is (n - c x l, l). c itself moves by dc_j = (linear
// part of A_j) / m, which subtracts dc_j x l from a derivative. Orin, Goswami and Lee, "Centroidal
// dynamics of a humanoid robot", Autonomous Robots 35 (2013); Carpentier and Mansard, "Analytical
// derivatives of rigid body dynamics algorithms", RSS 2018. The same quantities as Pinocchio's
// computeCentroidalMomentumTimeVariation, ccrba, dccrba and computeCentroidalDynamicsDerivatives.
// Cost O(n).
#pragma once

#include "dynamics/center_of_mass.h"
#include "dynamics/composite_rates.h"
#include "dynamics/jacobian.h"

namespace robosim {

namespace detail {

// Center of mass of the moving bodies, from O [m], and the reciprocal of their mass, or zero
// without mass.
template <class S>
struct Centroid {
  Vec3<S> c;
  S per_mass;
};

// Requires motion_subspaces.
template <class S>
Centroid<S> centroid(const Model& model, const Data<S>& data) {
  double mass = 0;
  Vec3<S> moment;
  for (int i = 1; i < model.n_bodies(); ++i) {
    mass += model.inertias[i].mass;
    moment = mul_add(S(model.inertias[i].mass), com_offset(model, data, i), moment);
  }
  const S per_mass(mass > 0 ? 1 / mass : 0);
  return {per_mass * moment, per_mass};
}

template <class S>
void write_force(const Force<S>& F, S* out) {
  for (int i = 0; i < 3; ++i) {
    out[i] = F.linear[i];
    out[3 + i] = F.angular[i];
  }
}

}  // namespace detail

// q: n_q, v: n_v entries. Fills h, and data.X_WB, J, V.
template <class S>
void centroidal_momentum(const Model& model, Data<S>& data, const S* q, const S* v, S* h) {
  position_stage(model, data, q);
  forward_velocities(model, data, v);
  Force<S> sum;
  for (int i = 1; i < model.n_bodies(); ++i) sum += detail::momentum(model, data, i);
  detail::write_force(at_point(sum, detail::centroid(model, data).c), h);
}

// q: n_q, v and a: n_v entries. Fills h and hdot, and data.X_WB, J, V, A.
template <class S>
void centroidal_momentum_rate(const Model& model, Data<S>& data, const S* q, const S* v, const S* a,
                              S* h, S* hdot) {
  position_stage(model, data, q);
  forward_accelerations(model, data, v, a);
  Force<S> sum, rate;
  for (int i = 1; i < model.n_bodies(); ++i) {
    sum += detail::momentum(model, data, i);
    rate += detail::newton_euler<true>(model.inertias[i], data.X_WB[i].R, data.p_OB[i], data.V[i],
                                       data.A[i]);
  }
  const Vec3<S> c = detail::centroid(model, data).c;
  detail::write_force(at_point(sum, c), h);
  // The center of mass moves along the linear momentum, so its motion adds nothing.
  detail::write_force(at_point(rate, c), hdot);
}

// q: n_q entries. Fills A_G, and data.X_WB, J, I, I_c.
template <class S>
void centroidal_momentum_matrix(const Model& model, Data<S>& data, const S* q, S* A_G) {
  const int n_v = model.n_v;
  inertia_stage(model, data, q);
  composite_inertias(model, data);
  for (int k = 0; k < 6 * n_v; ++k) A_G[k] = S(0);
  const Vec3<S> c = detail::centroid(model, data).c;
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    for (int k = joint.column; k < joint.column + joint.n_v; ++k)
      detail::add_column(at_point(data.I_c[i] * data.J[k], c), A_G + model.column_v[k], n_v);
  }
}

// q: n_q, v: n_v entries. Fills A_G and dA_G, and data.X_WB, J, I, V, J_rate and the subtrees' I_c,
// h_c, K_c.
template <class S>
void centroidal_momentum_matrix_dot(const Model& model, Data<S>& data, const S* q, const S* v,
                                    S* A_G, S* dA_G) {
  const int n_v = model.n_v;
  inertia_stage(model, data, q);
  detail::rates_outward(model, data, v);
  for (int k = 0; k < 6 * n_v; ++k) A_G[k] = dA_G[k] = S(0);
  const detail::Centroid<S> com = detail::centroid(model, data);
  Vec3<S> c_dot;
  for (int i = 1; i < model.n_bodies(); ++i)
    c_dot = mul_add(com.per_mass, data.h_c[i].linear, c_dot);
  for (int i = model.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    const CompositeInertia<S>& I = data.I_c[i];
    for (int k = joint.column; k < joint.column + joint.n_v; ++k) {
      const Motion<S>& J = data.J[k];
      const Force<S> A = I * J;
      Force<S> rate = detail::twice_B(data.K_c[i], data.h_c[i], J.angular) + I * data.J_rate[k];
      rate -= cross(J, data.h_c[i]);
      rate = at_point(rate, com.c);
      rate.angular = cross_subtract(c_dot, A.linear, rate.angular);
      detail::add_column(at_point(A, com.c), A_G + model.column_v[k], n_v);
      detail::add_column(rate, dA_G + model.column_v[k], n_v);
    }
    detail::add_to_parent(model, data, i);
  }
}

// q: n_q, v and a: n_v entries. Fills the four matrices, and the same members of data as
// rnea_derivatives, without gravity.
template <class S>
void centroidal_momentum_derivatives(const Model& model, Data<S>& data, const S* q, const S* v,
                                     const S* a, S* dh_dq, S* dhdot_dq, S* dhdot_dv, S* A_G) {
  const int n_v = model.n_v;
  inertia_stage(model, data, q);
  detail::derivatives_outward<false>(model, data, v, a, Vec3<S>());
  for (int k = 0; k < 6 * n_v; ++k) dh_dq[k] = dhdot_dq[k] = dhdot_dv[k] = A_G[k] = S(0);
  const detail::Centroid<S> com = detail::centroid(model, data);
  Vec3<S> momentum, rate;  // linear parts
  for (int i = 1; i < model.n_bodies(); ++i) {
    momentum += data.h_c[i].linear;
    rate += data.F[i].linear;
  }
  for (int i = model.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    const CompositeInertia<S>& I = data.I_c[i];
    for (int k = joint.column; k < joint.column + joint.n_v; ++k) {
      const Motion<S>& J = data.J[k];
      const int to = model.column_v[k];
      const auto motion_part = [&](const Motion<S>& column, const Motion<S>& column_sum) {
        return detail::twice_B(data.K_c[i], data.h_c[i], column.angular) + I * column_sum;
      };
      const Force<S> A = I * J;
      const Vec3<S> dc = com.per_mass * A.linear;
      Force<S> dh = at_point(cross(J, data.h_c[i]) + I * data.J_dot[k], com.c);
      dh.angular = cross_subtract(dc, momentum, dh.angular);
      Force<S> dhdot =
          at_point(motion_part(data.J_dot[k], data.J_ddot[k]) + cross(J, data.F[i]), com.c);
      dhdot.angular = cross_subtract(dc, rate, dhdot.angular);
      detail::add_column(dh, dh_dq + to, n_v);
      detail::add_column(dhdot, dhdot_dq + to, n_v);
      detail::add_column(at_point(motion_part(J, data.J_sum[k]), com.c), dhdot_dv + to, n_v);
      detail::add_column(at_point(A, com.c), A_G + to, n_v);
    }
    detail::add_to_parent(model, data, i);
    if (joint.parent > 0) data.F[joint.parent] += data.F[i];
  }
}

}  // namespace robosim

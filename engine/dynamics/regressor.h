// Regressor of inverse dynamics in the bodies' inertial parameters: tau = Y(q, v, a) pi + armature
// a - sum J^T F_ext. Each of the moving bodies 1 to n_b - 1 has ten parameters in its own frame, in
// Pinocchio's order, with I about the body's origin:
//   pi = (m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz)
//
// tau is linear in pi. A body with velocity (w, v) and acceleration (alpha, a) at its origin, a
// without gravity, requires the force
//   f = m a_0 + alpha x mc + w x (w x mc),   n = mc x a_0 + I alpha + w x I w,   a_0 = a + w x v
// Its power on a virtual velocity (w', v') is pi . y with, for u = a_0 x w' and z = w' x w,
//   y_m = v' . a_0,   y_mc = u + v' x alpha + (v' x w) x w
//   y_I = symmetric part of w' alpha^T + z w^T
// For a row of Y, (w', v') is a joint's column, in the frame of each body that it moves. For Y^T
// lambda it is the velocity due to the joint rates lambda: one outward pass. Atkeson, An and
// Hollerbach, "Estimation of inertial parameters of manipulator loads and links", Int. J. Robotics
// Research 5(3), 1986. Cost: Y O(n depth), the products O(n).
#pragma once

#include <array>

#include "dynamics/rnea_products.h"

namespace robosim {

inline constexpr int n_inertial = 10;  // parameters of a body

// Conversion between a rigid body and its parameters. Without mass, the center of mass is
// the origin.
inline std::array<double, n_inertial> inertial_parameters(const Inertia& body) {
  const CompositeInertia<double> I(body);
  return {I.mass, I.h.x, I.h.y, I.h.z, I.I_o.xx, I.I_o.xy, I.I_o.yy, I.I_o.xz, I.I_o.yz, I.I_o.zz};
}
inline Inertia inertia_from_parameters(const double* x) {
  Inertia body;
  body.mass = x[0];
  const Vec3d h{x[1], x[2], x[3]};
  if (body.mass != 0) body.com = (1 / body.mass) * h;
  Sym3<double> I{x[4], x[5], x[7], x[6], x[8], x[9]};
  I += symmetric_shift(-0.5 * h, body.com);
  body.I_com = {I.row0(), I.row1(), I.row2()};
  return body;
}

// Parameters of all bodies, n_inertial (n_b - 1) entries.
inline void inertial_parameters(const Model& model, double* x) {
  for (int i = 1; i < model.n_bodies(); ++i) {
    const std::array<double, n_inertial> own = inertial_parameters(model.inertias[i]);
    for (int k = 0; k < n_inertial; ++k) x[n_inertial * (i - 1) + k] = own[k];
  }
}

namespace detail {

// Motion given in G, in the axes of body i and at its point p, measured from O.
template <class S>
ROBOSIM_INLINE Motion<S> in_body(const Data<S>& data, int i, const Vec3<S>& p, const Motion<S>& V) {
  const Mat3<S>& R = data.X_WB[i].R;
  return {transpose_times(R, V.angular), transpose_times(R, cross_add(V.angular, p, V.linear))};
}

// Row y of the header for a body with V and A - g; all three at the same point.
template <class S>
struct InertialRow {
  S mass;
  Vec3<S> moment;   // gradient in mc
  Sym3<S> inertia;  // gradient in I: entries (i, j) and (j, i) together

  ROBOSIM_INLINE InertialRow(const Motion<S>& V, const Motion<S>& A, const Motion<S>& virtual_V) {
    const Vec3<S>&w = V.angular, &alpha = A.angular, &wv = virtual_V.angular,
          &vv = virtual_V.linear;
    const Vec3<S> a_0 = cross_add(w, V.linear, A.linear), z = cross(wv, w);
    mass = dot(vv, a_0);
    moment = cross_add(a_0, wv, cross_add(vv, alpha, cross(cross(vv, w), w)));
    const auto pair = [&](int i, int j) {
      return mul_add(wv[i], alpha[j], mul_add(wv[j], alpha[i], mul_add(z[i], w[j], z[j] * w[i])));
    };
    const auto single = [&](int i) { return mul_add(wv[i], alpha[i], z[i] * w[i]); };
    inertia = {single(0), pair(0, 1), pair(0, 2), single(1), pair(1, 2), single(2)};
  }

  // Entries in the order of pi.
  ROBOSIM_INLINE std::array<S, n_inertial> entries() const {
    return {mass,       moment.x,   moment.y,   moment.z,   inertia.xx,
            inertia.xy, inertia.yy, inertia.xz, inertia.yz, inertia.zz};
  }
};

// Force required by the parameters x of a body (or by their change), at its origin in its axes, for
// motion with V and A - g there.
template <class S>
ROBOSIM_INLINE Force<S> parameter_force(const S* x, const Motion<S>& V, const Motion<S>& A) {
  const Vec3<S>&w = V.angular, &alpha = A.angular;
  const Vec3<S> a_0 = cross_add(w, V.linear, A.linear), mc{x[1], x[2], x[3]};
  const Sym3<S> I{x[4], x[5], x[7], x[6], x[8], x[9]};
  return {cross_add(mc, a_0, cross_add(w, I * w, I * alpha)),
          mul_add(x[0], a_0, cross_add(alpha, mc, cross(w, cross(w, mc))))};
}

// Acceleration A - g.
template <class S>
ROBOSIM_INLINE Motion<S> without_gravity(const Model& model, const Motion<S>& A) {
  return {A.angular, A.linear - Vec3<S>(model.gravity)};
}

}  // namespace detail

// q: n_q; v and a: n_v entries. Fills Y (n_v x n_inertial (n_b - 1), row by row) and data.X_WB, J,
// V, A.
template <class S>
void inertial_regressor(const Model& model, Data<S>& data, const S* q, const S* v, const S* a,
                        S* Y) {
  const int width = n_inertial * (model.n_bodies() - 1);
  position_stage(model, data, q);
  forward_accelerations(model, data, v, a);
  for (int k = 0; k < model.n_v * width; ++k) Y[k] = S(0);
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Vec3<S>& p = data.p_OB[i];
    const Motion<S> V = detail::in_body(data, i, p, data.V[i]);
    const Motion<S> A = detail::in_body(data, i, p, detail::without_gravity<S>(model, data.A[i]));
    for_each_on_path(model, i, [&](int c) {
      const auto y = detail::InertialRow<S>(V, A, detail::in_body(data, i, p, data.J[c])).entries();
      S* to = Y + model.column_v[c] * width + n_inertial * (i - 1);
      for (int k = 0; k < n_inertial; ++k) to[k] += y[k];
    });
  }
}

// Product dtau = Y x for changes x of the parameters (n_inertial (n_b - 1) entries). Fills dtau
// (n_v) and data.X_WB, J, V, A, F_rate.
template <class S>
void regressor_times(const Model& model, Data<S>& data, const S* q, const S* v, const S* a,
                     const S* x, S* dtau) {
  position_stage(model, data, q);
  forward_accelerations(model, data, v, a);
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Vec3<S>& p = data.p_OB[i];
    const Mat3<S>& R = data.X_WB[i].R;
    const Force<S> F = detail::parameter_force(
        x + n_inertial * (i - 1), detail::in_body(data, i, p, data.V[i]),
        detail::in_body(data, i, p, detail::without_gravity<S>(model, data.A[i])));
    const Vec3<S> f = R * F.linear;
    data.F_rate[i] = {times_add(R, F.angular, cross(p, f)), f};
  }
  for (int k = 0; k < model.n_v; ++k) dtau[k] = S(0);
  detail::gather_joint_forces(model, data, data.F_rate, dtau);
}

namespace detail {

// Requires forward_accelerations, and the velocities F_bar.
template <class S>
void regressor_transpose_sweep(const Model& model, const Data<S>& data,
                               const std::vector<Motion<S>>& F_bar, S* pi_bar) {
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Vec3<S>& p = data.p_OB[i];
    const auto y = InertialRow<S>(in_body(data, i, p, data.V[i]),
                                  in_body(data, i, p, without_gravity<S>(model, data.A[i])),
                                  in_body(data, i, p, F_bar[i]))
                       .entries();
    for (int k = 0; k < n_inertial; ++k) pi_bar[n_inertial * (i - 1) + k] = y[k];
  }
}

}  // namespace detail

// Product pi_bar = Y^T tau_bar (n_inertial (n_b - 1) entries). Also fills data.X_WB, J, V,
// A, F_bar.
template <class S>
void regressor_transpose_times(const Model& model, Data<S>& data, const S* q, const S* v,
                               const S* a, const S* tau_bar, S* pi_bar) {
  position_stage(model, data, q);
  forward_accelerations(model, data, v, a);
  detail::joint_velocities(model, data, tau_bar, data.F_bar);
  detail::regressor_transpose_sweep(model, data, data.F_bar, pi_bar);
}

}  // namespace robosim

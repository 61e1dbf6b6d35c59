// Second-order products: rates of the gradients of rnea_vjp and forward_dynamics_vjp along
// a direction,
//   rnea_hvp               (dq_bar, dv_bar, da_bar) = d/dt rnea_vjp(q(t), v + t dv, a + t da,
//                                                                   tau_bar + t dtau_bar)
//   forward_dynamics_hvp   (dq_bar, dv_bar, dtau_bar) = d/dt forward_dynamics_vjp(q(t), v + t dv,
//                                                           tau + t dtau, a_bar + t da_bar)
// at t = 0 along q(t) = integrate(q, t dq). With a fixed tau_bar (the default: a null rate stands
// for zero) this is the Hessian of the scalar tau_bar . rnea(q, v, a) times the direction (dq, dv,
// da), as needed for Newton's method on a Lagrangian.
//
// If q is a vector (revolute, prismatic and like joints) the Hessian is symmetric. Otherwise
// (planar, floating) the gradient is taken along body-side perturbations, which do not commute. The
// result is the derivative of that gradient along the curve, and its q-q block is not symmetric.
// Two directions x, y differ by the gradient along their bracket,
//   y . H x - x . H y = q_bar . [x, y],   [x, y] = ad_x y of each joint's group
//                                         (X x Y of its velocities, in the joint's frame)
// so y . H x - q_bar . [x, y] / 2 is symmetric: the Hessian along the curves above. x . H x needs
// no correction. Mahony and Manton, "The geometry of the Newton method on non-compact Lie groups",
// J. Global Optimization 23, 2002.
//
// Computed by the first-order product on dual numbers over S (base/dual.h): exact to rounding, at
// two to three times its cost, O(n). Griewank and Walther, "Evaluating Derivatives" (2008), ch. 5:
// forward over reverse.
#pragma once

#include "base/dual.h"
#include "dynamics/configuration.h"
#include "dynamics/forward_dynamics_products.h"

namespace robosim {

namespace detail {

// x + e dx, where a null dx stands for zero.
template <class S>
void make_dual(int n, const S* x, const S* dx, DualOf<S>* out) {
  for (int k = 0; k < n; ++k) out[k] = {x[k], dx ? dx[k] : S(0)};
}

// Move q along dq, in data.work_q; `along` is workspace of n_v entries.
template <class S>
void move_dual(const Model& model, Data<DualOf<S>>& data, const S* q, const S* dq,
               DualOf<S>* along) {
  for (int k = 0; k < model.n_q; ++k) data.work_q[k] = {q[k], S(0)};
  for (int k = 0; k < model.n_v; ++k) along[k] = {S(0), dq[k]};
  integrate(model, data.work_q.data(), along, data.work_q.data());
}

}  // namespace detail

// q: n_q; v, a, tau_bar and the rates dq, dv, da, dtau_bar: n_v entries, dtau_bar may be null.
// Fills dq_bar, dv_bar, da_bar (n_v). Wrenches include their rates.
template <class S>
void rnea_hvp(const Model& model, Data<DualOf<S>>& data, const S* q, const S* v, const S* a,
              const S* tau_bar, const S* dq, const S* dv, const S* da, S* dq_bar, S* dv_bar,
              S* da_bar, Wrenches<DualOf<S>> wrenches = {},
              std::type_identity_t<const S*> dtau_bar = nullptr) {
  const int n = model.n_v;
  DualOf<S>* in = data.work.data();
  DualOf<S>* out = in + 3 * n;
  detail::move_dual(model, data, q, dq, in);
  detail::make_dual<S>(n, v, dv, in);
  detail::make_dual<S>(n, a, da, in + n);
  detail::make_dual<S>(n, tau_bar, dtau_bar, in + 2 * n);
  rnea_vjp<DualOf<S>>(model, data, data.work_q.data(), in, in + n, in + 2 * n, out, out + n,
                      out + 2 * n, wrenches);
  for (int k = 0; k < n; ++k) {
    dq_bar[k] = out[k].derivative;
    dv_bar[k] = out[n + k].derivative;
    da_bar[k] = out[2 * n + k].derivative;
  }
}

// q: n_q; v, tau, a_bar and the rates dq, dv, dtau, da_bar: n_v entries, da_bar may be null. Fills
// dq_bar, dv_bar, dtau_bar (n_v). Wrenches include their rates.
template <class S>
void forward_dynamics_hvp(const Model& model, Data<DualOf<S>>& data, const S* q, const S* v,
                          const S* tau, const S* a_bar, const S* dq, const S* dv, const S* dtau,
                          S* dq_bar, S* dv_bar, S* dtau_bar, Wrenches<DualOf<S>> wrenches = {},
                          std::type_identity_t<const S*> da_bar = nullptr) {
  const int n = model.n_v;
  DualOf<S>* in = data.work.data();
  DualOf<S>* out = in + 3 * n;
  detail::move_dual(model, data, q, dq, in);
  detail::make_dual<S>(n, v, dv, in);
  detail::make_dual<S>(n, tau, dtau, in + n);
  detail::make_dual<S>(n, a_bar, da_bar, in + 2 * n);
  forward_dynamics_vjp<DualOf<S>>(model, data, data.work_q.data(), in, in + n, in + 2 * n,
                                  out + 3 * n, out, out + n, out + 2 * n, wrenches);
  for (int k = 0; k < n; ++k) {
    dq_bar[k] = out[k].derivative;
    dv_bar[k] = out[n + k].derivative;
    dtau_bar[k] = out[2 * n + k].derivative;
  }
}

}  // namespace robosim

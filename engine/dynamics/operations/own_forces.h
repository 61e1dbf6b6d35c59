// Passive forces in operations, enabled by Options::joint_forces: the joints' own damping, friction
// and springs (joint_forces.h) add to the forces of the drives. Inverse dynamics subtracts them
// from the joint forces of rnea, and forward dynamics adds them to tau. With their diagonal slopes
// s = d joint_forces / d(q, v):
//   inverse dynamics   tau = rnea - joint_forces,   dtau/d(q, v) -= diag(s)
//   forward dynamics   at tau + joint_forces,       da/d(q, v) += M^-1 diag(s)
// and the same contracted in products.
#pragma once

#include "dynamics/joint_forces.h"
#include "dynamics/operation.h"

namespace robosim::operations::detail {

// Return the total joint forces for drives that exert tau; in data.a if passive forces act.
template <class S>
const S* all_forces(const Model& model, Data<S>& data, const Call<S>& call, const S* q, const S* v,
                    const S* tau) {
  if (!call.options.joint_forces) return tau;
  joint_forces(model, q, v, data.a.data());
  for (int k = 0; k < model.n_v; ++k) data.a[k] += tau[k];
  return data.a.data();
}

// Convert total joint forces tau to the forces of the drives. Uses data.a.
template <class S>
void leave_drives(const Model& model, Data<S>& data, const Call<S>& call, const S* q, const S* v,
                  S* tau) {
  if (!call.options.joint_forces) return;
  joint_forces(model, q, v, data.a.data());
  for (int k = 0; k < model.n_v; ++k) tau[k] -= data.a[k];
}

// Slopes with respect to q and v, n_v entries each; in data.work.
template <class S>
struct Slopes {
  const S *q, *v;

  Slopes(const Model& model, Data<S>& data, const S* velocity) {
    S* to = data.work.data();
    joint_force_slopes(model, velocity, to, to + model.n_v);
    q = to;
    v = to + model.n_v;
  }
};

// Add sign (q_slope x_q + v_slope x_v) of a direction x to `to`; sign is 1 or -1. Uses data.work.
template <class S>
void add_along(const Model& model, Data<S>& data, const Call<S>& call, double sign, const S* v,
               const S* x_q, const S* x_v, S* to) {
  if (!call.options.joint_forces) return;
  const Slopes<S> slope(model, data, v);
  for (int k = 0; k < model.n_v; ++k)
    to[k] = mul_add(S(sign), mul_add(slope.q[k], x_q[k], slope.v[k] * x_v[k]), to[k]);
}

// Add the gradients of sign x . joint_forces. Uses data.work.
template <class S>
void add_gradients(const Model& model, Data<S>& data, const Call<S>& call, double sign, const S* v,
                   const S* x, S* q_bar, S* v_bar) {
  if (!call.options.joint_forces) return;
  const Slopes<S> slope(model, data, v);
  for (int k = 0; k < model.n_v; ++k) {
    const S signed_x = S(sign) * x[k];
    q_bar[k] = mul_add(slope.q[k], signed_x, q_bar[k]);
    v_bar[k] = mul_add(slope.v[k], signed_x, v_bar[k]);
  }
}

// Convert dtau_dq and dtau_dv (n_v x n_v) to the drives' forces. Uses data.work.
template <class S>
void subtract_slopes(const Model& model, Data<S>& data, const Call<S>& call, const S* v, S* dtau_dq,
                     S* dtau_dv) {
  if (!call.options.joint_forces) return;
  const Slopes<S> slope(model, data, v);
  for (int k = 0; k < model.n_v; ++k) {
    const int at = k * model.n_v + k;
    dtau_dq[at] -= slope.q[k];
    dtau_dv[at] -= slope.v[k];
  }
}

// Add the slopes' effect on the acceleration to da_dq and da_dv (n_v x n_v); M_inverse: its upper
// triangle. Uses data.work.
template <class S>
void add_solved_slopes(const Model& model, Data<S>& data, const Call<S>& call, const S* v,
                       const S* M_inverse, S* da_dq, S* da_dv) {
  if (!call.options.joint_forces) return;
  const Slopes<S> slope(model, data, v);
  const int n = model.n_v;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      const int at = i * n + k;
      const S& inverse = M_inverse[i < k ? at : k * n + i];
      da_dq[at] = mul_add(inverse, slope.q[k], da_dq[at]);
      da_dv[at] = mul_add(inverse, slope.v[k], da_dv[at]);
    }
}

}  // namespace robosim::operations::detail

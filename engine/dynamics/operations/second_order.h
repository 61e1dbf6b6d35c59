// Operations: second-order products. They run on dual numbers over the scalar, in memory of
// their own.
//
// With passive joint forces (own_forces.h), gradients have the further terms s x of their slopes s,
// with x = tau_bar of forward dynamics, or minus the given tau_bar of inverse dynamics. These terms
// change by (ds/dv dv) x + s dx.
#pragma once

#include "dynamics/operations/arguments.h"
#include "dynamics/operations/own_forces.h"
#include "dynamics/second_order_products.h"

namespace robosim {
namespace operations {

namespace detail {

// Slopes along v + e dv, in dual.a (for q) and dual.bias (for v).
template <class S>
void moving_slopes(const Model& model, Data<DualOf<S>>& dual, const S* v, const S* dv) {
  for (int k = 0; k < model.n_v; ++k) dual.bias[k] = {v[k], dv[k]};
  joint_force_slopes(model, dual.bias.data(), dual.a.data(), dual.bias.data());
}

}  // namespace detail

struct RneaHvp {
  static constexpr const char* name = "rnea_hvp";
  static constexpr Argument inputs[] =
      {q, v, a, vector("tau_bar"), vector("dq"), vector("dv"), vector("da")},
                            outputs[] = {vector("dq_bar"), vector("dv_bar"), vector("da_bar")};
  static constexpr bool takes_wrenches = true, second_order = true;
  template <class S>
  static void run(const Model& model, Data<S>&, Data<DualOf<S>>& dual, const Call<S>& call,
                  Wrenches<DualOf<S>> wrenches) {
    const S* const* in = call.in;
    S* const* out = call.out;
    rnea_hvp(model, dual, in[0], in[1], in[2], in[3], in[4], in[5], in[6], out[0], out[1], out[2],
             wrenches);
    if (!call.options.joint_forces) return;
    detail::moving_slopes(model, dual, in[1], in[5]);
    for (int k = 0; k < model.n_v; ++k)
      out[1][k] = nmul_add(dual.bias[k].derivative, in[3][k], out[1][k]);
  }
};

struct ForwardDynamicsHvp {
  static constexpr const char* name = "forward_dynamics_hvp";
  static constexpr Argument inputs[] =
      {q, v, tau, vector("a_bar"), vector("dq"), vector("dv"), vector("dtau")},
                            outputs[] = {vector("dq_bar"), vector("dv_bar"), vector("dtau_bar")};
  static constexpr bool takes_wrenches = true, solves = true, second_order = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, Data<DualOf<S>>& dual, const Call<S>& call,
                  Wrenches<DualOf<S>> wrenches) {
    const int n = model.n_v;
    const S* const* in = call.in;
    S* const* out = call.out;
    const S *all = detail::all_forces(model, data, call, in[0], in[1], in[2]), *along = in[6];
    if (call.options.joint_forces) {
      S* total = data.work.data() + 2 * n;
      for (int k = 0; k < n; ++k) total[k] = in[6][k];
      detail::add_along(model, data, call, 1, in[1], in[4], in[5], total);
      along = total;
    }
    forward_dynamics_hvp(model, dual, in[0], in[1], all, in[3], in[4], in[5], along, out[0], out[1],
                         out[2], wrenches);
    if (!call.options.joint_forces) return;
    const DualOf<S>* tau_bar = dual.work.data() + 5 * n;  // written by forward_dynamics_hvp
    detail::moving_slopes(model, dual, in[1], in[5]);
    for (int k = 0; k < n; ++k) {
      const DualOf<S>&by_q = dual.a[k], &by_v = dual.bias[k];
      out[0][k] = mul_add(by_q.value, out[2][k], out[0][k]);
      out[1][k] =
          mul_add(by_v.derivative, tau_bar[k].value, mul_add(by_v.value, out[2][k], out[1][k]));
    }
  }
};

}  // namespace operations

using SecondOrderOperations = OperationList<operations::RneaHvp, operations::ForwardDynamicsHvp>;

}  // namespace robosim

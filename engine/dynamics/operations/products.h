// Operations: products with the derivatives of inverse and forward dynamics, without the matrices.
#pragma once

#include "dynamics/forward_dynamics_products.h"
#include "dynamics/operations/arguments.h"
#include "dynamics/operations/own_forces.h"

namespace robosim {
namespace operations {

namespace detail {

// Reorder gradients in the wrenches from (moment, force) to the public (force, moment).
template <class S>
void public_wrenches(std::size_t count, S* wrenches) {
  for (S* w = wrenches; count > 0; --count, w += 6)
    for (int i = 0; i < 3; ++i) std::swap(w[i], w[3 + i]);
}

template <class S>
Motion<S>* as_motions(S* wrenches) {
  static_assert(sizeof(Motion<S>) == 6 * sizeof(S));
  return reinterpret_cast<Motion<S>*>(wrenches);
}

}  // namespace detail

inline constexpr Argument wrench_gradients{"wrenches_bar", 2, {dim_wrenches, 6, 0}};

struct RneaJvp {
  static constexpr const char* name = "rnea_jvp";
  static constexpr Argument inputs[] = {q, v, a, vector("dq"), vector("dv"), vector("da")},
                            outputs[] = {vector("dtau")};
  static constexpr bool takes_wrenches = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    const S* const* in = call.in;
    rnea_jvp(model, data, in[0], in[1], in[2], in[3], in[4], in[5], call.out[0], call.wrenches);
    detail::add_along(model, data, call, -1, in[1], in[3], in[4], call.out[0]);
  }
};

struct RneaVjp {
  static constexpr const char* name = "rnea_vjp";
  static constexpr Argument inputs[] = {q, v, a, vector("tau_bar")},
                            outputs[] = {vector("q_bar"), vector("v_bar"), vector("a_bar"),
                                         wrench_gradients};
  static constexpr bool takes_wrenches = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    const S* const* in = call.in;
    S* const* out = call.out;
    rnea_vjp(model, data, in[0], in[1], in[2], in[3], out[0], out[1], out[2], call.wrenches,
             detail::as_motions(out[3]));
    detail::public_wrenches(call.wrenches.size(), out[3]);
    detail::add_gradients(model, data, call, -1, in[1], in[3], out[0], out[1]);
  }
};

struct ForwardDynamicsJvp {
  static constexpr const char* name = "forward_dynamics_jvp";
  static constexpr Argument inputs[] = {q, v, tau, vector("dq"), vector("dv"), vector("dtau")},
                            outputs[] = {a, vector("da")};
  static constexpr bool takes_wrenches = true, solves = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    const S* const* in = call.in;
    const S* all = detail::all_forces(model, data, call, in[0], in[1], in[2]);
    const S* along = in[5];
    if (call.options.joint_forces) {
      S* total = data.work.data() + 2 * model.n_v;
      for (int k = 0; k < model.n_v; ++k) total[k] = in[5][k];
      detail::add_along(model, data, call, 1, in[1], in[3], in[4], total);
      along = total;
    }
    forward_dynamics_jvp(model, data, in[0], in[1], all, in[3], in[4], along, call.out[0],
                         call.out[1], call.wrenches);
  }
};

struct ForwardDynamicsVjp {
  static constexpr const char* name = "forward_dynamics_vjp";
  static constexpr Argument inputs[] = {q, v, tau, vector("a_bar")},
                            outputs[] = {a, vector("q_bar"), vector("v_bar"), vector("tau_bar"),
                                         wrench_gradients};
  static constexpr bool takes_wrenches = true, solves = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    const S* const* in = call.in;
    S* const* out = call.out;
    const S* all = detail::all_forces(model, data, call, in[0], in[1], in[2]);
    forward_dynamics_vjp(model, data, in[0], in[1], all, in[3], out[0], out[1], out[2], out[3],
                         call.wrenches, detail::as_motions(out[4]));
    detail::public_wrenches(call.wrenches.size(), out[4]);
    detail::add_gradients(model, data, call, 1, in[1], out[3], out[1], out[2]);
  }
};

}  // namespace operations

using ProductOperations =
    OperationList<operations::RneaJvp, operations::RneaVjp, operations::ForwardDynamicsJvp,
                  operations::ForwardDynamicsVjp>;

}  // namespace robosim

// Operations: first derivatives as full matrices, in the tangent space.
#pragma once

#include "dynamics/forward_dynamics_derivatives.h"
#include "dynamics/operations/arguments.h"
#include "dynamics/operations/own_forces.h"

namespace robosim {
namespace operations {

struct RneaDerivatives {
  static constexpr const char* name = "rnea_derivatives";
  static constexpr Argument inputs[] = {q, v, a}, outputs[] = {square("dtau_dq", Pattern::tree),
                                                               square("dtau_dv", Pattern::tree),
                                                               square("M", Pattern::tree_lower)};
  static constexpr bool takes_wrenches = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    rnea_derivatives_on_tree(model, data, call.in[0], call.in[1], call.in[2], call.out[0],
                             call.out[1], call.out[2], call.wrenches);
    detail::subtract_slopes(model, data, call, call.in[1], call.out[0], call.out[1]);
  }
};

struct ForwardDynamicsDerivatives {
  static constexpr const char* name = "forward_dynamics_derivatives";
  static constexpr Argument inputs[] = {q, v, tau},
                            outputs[] = {a, square("da_dq"), square("da_dv"),
                                         square("da_dtau", Pattern::upper)};
  static constexpr bool takes_wrenches = true, solves = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    const S* all = detail::all_forces(model, data, call, call.in[0], call.in[1], call.in[2]);
    forward_dynamics_derivatives(model, data, call.in[0], call.in[1], all, call.out[0], call.out[1],
                                 call.out[2], call.out[3], call.wrenches);
    detail::add_solved_slopes(model, data, call, call.in[1], call.out[3], call.out[1], call.out[2]);
  }
};

}  // namespace operations

using DerivativeOperations =
    OperationList<operations::RneaDerivatives, operations::ForwardDynamicsDerivatives>;

}  // namespace robosim

// Operations: first derivatives as full matrices, in the tangent space.
#pragma once

#include "dynamics/forward_dynamics_derivatives.h"
#include "dynamics/operations/arguments.h"
#include "dynamics/operations/values.h"

namespace robosim {
namespace operations {

struct RneaDerivatives {
  static constexpr const char* name = "rnea_derivatives";
  static constexpr Argument inputs[] = {q, v, a}, outputs[] = {square("dtau_dq"), square("dtau_dv"), square("M")};
  static constexpr bool takes_wrenches = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    rnea_derivatives(model, data, call.in[0], call.in[1], call.in[2], call.out[0], call.out[1], call.out[2], call.wrenches);
    if (!call.options.joint_forces) return;
    const int n = model.n_v;
    joint_force_slopes(model, call.in[1], data.a.data(), data.bias.data());
    for (int k = 0; k < n; ++k) call.out[0][k * n + k] -= data.a[k], call.out[1][k * n + k] -= data.bias[k];
  }
};

struct ForwardDynamicsDerivatives {
  static constexpr const char* name = "forward_dynamics_derivatives";
  static constexpr Argument inputs[] = {q, v, tau}, outputs[] = {a, square("da_dq"), square("da_dv"), square("da_dtau")};
  static constexpr bool takes_wrenches = true, solves = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    detail::total_forces(model, call);
    forward_dynamics_derivatives(model, data, call.in[0], call.in[1], call.out[0], call.out[0], call.out[1], call.out[2],
                                 call.out[3], call.wrenches);
    if (!call.options.joint_forces) return;
    const int n = model.n_v;
    joint_force_slopes(model, call.in[1], data.a.data(), data.bias.data());
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k) {
        const S& inverse = call.out[3][i * n + k];
        call.out[1][i * n + k] = mul_add(inverse, data.a[k], call.out[1][i * n + k]);
        call.out[2][i * n + k] = mul_add(inverse, data.bias[k], call.out[2][i * n + k]);
      }
  }
};

}  // namespace operations

using DerivativeOperations = OperationList<operations::RneaDerivatives, operations::ForwardDynamicsDerivatives>;

}  // namespace robosim

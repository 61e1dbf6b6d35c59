// Operations: the regressor of the bodies' inertial parameters, and derivatives with respect to the
// parameters of a model.
#pragma once

#include "dynamics/operations/arguments.h"
#include "dynamics/operations/own_forces.h"
#include "dynamics/parameter_derivatives.h"

namespace robosim {
namespace operations {

struct InertialRegressor {
  static constexpr const char* name = "inertial_regressor";
  static constexpr Argument inputs[] = {q, v, a}, outputs[] = {{"Y", 2, {dim_v, dim_inertial, 0}}};
  static constexpr bool uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    inertial_regressor(model, data, call.in[0], call.in[1], call.in[2], call.out[0]);
  }
};

struct RegressorTimes {
  static constexpr const char* name = "regressor_times";
  static constexpr Argument inputs[] = {q, v, a, {"x", 1, {dim_inertial, 0, 0}}},
                            outputs[] = {vector("dtau")};
  static constexpr bool uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    regressor_times(model, data, call.in[0], call.in[1], call.in[2], call.in[3], call.out[0]);
  }
};

struct RegressorTransposeTimes {
  static constexpr const char* name = "regressor_transpose_times";
  static constexpr Argument inputs[] = {q, v, a, vector("tau_bar")},
                            outputs[] = {{"pi_bar", 1, {dim_inertial, 0, 0}}};
  static constexpr bool uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    regressor_transpose_times(model, data, call.in[0], call.in[1], call.in[2], call.in[3],
                              call.out[0]);
  }
};

namespace detail {

constexpr Argument matrix_of(const char* name, int per_body) {
  if (per_body == 1) return {name, 2, {dim_v, dim_bodies, 0}};
  return {name, 3, {dim_v, dim_bodies, per_body}};
}
constexpr Argument gradient_of(const char* name, int per_body) {
  if (per_body == 1) return {name, 1, {dim_bodies, 0, 0}};
  return {name, 2, {dim_bodies, per_body, 0}};
}

template <class S>
ParameterOutputs<S> parameter_outputs(S* const* out) {
  return {out[0], out[1], out[2], out[3], out[4]};
}

}  // namespace detail

struct RneaParameterDerivatives {
  static constexpr const char* name = "rnea_parameter_derivatives";
  static constexpr Argument inputs[] = {q, v, a},
                            outputs[] = {detail::matrix_of("mass", 1), detail::matrix_of("com", 3),
                                         detail::matrix_of("inertia", 6),
                                         detail::matrix_of("placement", 6), square("armature")};
  static constexpr bool takes_wrenches = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    rnea_parameter_derivatives(model, data, call.in[0], call.in[1], call.in[2],
                               detail::parameter_outputs(call.out), call.wrenches);
  }
};

struct RneaParameterVjp {
  static constexpr const char* name = "rnea_parameter_vjp";
  static constexpr Argument inputs[] = {q, v, a, vector("tau_bar")},
                            outputs[] = {detail::gradient_of("mass", 1),
                                         detail::gradient_of("com", 3),
                                         detail::gradient_of("inertia", 6),
                                         detail::gradient_of("placement", 6), vector("armature")};
  static constexpr bool takes_wrenches = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    rnea_parameter_vjp(model, data, call.in[0], call.in[1], call.in[2], call.in[3],
                       detail::parameter_outputs(call.out), call.wrenches);
  }
};

struct ForwardDynamicsParameterDerivatives {
  static constexpr const char* name = "forward_dynamics_parameter_derivatives";
  static constexpr Argument inputs[] = {q, v, tau}, outputs[] = {a,
                                                                 detail::matrix_of("mass", 1),
                                                                 detail::matrix_of("com", 3),
                                                                 detail::matrix_of("inertia", 6),
                                                                 detail::matrix_of("placement", 6),
                                                                 square("armature")};
  static constexpr bool takes_wrenches = true, solves = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    forward_dynamics_parameter_derivatives(
        model, data, call.in[0], call.in[1],
        detail::all_forces(model, data, call, call.in[0], call.in[1], call.in[2]), call.out[0],
        detail::parameter_outputs(call.out + 1), call.wrenches);
  }
};

struct ForwardDynamicsParameterVjp {
  static constexpr const char* name = "forward_dynamics_parameter_vjp";
  static constexpr Argument inputs[] = {q, v, tau, vector("a_bar")},
                            outputs[] = {detail::gradient_of("mass", 1),
                                         detail::gradient_of("com", 3),
                                         detail::gradient_of("inertia", 6),
                                         detail::gradient_of("placement", 6), vector("armature")};
  static constexpr bool takes_wrenches = true, solves = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    // Results that the operation does not return.
    S *acceleration = data.work.data() + 2 * model.n_v, *tau_bar = acceleration + model.n_v;
    forward_dynamics_parameter_vjp(
        model, data, call.in[0], call.in[1],
        detail::all_forces(model, data, call, call.in[0], call.in[1], call.in[2]), call.in[3],
        acceleration, tau_bar, detail::parameter_outputs(call.out), call.wrenches);
  }
};

}  // namespace operations

using ParameterOperations =
    OperationList<operations::InertialRegressor, operations::RegressorTimes,
                  operations::RegressorTransposeTimes, operations::RneaParameterDerivatives,
                  operations::RneaParameterVjp, operations::ForwardDynamicsParameterDerivatives,
                  operations::ForwardDynamicsParameterVjp>;

}  // namespace robosim

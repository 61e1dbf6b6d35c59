// Operations: motion on the space of configurations.
#pragma once

#include "dynamics/configuration.h"
#include "dynamics/operations/arguments.h"

namespace robosim {
namespace operations {

struct Integrate {
  static constexpr const char* name = "integrate";
  static constexpr Argument inputs[] = {q, v}, outputs[] = {{"q_next", 1, {dim_q, 0, 0}}};
  static constexpr bool uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>&, const Call<S>& call) {
    integrate(model, call.in[0], call.in[1], call.out[0]);
  }
};

struct Difference {
  static constexpr const char* name = "difference";
  static constexpr Argument inputs[] = {{"q0", 1, {dim_q, 0, 0}}, {"q1", 1, {dim_q, 0, 0}}},
                            outputs[] = {v};
  static constexpr bool uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>&, const Call<S>& call) {
    difference(model, call.in[0], call.in[1], call.out[0]);
  }
};

}  // namespace operations

using ConfigurationOperations = OperationList<operations::Integrate, operations::Difference>;

}  // namespace robosim

// The registry of operations and its compiled forms.
#include "dynamics/kernels.h"

#include <cstring>

#include "base/cpu.h"
#include "dynamics/compiled/groups.h"
#include "dynamics/operations/configurations.h"
#include "dynamics/operations/derivatives.h"
#include "dynamics/operations/frames.h"
#include "dynamics/operations/momentum.h"
#include "dynamics/operations/parameters.h"
#include "dynamics/operations/products.h"
#include "dynamics/operations/second_order.h"
#include "dynamics/operations/solves.h"
#include "dynamics/operations/values.h"

namespace robosim {

namespace {

template <class... Ops>
void add_infos(OperationList<Ops...>, std::vector<OperationInfo>& to) {
  (to.push_back(operation_info<Ops>()), ...);
}

template <Isa isa>
const Kernels* compiled() {
  static const Kernels all = [] {
    Kernels k{isa, lanes_of(isa), &detail::make_workspace<isa>, {}};
    k.operations.resize(all_operations().size());
    Kernel* to = k.operations.data();
    detail::configuration_kernels<isa>(to), to += ConfigurationOperations::size;
    detail::frame_kernels<isa>(to), to += FrameOperations::size;
    detail::value_kernels<isa>(to), to += ValueOperations::size;
    detail::derivative_kernels<isa>(to), to += DerivativeOperations::size;
    detail::product_kernels<isa>(to), to += ProductOperations::size;
    detail::second_order_kernels<isa>(to), to += SecondOrderOperations::size;
    detail::parameter_kernels<isa>(to), to += ParameterOperations::size;
    detail::momentum_kernels<isa>(to), to += MomentumOperations::size;
    detail::solve_kernels<isa>(to), to += SolveOperations::size;
    return k;
  }();
  return &all;
}

}  // namespace

const std::vector<OperationInfo>& all_operations() {
  static const std::vector<OperationInfo> all = [] {
    std::vector<OperationInfo> infos;
    add_infos(ConfigurationOperations(), infos);
    add_infos(FrameOperations(), infos);
    add_infos(ValueOperations(), infos);
    add_infos(DerivativeOperations(), infos);
    add_infos(ProductOperations(), infos);
    add_infos(SecondOrderOperations(), infos);
    add_infos(ParameterOperations(), infos);
    add_infos(MomentumOperations(), infos);
    add_infos(SolveOperations(), infos);
    return infos;
  }();
  return all;
}

int operation_index(const char* name) {
  for (std::size_t i = 0; i < all_operations().size(); ++i)
    if (std::strcmp(all_operations()[i].name, name) == 0) return static_cast<int>(i);
  return -1;
}

const Kernels* kernels(Isa isa) {
  switch (isa) {
#ifdef ROBOSIM_WITH_V4
    case Isa::v4: return compiled<Isa::v4>();
#endif
#ifdef ROBOSIM_WITH_V3
    case Isa::v3: return compiled<Isa::v3>();
#endif
    case Isa::baseline: return compiled<Isa::baseline>();
    default: return nullptr;
  }
}

const Kernels& kernels() {
  static const Kernels& chosen = *kernels(kernel_isa());
  return chosen;
}

}  // namespace robosim

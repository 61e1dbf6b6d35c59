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

template <class... List>
struct Groups {};
// All groups. To add one, list it here and add a translation unit in compiled/.
using AllGroups = Groups<ConfigurationOperations, FrameOperations, ValueOperations,
                         DerivativeOperations, ProductOperations, SecondOrderOperations,
                         ParameterOperations, MomentumOperations, SolveOperations>;

template <class... Ops>
void add_infos(OperationList<Ops...>, std::vector<OperationInfo>& to) {
  (to.push_back(operation_info<Ops>()), ...);
}

template <class... List>
std::vector<OperationInfo> infos_of(Groups<List...>) {
  std::vector<OperationInfo> infos;
  (add_infos(List(), infos), ...);
  return infos;
}

template <Isa isa, class... List>
void add_kernels(Groups<List...>, Kernel* to) {
  ((detail::group_kernels<List, isa>(to), to += List::size), ...);
}

template <Isa isa>
const Kernels* compiled() {
  static const Kernels all = [] {
    Kernels k{isa, lanes_of(isa), &detail::make_workspace<isa>, {}};
    k.operations.resize(all_operations().size());
    add_kernels<isa>(AllGroups(), k.operations.data());
    return k;
  }();
  return &all;
}

}  // namespace

const std::vector<OperationInfo>& all_operations() {
  static const std::vector<OperationInfo> all = infos_of(AllGroups());
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
    case Isa::v4:
      return compiled<Isa::v4>();
#endif
#ifdef ROBOSIM_WITH_V3
    case Isa::v3:
      return compiled<Isa::v3>();
#endif
    case Isa::baseline:
      return compiled<Isa::baseline>();
    default:
      return nullptr;
  }
}

const Kernels& kernels() {
  static const Kernels& chosen = *kernels(kernel_isa());
  return chosen;
}

}  // namespace robosim

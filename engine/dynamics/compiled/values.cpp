// Kinematics and dynamics, compiled for one instruction set.
#include "dynamics/compiled/compile.h"
#include "dynamics/compiled/groups.h"
#include "dynamics/operations/values.h"

namespace robosim::detail {

template <>
void group_kernels<ValueOperations, own_isa>(Kernel* to) {
  add_kernels<own_isa>(ValueOperations(), to);
}

template <>
std::unique_ptr<Workspace> make_workspace<own_isa>(const Model&) {
  return std::make_unique<KernelWorkspace<own_isa>>();
}

}  // namespace robosim::detail

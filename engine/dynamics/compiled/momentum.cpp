// Momentum and center of mass, compiled for one instruction set.
#include "dynamics/compiled/compile.h"
#include "dynamics/compiled/groups.h"
#include "dynamics/operations/momentum.h"

namespace robosim::detail {

template <>
void group_kernels<MomentumOperations, own_isa>(Kernel* to) {
  add_kernels<own_isa>(MomentumOperations(), to);
}

}  // namespace robosim::detail

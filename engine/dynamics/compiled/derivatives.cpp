// First derivatives, compiled for one instruction set.
#include "dynamics/compiled/compile.h"
#include "dynamics/compiled/groups.h"
#include "dynamics/operations/derivatives.h"

namespace robosim::detail {

template <>
void group_kernels<DerivativeOperations, own_isa>(Kernel* to) {
  add_kernels<own_isa>(DerivativeOperations(), to);
}

}  // namespace robosim::detail

// Solves with the mass matrix, compiled for one instruction set.
#include "dynamics/compiled/compile.h"
#include "dynamics/compiled/groups.h"
#include "dynamics/operations/solves.h"

namespace robosim::detail {

template <>
void group_kernels<SolveOperations, own_isa>(Kernel* to) {
  add_kernels<own_isa>(SolveOperations(), to);
}

}  // namespace robosim::detail

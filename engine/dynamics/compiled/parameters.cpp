// Derivatives with respect to the model's parameters, compiled for one instruction set.
#include "dynamics/compiled/compile.h"
#include "dynamics/compiled/groups.h"
#include "dynamics/operations/parameters.h"

namespace robosim::detail {

template <>
void group_kernels<ParameterOperations, own_isa>(Kernel* to) {
  add_kernels<own_isa>(ParameterOperations(), to);
}

}  // namespace robosim::detail

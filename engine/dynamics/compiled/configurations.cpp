// Motion on the space of configurations, compiled for one instruction set.
#include "dynamics/compiled/compile.h"
#include "dynamics/compiled/groups.h"
#include "dynamics/operations/configurations.h"

namespace robosim::detail {

template <>
void group_kernels<ConfigurationOperations, own_isa>(Kernel* to) {
  add_kernels<own_isa>(ConfigurationOperations(), to);
}

}  // namespace robosim::detail

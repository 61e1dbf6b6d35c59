// Second-order products, compiled for one instruction set.
#include "dynamics/compiled/compile.h"
#include "dynamics/compiled/groups.h"
#include "dynamics/operations/second_order.h"

namespace robosim::detail {

template <>
void group_kernels<SecondOrderOperations, own_isa>(Kernel* to) {
  add_kernels<own_isa>(SecondOrderOperations(), to);
}

}  // namespace robosim::detail

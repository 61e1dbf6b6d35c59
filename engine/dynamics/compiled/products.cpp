// Products with first derivatives, compiled for one instruction set.
#include "dynamics/compiled/compile.h"
#include "dynamics/compiled/groups.h"
#include "dynamics/operations/products.h"

namespace robosim::detail {

template <>
void group_kernels<ProductOperations, own_isa>(Kernel* to) {
  add_kernels<own_isa>(ProductOperations(), to);
}

}  // namespace robosim::detail

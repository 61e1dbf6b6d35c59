// Groups of operations. Each group is compiled in a translation unit of its own, once for every
// instruction set.
#pragma once

#include <memory>

#include "base/isa.h"
#include "dynamics/kernels.h"

namespace robosim::detail {

// Write the kernels of one group, an OperationList, in its order.
template <class Group, Isa isa>
void group_kernels(Kernel* to);

template <Isa isa>
std::unique_ptr<Workspace> make_workspace(const Model& model);

}  // namespace robosim::detail

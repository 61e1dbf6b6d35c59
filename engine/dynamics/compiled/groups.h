// The groups of operations: each is compiled in a translation unit of its own, once for every instruction set.
#pragma once

#include <memory>

#include "base/isa.h"
#include "dynamics/kernels.h"

namespace robosim::detail {

// Writes the kernels of one group, in its list's order.
template <Isa isa>
void configuration_kernels(Kernel* to);
template <Isa isa>
void frame_kernels(Kernel* to);
template <Isa isa>
void value_kernels(Kernel* to);
template <Isa isa>
void derivative_kernels(Kernel* to);
template <Isa isa>
void product_kernels(Kernel* to);
template <Isa isa>
void second_order_kernels(Kernel* to);
template <Isa isa>
void parameter_kernels(Kernel* to);
template <Isa isa>
void momentum_kernels(Kernel* to);
template <Isa isa>
void solve_kernels(Kernel* to);

template <Isa isa>
std::unique_ptr<Workspace> make_workspace(const Model& model);

}  // namespace robosim::detail

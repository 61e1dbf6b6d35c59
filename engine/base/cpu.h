// Choice of the instruction set that the kernels use, at run time.
#pragma once

#include <string_view>
#include <type_traits>

#include "base/isa.h"

namespace robosim {

// True if this build has kernels for the instruction set, and if processor and operating system can
// run them, respectively.
bool is_built(Isa isa);
bool is_supported(Isa isa);

// Return the highest instruction set that is both built and supported.
Isa best_isa();

// Return the instruction set of a name. Throws InputError if the name is unknown, or its
// instruction set is not built or not supported; the message lists the valid names.
Isa isa_named(std::string_view name);

// Return the instruction set of this process: the one that the environment variable ROBOSIM_ISA
// names at the first call, else the best one.
Isa kernel_isa();

// Return choose(isa) for kernel_isa(), passed as std::integral_constant.
template <class Choose>
decltype(auto) for_kernel_isa(const Choose& choose) {
#define ROBOSIM_CHOOSE(isa) \
  if (kernel_isa() == Isa::isa) return choose(std::integral_constant<Isa, Isa::isa>());
  ROBOSIM_FOR_EACH_ISA(ROBOSIM_CHOOSE)
#undef ROBOSIM_CHOOSE
  return choose(std::integral_constant<Isa, Isa::baseline>());  // kernel_isa() is one of the above
}

}  // namespace robosim

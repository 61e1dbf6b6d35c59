// Which instruction set the kernels use, found when the program runs.
#pragma once

#include <string_view>
#include <type_traits>

#include "base/isa.h"

namespace robosim {

// Whether this build holds kernels for it, and whether processor and operating system can run them.
bool is_built(Isa isa);
bool is_supported(Isa isa);

// The highest that is both.
Isa best_isa();

// The one of this name. Throws InputError for a name that is none, or of one that is not built or
// not supported; the message says which are valid here.
Isa isa_named(std::string_view name);

// What this process uses: the one that the environment variable ROBOSIM_ISA names at the first
// call, or the best.
Isa kernel_isa();

// What choose(isa) gives for that one, as std::integral_constant.
template <class Choose>
decltype(auto) for_kernel_isa(const Choose& choose) {
#define ROBOSIM_CHOOSE(isa) \
  if (kernel_isa() == Isa::isa) return choose(std::integral_constant<Isa, Isa::isa>());
  ROBOSIM_FOR_EACH_ISA(ROBOSIM_CHOOSE)
#undef ROBOSIM_CHOOSE
  return choose(std::integral_constant<Isa, Isa::baseline>());  // kernel_isa() is one of those
}

}  // namespace robosim

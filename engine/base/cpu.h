// Which instruction set the kernels use, found when the program runs.
#pragma once

#include <string_view>

#include "base/isa.h"

namespace robosim {

// Whether this build holds kernels for it, and whether processor and operating system can run them.
bool is_built(Isa isa);
bool is_supported(Isa isa);

// The highest that is both.
Isa best_isa();

// The one of this name. Throws InputError for a name that is none, or of one that is not built or not supported; the
// message says which are valid here.
Isa isa_named(std::string_view name);

// What this process uses: the one that the environment variable ROBOSIM_ISA names at the first call, or the best.
Isa kernel_isa();

}  // namespace robosim

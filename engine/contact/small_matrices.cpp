// The choice of the instruction set.
#include "contact/small_matrices.h"

#include "base/cpu.h"

namespace robosim {

const SmallMatrices& small_matrices() {
  static const SmallMatrices& chosen = []() -> const SmallMatrices& {
#define ROBOSIM_SMALL_MATRICES(isa) \
  if (kernel_isa() == Isa::isa) return detail::small_matrices<Isa::isa>();
    ROBOSIM_FOR_EACH_ISA(ROBOSIM_SMALL_MATRICES)
#undef ROBOSIM_SMALL_MATRICES
    return detail::small_matrices<Isa::baseline>();  // kernel_isa() is one of those
  }();
  return chosen;
}

}  // namespace robosim

// Choice of the implementation by instruction set.
#include "base/linalg/small_matrices.h"

#include "base/cpu.h"

namespace robosim {

const SmallMatrices& small_matrices() {
  static const SmallMatrices& chosen = for_kernel_isa(
      [](auto isa) -> const SmallMatrices& { return detail::small_matrices<isa>(); });
  return chosen;
}

}  // namespace robosim

// Selection of the instruction set.
#include "step/columns.h"

#include "base/cpu.h"

namespace robosim {

const Columns& columns() {
  static const Columns& chosen =
      for_kernel_isa([](auto isa) -> const Columns& { return detail::columns<isa>(); });
  return chosen;
}

}  // namespace robosim

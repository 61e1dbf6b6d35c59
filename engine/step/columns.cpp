// The choice of the instruction set.
#include "step/columns.h"

#include "base/cpu.h"

namespace robosim {

const Columns& columns() {
  static const Columns& chosen = []() -> const Columns& {
#define ROBOSIM_COLUMNS(isa) \
  if (kernel_isa() == Isa::isa) return detail::columns<Isa::isa>();
    ROBOSIM_FOR_EACH_ISA(ROBOSIM_COLUMNS)
#undef ROBOSIM_COLUMNS
    return detail::columns<Isa::baseline>();  // kernel_isa() is one of those
  }();
  return chosen;
}

}  // namespace robosim

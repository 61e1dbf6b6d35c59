// The choice of the instruction set.
#include "contact/column_solves.h"

#include "base/cpu.h"

namespace robosim {

const ColumnSolves& column_solves() {
#define ROBOSIM_COLUMN_SOLVES(isa) \
  if (kernel_isa() == Isa::isa) return detail::column_solves<Isa::isa>();
  ROBOSIM_FOR_EACH_ISA(ROBOSIM_COLUMN_SOLVES)
#undef ROBOSIM_COLUMN_SOLVES
  return detail::column_solves<Isa::baseline>();  // kernel_isa() is one of those
}

}  // namespace robosim

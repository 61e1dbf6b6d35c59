// The choice of the instruction set.
#include "step/inverse_dynamics_rates.h"

#include "base/cpu.h"

namespace robosim {

const InverseDynamicsRates& inverse_dynamics_rates() {
  static const InverseDynamicsRates& chosen = []() -> const InverseDynamicsRates& {
#define ROBOSIM_INVERSE_DYNAMICS_RATES(isa) \
  if (kernel_isa() == Isa::isa) return detail::inverse_dynamics_rates<Isa::isa>();
    ROBOSIM_FOR_EACH_ISA(ROBOSIM_INVERSE_DYNAMICS_RATES)
#undef ROBOSIM_INVERSE_DYNAMICS_RATES
    return detail::inverse_dynamics_rates<Isa::baseline>();  // kernel_isa() is one of those
  }();
  return chosen;
}

}  // namespace robosim

// Selection of the instruction set.
#include "step/inverse_dynamics_rates.h"

#include "base/cpu.h"

namespace robosim {

const InverseDynamicsRates& inverse_dynamics_rates() {
  static const InverseDynamicsRates& chosen =
      for_kernel_isa([](auto isa) -> const InverseDynamicsRates& {
        return detail::inverse_dynamics_rates<isa>();
      });
  return chosen;
}

}  // namespace robosim

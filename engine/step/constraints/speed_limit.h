// Speed limits of joints with one position, if enabled (StepOptions::speed_limits): |v+| within the
// limit. Velocities of floating bodies are expressed in rotating axes, and are not limited.
//
//   w = +-v+,   t = -limit
#pragma once

#include <cmath>

#include "step/constraints/constraint.h"

namespace robosim {

struct SpeedLimit {
  enum Role : std::uint8_t { backward, forward };
  static constexpr const char* roles[] = {"backward_speed_limit", "forward_speed_limit"};

  static double greatest(const StepData& step, int v) { return step.model().limits.velocity[v]; }

  static bool is_there(const StepData& step, const StepInput&, int v, int q) {
    return step.options.speed_limits && q >= 0 && std::isfinite(greatest(step, v));
  }

  static void add_rows(const StepData& step, const StepInput& in, int v, int i,
                       StepIsland& island) {
    if (!is_there(step, in, v, i)) return;
    RowAssembly::add_row<SpeedLimit>(island, backward).d[0] = 1;
    RowAssembly::add_row<SpeedLimit>(island, forward).d[0] = -1;
  }

  static void set_target(const StepData& step, const StepInput&, const CoordinateRow& x,
                         ConstraintRow& row, StepIsland::Row&) {
    row.target = -greatest(step, x.v());
  }

  static TargetRates target_rates(const StepData&, const StepInput&, const CoordinateRow&) {
    return {};
  }

  static void add_vjp(const CoordinateRow& x, const StepAdjoint& to) {
    *to.of("speed_limit", x.v()) -= x.target_bar();
  }
};

}  // namespace robosim

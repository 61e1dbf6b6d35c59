// Dry friction of a joint: w = v+ = 0 with impulses of at most friction dt. Exact, unlike the
// smooth friction of joint_forces.h.
#pragma once

#include "step/constraints/constraint.h"

namespace robosim {

struct DryFriction {
  enum Role : std::uint8_t { at_rest };
  static constexpr const char* roles[] = {"joint_friction"};

  static double greatest(const StepData& step, int v) { return step.model().friction[v]; }

  static bool is_there(const StepData& step, const StepInput&, int v, int) {
    return greatest(step, v) > 0;
  }

  static void add_rows(const StepData& step, const StepInput&, int v, int, StepIsland& island) {
    if (!(greatest(step, v) > 0)) return;
    ConstraintRow& row = RowAssembly::add_row<DryFriction>(island, at_rest);
    row.kind = RowKind::box;
    row.d[0] = 1;
    row.upper = greatest(step, v) * step.options.dt;
    row.lower = -row.upper;
  }

  // The target is zero.
  static void set_target(const StepData&, const StepInput&, const CoordinateRow&, ConstraintRow&,
                         StepIsland::Row&) {}

  static TargetRates target_rates(const StepData&, const StepInput&, const CoordinateRow&) {
    return {};
  }

  static void add_vjp(const CoordinateRow& x, const StepAdjoint& to) {
    *to.of("joint_friction", x.v()) += to.step.options.dt * x.bound_bar();
    *to.of("dt") += greatest(to.step, x.v()) * x.bound_bar();
  }
};

}  // namespace robosim

// Taking back what overlaps, is beyond a limit or has come apart: x, negative where things overlap.
//
// By the velocity, t = -erp/dt x: rows ask the velocity at the end of the step for it, which is left with it.
// By the position: rows ask the velocity for no more than standing still, t = 0. Where any x is beyond rounding, the rows of its island are solved once more,
// from the same velocity without rows, with t = -erp/dt x, at most recovery_speed; q advances by that solution, v by the first. So an overlap goes away
// and leaves no velocity behind, as split impulses do that feel friction and all other rows. Derivatives are those of both solutions (linearization/).
#pragma once

#include <algorithm>
#include <cmath>

#include "step/step_data.h"

namespace robosim {

// [m or rad] Less than this is rounding.
constexpr double rounding_of_place = 1e-12;

// The target of a row, and what it changes by with x.
struct Recovery {
  double target = 0, rate = 0;

  // The target's derivative by dt: it goes with 1/dt.
  double by_dt(double x, double dt) const { return -rate * x / dt; }
};

// Target of a row that holds x at zero from both sides.
inline Recovery take_back(const StepData& step, double x) {
  const double rate = -step.options.erp / step.options.dt, speed = step.options.recovery_speed;
  if (step.options.recovery == RecoveryId("velocity")) return {rate * x, rate};
  if (!step.takes_back) return {};
  return std::abs(rate * x) <= speed ? Recovery{rate * x, rate} : Recovery{std::copysign(speed, rate * x), 0};
}

// Target of a row that keeps a gap from becoming negative: a positive one keeps a part of itself.
inline Recovery keep_apart(const StepData& step, double gap) {
  if (gap < 0) return take_back(step, gap);
  const double rate = -step.options.erp / step.options.dt;
  return {rate * gap, rate};
}

// True where the position has something to take back, from both sides or of a gap.
inline bool is_apart(const StepData& step, double x) { return step.options.recovery == RecoveryId("position") && std::abs(x) > rounding_of_place; }
inline bool overlaps(const StepData& step, double gap) { return gap < 0 && is_apart(step, gap); }

}  // namespace robosim

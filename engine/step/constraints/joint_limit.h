// Limits of a joint's position: unilateral rows on the coordinate, within limit_margin of a limit.
//
//   w = +-v+,   gap = q - q_lower  or  q_upper - q,   t by recovery.h
//
// A joint with a speed limit (speed_limit.h) returns no faster: t is at most that speed limit.
#pragma once

#include "step/constraints/constraint.h"
#include "step/constraints/recovery.h"
#include "step/constraints/speed_limit.h"

namespace robosim {

struct JointLimit {
  enum Role : std::uint8_t { lower, upper };
  static constexpr const char* roles[] = {"lower_limit", "upper_limit"};

  static double gap(const StepData& step, const StepInput& in, int role, int i) {
    const Limits& limits = step.model().limits;
    const std::size_t k = static_cast<std::size_t>(i);
    return role == lower ? in.q[i] - limits.q_lower[k] : limits.q_upper[k] - in.q[i];
  }
  static bool is_near(const StepData& step, const StepInput& in, int role, int i) {
    return i >= 0 && gap(step, in, role, i) <= step.options.limit_margin;
  }

  static bool is_there(const StepData& step, const StepInput& in, int, int i) {
    return is_near(step, in, lower, i) || is_near(step, in, upper, i);
  }

  static void add_rows(const StepData& step, const StepInput& in, int, int i, StepIsland& island) {
    for (const Role role : {lower, upper}) {
      if (is_near(step, in, role, i))
        RowAssembly::add_row<JointLimit>(island, role).d[0] = role == lower ? 1 : -1;
    }
  }

  static Recovery kept(const StepData& step, const StepInput& in, const CoordinateRow& x) {
    return keep_apart(step, gap(step, in, x.role(), x.q()), step.options.limit_margin);
  }
  static bool is_slowed(const StepData& step, const StepInput& in, const CoordinateRow& x) {
    return SpeedLimit::is_there(step, in, x.v(), x.q()) &&
           kept(step, in, x).target > SpeedLimit::greatest(step, x.v());
  }

  static void set_target(const StepData& step, const StepInput& in, const CoordinateRow& x,
                         ConstraintRow& row, StepIsland::Row& source) {
    const bool slowed = is_slowed(step, in, x);
    row.target = slowed ? SpeedLimit::greatest(step, x.v()) : kept(step, in, x).target;
    source.keeping = slowed ? Keeping::fastest : kept(step, in, x).keeping;
  }

  static TargetRates target_rates(const StepData& step, const StepInput& in,
                                  const CoordinateRow& x) {
    if (is_clipped(x.island, x.i) || is_slowed(step, in, x)) return {};
    const double rate = kept(step, in, x).rate;
    return {.q = x.role() == lower ? rate : -rate};
  }

  static void add_vjp(const CoordinateRow& x, const StepAdjoint& to) {
    if (is_clipped(x.island, x.i)) return;
    if (is_slowed(to.step, to.in, x)) {
      *to.of("speed_limit", x.v()) += x.target_bar();
      return;
    }
    *(x.role() == lower ? to.of("lower_limit", x.q()) : to.of("upper_limit", x.q())) -=
        target_rates(to.step, to.in, x).q * x.target_bar();
    *to.of("dt") += kept(to.step, to.in, x).by_dt * x.target_bar();
  }
};

}  // namespace robosim

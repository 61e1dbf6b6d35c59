// Motors: a spring and a damper to a target, evaluated at the end of the step, within the motor's
// limit,
//
//   f = dt (k (q_t - q - dt w) + d (v_t - w)),   w = v+,   |f| <= limit dt
//
// f is an impulse [N s or N m s], k position_gain, d velocity_gain, limit motor_limit. Without a
// q_target, q_t is q. This is a row of compliance 1 / (dt (k dt + d)) with the target
//   t = (k (q_t - q) + d v_t) / (k dt + d)
#pragma once

#include <cmath>

#include "step/constraints/constraint.h"

namespace robosim {

struct JointMotor {
  enum Role : std::uint8_t { drive };
  static constexpr const char* roles[] = {"motor"};

  static bool is_there(const StepData& step, const StepInput&, int v, int) {
    return step.world->motor(v).is_there();
  }

  static void add_rows(const StepData& step, const StepInput&, int v, int, StepIsland& island) {
    const Motor& motor = step.world->motor(v);
    if (!motor.is_there()) return;
    const double dt = step.options.dt;
    ConstraintRow& row = RowAssembly::add_row<JointMotor>(island, drive);
    row.kind = std::isfinite(motor.limit) ? RowKind::box : RowKind::equality;
    row.d[0] = 1;
    row.compliance = 1 / (dt * (motor.position_gain * dt + motor.velocity_gain));
    if (row.kind == RowKind::box) {
      row.upper = motor.limit * dt;
      row.lower = -row.upper;
    }
  }

  // Position error and target velocity of a motor.
  struct Pull {
    double stretch, speed;
    bool has_position;

    Pull(const StepInput& in, const CoordinateRow& x) {
      has_position = x.q() >= 0 && in.control.q_target;
      stretch = has_position ? in.control.q_target[x.q()] - in.q[x.q()] : 0.0;
      speed = in.control.v_target ? in.control.v_target[x.v()] : 0.0;
    }
  };
  static double divisor(const StepData& step, const Motor& motor) {
    return motor.position_gain * step.options.dt + motor.velocity_gain;
  }

  static void set_target(const StepData& step, const StepInput& in, const CoordinateRow& x,
                         ConstraintRow& row, StepIsland::Row&) {
    const Motor& motor = step.world->motor(x.v());
    const Pull pull(in, x);
    row.target = (motor.position_gain * pull.stretch + motor.velocity_gain * pull.speed) /
                 divisor(step, motor);
  }

  static TargetRates target_rates(const StepData& step, const StepInput& in,
                                  const CoordinateRow& x) {
    const Motor& motor = step.world->motor(x.v());
    const double sum = divisor(step, motor),
                 by_position = Pull(in, x).has_position ? motor.position_gain / sum : 0.0;
    return {-by_position, by_position, motor.velocity_gain / sum};
  }

  static void add_vjp(const CoordinateRow& x, const StepAdjoint& to) {
    const Motor& motor = to.step.world->motor(x.v());
    const Pull pull(to.in, x);
    const double dt = to.step.options.dt, sum = divisor(to.step, motor),
                 target_bar = x.target_bar();
    // With the divisor s, the compliance is c = 1 / (dt s) and the target t = (...) / s. Therefore
    // dc/ds is -c / s, and dt/ds is -t / s. The variable is s times the gradient with respect to s.
    const double per_sum = -x.row().compliance * x.compliance_bar() - x.row().target * target_bar;
    *to.of("position_gain", x.v()) += (pull.stretch * target_bar + dt * per_sum) / sum;
    *to.of("velocity_gain", x.v()) += (pull.speed * target_bar + per_sum) / sum;
    if (x.row().kind == RowKind::box) {
      *to.of("motor_limit", x.v()) += dt * x.bound_bar();
      *to.of("dt") += motor.limit * x.bound_bar();
    }
    *to.of("dt") +=
        motor.position_gain / sum * per_sum - x.row().compliance / dt * x.compliance_bar();
  }
};

}  // namespace robosim

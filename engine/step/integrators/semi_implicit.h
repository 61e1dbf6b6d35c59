// Semi-implicit Euler with implicit damping and springs:
//
//   M^ (u - v) = dt (tau - h - D v - K (q - q_0 + dt v)) + J^T f,     M^ = M + dt D + dt^2 K,     q+ = q advanced by dt way
//
// with D the joints' damping, K their springs, f the impulses of the rows, and way = u but where impulses act late in the step (normal_law.h); positions
// and M, h are those at the start. All of this is in the axes at the start, those of bodies that move freely too, so h is without the part that the turning
// of their axes adds; they go straight and the new velocity is then told in their axes at the end (advance of configuration.h): the linear momentum of a
// body whose center of mass is at its origin is kept exactly.
//
// An integrator has a residual r(u) that is zero at the end of a step, here r = M^ (u - v) - dt (...) - J^T f, with its derivatives at fixed u; an operator
// dr/du, here M^, symmetric, as a factor; and how the state advances. Another integrator has every public function below, with these signatures. The
// derivatives of `advance` are advance_vjp and advance_jvp (dynamics/configuration.h) and Linearization::advance_jacobians.
#pragma once

#include <vector>

#include "step/step_data.h"
#include "step/step_gradient.h"

namespace robosim {

class SemiImplicit {
 public:
  explicit SemiImplicit(const Model& model);

  // The velocity at the end without any row, and the factor of the operator that goes with it.
  void move_freely(StepData& step, const StepInput& in);
  // Operator^-1 x.
  static void solve(const StepData& step, double* x);
  // The next state from step.way and step.u; v_next is the latter in the axes at the end.
  static void advance(const StepData& step, const StepInput& in, double* q_next, double* v_next);

  // -lambda . dr in the state, the control and the parameters.
  void add_residual_vjp(StepData& step, const StepInput& in, const std::vector<double>& lambda, StepGradient& gradient);
  // What the operator has on its diagonal, for what a loss changes by with each entry: armature, dt damping, dt^2 stiffness.
  static void add_diagonal_vjp(const StepData& step, const std::vector<double>& inertia_bar, StepGradient& gradient);
  // Adds -dr along a direction; displaced: where bodies go along it, and their frames.
  void add_residual_jvp(StepData& step, const StepInput& in, const StepGradient& direction, double* change, std::vector<Motion<double>>& displaced);
  // The columns of -dr by q and by v, n_v rows a stride apart. By v, with T what the turning of axes changes by with it (turning_rates),
  //   M^^-1 (M (1 - dt T) - dt dh/dv) = W + M^^-1 (-dt dh/dv - (M^ - M) W),   W = 1 - dt T,
  // so that M itself is not needed: by_v is what M^^-1 takes here, and add_carried_velocity adds W behind it.
  void fill_residual_rates(StepData& step, const StepInput& in, double* by_q, double* by_v, int stride);
  static void add_carried_velocity(const StepData& step, const StepInput& in, double* by_v, int stride);

 private:
  std::vector<double> held_, a_, a_bar_, q_part_, v_part_, d_acceleration_;  // n_v
};

}  // namespace robosim

// The tangent of a step that was taken: what the next state changes by along one direction
// (step_jvp.cpp). SharedRates::has_everything must hold.
#pragma once

#include <vector>

#include "step/linearization/moving_channels.h"
#include "step/linearization/step_vjp.h"

namespace robosim {

class StepJvp {
 public:
  StepJvp(StepData& step, Integrator& integrator, const SharedRates& shared, StepVjp& vjp)
      : step_(step), integrator_(integrator), shared_(shared), vjp_(vjp) {}

  // No impulse may act late in the step.
  void jvp(const StepInput& in, const StepGradient& direction, const TangentSpan& next);

 private:
  void add_answer(StepIsland& island, const StepInput& in, const StepGradient& direction);
  void add_impulses_jvp(const StepGradient& direction);
  Vec3d point_jvp(const StepIsland::Block& block, const StepGradient& direction) const;

  StepData& step_;
  Integrator& integrator_;
  const SharedRates& shared_;
  StepVjp& vjp_;

  std::vector<Motion<double>> displaced_;  // bodies: where they go along the direction
  // Bodies: what pushes on them; and what that changes by.
  std::vector<Force<double>> carried_, turned_;
  // n_v: of u with corrections, of u, of -r at u.
  std::vector<double> change_, velocity_change_, residual_change_;
  ImpulseSeeds seeds_;  // of an island
  // Along the direction: velocities of its channels, impulses of its seeds.
  std::vector<double> channels_by_, impulses_by_;
  StepGradient row_;  // of one impulse
};

}  // namespace robosim

// Tangent of the last step: the change of the next state along one direction (step_jvp.cpp).
// Requires SharedRates::has_everything.
#pragma once

#include <vector>

#include "step/linearization/moving_channels.h"
#include "step/linearization/step_vjp.h"

namespace robosim {

class StepJvp {
 public:
  StepJvp(StepData& step, Integrator& integrator, const SharedRates& shared, StepVjp& vjp)
      : step_(step), integrator_(integrator), shared_(shared), vjp_(vjp) {}

  // Fill the change of the next state along a direction. The step must have no impacts.
  void jvp(const StepInput& in, const StepGradient& direction, const TangentSpan& next);

 private:
  void add_answer(StepIsland& island, const StepInput& in, const StepGradient& direction);
  void add_impulses_jvp(const StepGradient& direction);
  Vec3d point_jvp(const StepIsland::Block& block, const StepGradient& direction) const;

  StepData& step_;
  Integrator& integrator_;
  const SharedRates& shared_;
  StepVjp& vjp_;

  std::vector<Motion<double>> displaced_;  // per body: motion along the direction
  // Per body: force of the impulses, and the change of this force.
  std::vector<Force<double>> carried_, turned_;
  // Changes (n_v) of u with corrections, of u, and of -r at u.
  std::vector<double> change_, velocity_change_, residual_change_;
  ImpulseSeeds seeds_;  // of one island
  // Changes along the direction: velocities of the island's channels, impulses of its seeds.
  std::vector<double> channels_by_, impulses_by_;
  StepGradient row_;  // gradient of one impulse
};

}  // namespace robosim

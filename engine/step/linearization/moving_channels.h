// The channels of an island along which something moves: by impulses of the others, as across the
// plane of a flat robot, nothing does.
#pragma once

#include <vector>

#include "base/linalg/cholesky.h"
#include "step/step_data.h"

namespace robosim {

struct MovingChannels {
  // Fills `moving`; gives their columns of Y, n_v rows.
  const double* find(const StepData& step, const StepIsland& island, std::vector<int>& moving);

 private:
  std::vector<double> Y_;  // n_v x those that move, where not all do
};

// Seeds of adjoints for an island's impulses, one adjoint each: Y z = moves (seeds z). As a rule
// seeds are the channels along which something moves. Where these depend on each other, as those of
// wheels on one axle, they are velocities: impulses that cancel each other would be beyond all
// measure, and rounding with them.
struct ImpulseSeeds {
  void find(const StepData& step, const StepIsland& island);

  int count = 0;
  std::vector<double> seeds;  // count x channels
  std::vector<double> moves;  // n_v x count

 private:
  MovingChannels moving_;
  std::vector<int> channels_;
  std::vector<double> L_;
  SemidefiniteFactor factor_;
};

// Fills the force and moment of contacts and closures on each body by itself.
void carry_impulses(const StepData& step, std::vector<Force<double>>& carried);

}  // namespace robosim

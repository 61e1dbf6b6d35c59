// The channels of an island along which something moves: by impulses of the others, as across the plane of a flat robot, nothing does.
#pragma once

#include <vector>

#include "step/step_data.h"

namespace robosim {

struct MovingChannels {
  // Fills `moving`; gives their columns of Y, n_v rows.
  const double* find(const StepData& step, const StepIsland& island, std::vector<int>& moving);

 private:
  std::vector<double> Y_;  // n_v x those that move, where not all do
};

// Fills the force and moment of contacts and closures on each body by itself.
void carry_impulses(const StepData& step, std::vector<Force<double>>& carried);

}  // namespace robosim

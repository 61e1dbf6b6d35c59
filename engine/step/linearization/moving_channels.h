// Channels of an island along which impulses move something. Impulses along the others, such as
// those across the plane of a planar robot, move nothing.
#pragma once

#include <vector>

#include "base/linalg/cholesky.h"
#include "step/step_data.h"

namespace robosim {

struct MovingChannels {
  // Fill `moving` with these channels. Return their columns of Y, n_v rows.
  const double* find(const StepData& step, const StepIsland& island, std::vector<int>& moving);

 private:
  std::vector<double> Y_;  // n_v x moving channels, unless all channels move
};

// Weights on the impulses z of an island for which adjoints are computed, one adjoint each, with
//   Y z = moves (seeds z)
// Usually the seeds are the channels along which something moves. If these channels are linearly
// dependent, as those of wheels on one axle, the seeds are joint velocities. Otherwise impulses
// that cancel each other would be unbounded, and so would their rounding errors.
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

// Fill the force and moment that contacts and closures exert on each body alone, without the bodies
// behind it.
void carry_impulses(const StepData& step, std::vector<Force<double>>& carried);

}  // namespace robosim

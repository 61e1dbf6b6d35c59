#include "step/linearization/moving_channels.h"

#include "base/index.h"
#include "step/motion_adjoint.h"

namespace robosim {

const double* MovingChannels::find(const StepData& step, const StepIsland& island, std::vector<int>& moving) {
  const int n = step.model().n_v, k = island.problem.channels;
  moving.clear();
  for (int c = 0; c < k; ++c) {
    int r = 0;
    while (r < n && island.X[at(r * k + c)] == 0) ++r;
    if (r < n) moving.push_back(c);
  }
  if (static_cast<int>(moving.size()) == k) return island.Y.data();
  Y_.resize(at(n) * moving.size());
  double* to = Y_.data();
  for (int r = 0; r < n; ++r)
    for (const int c : moving) *to++ = island.Y[at(r * k + c)];
  return Y_.data();
}

void carry_impulses(const StepData& step, std::vector<Force<double>>& carried) {
  carried.assign(at(step.model().n_bodies()), Force<double>());
  step.for_each_island([&](const StepIsland& island) {
    for (std::size_t b = 0; b < island.blocks.size(); ++b) {
      const StepIsland::Block& block = island.blocks[b];
      if (!block.is_of_bodies()) continue;
      const Force<double> F = channel_force(step, island, b, &island.solution.z[at(island.problem.blocks[b].first_channel)]);
      carried[at(block.b)] += F, carried[at(block.a)] += Force<double>{-F.angular, -F.linear};
    }
  });
}

}  // namespace robosim

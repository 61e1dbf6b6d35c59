#include "step/linearization/moving_channels.h"

#include <algorithm>

#include "base/index.h"
#include "base/linalg/zeros.h"
#include "step/motion_adjoint.h"

namespace robosim {

const double* MovingChannels::find(const StepData& step, const StepIsland& island,
                                   std::vector<int>& moving) {
  const int n = step.model().n_v, k = island.problem.channels;
  moving.clear();
  for (int c = 0; c < k; ++c) {
    int r = 0;
    while (r < n && island.X[r * k + c] == 0) ++r;
    if (r < n) moving.push_back(c);
  }
  // Copy the columns of Y if some channels do not move.
  if (static_cast<int>(moving.size()) == k) return island.Y.data();
  Y_.resize(at(n) * moving.size());
  double* to = Y_.data();
  for (int r = 0; r < n; ++r)
    for (const int c : moving) *to++ = island.Y[r * k + c];
  return Y_.data();
}

void ImpulseSeeds::find(const StepData& step, const StepIsland& island) {
  constexpr double independent = 1e-10;  // pivot of an independent channel, relative to the largest
  const int n = step.model().n_v, k = island.problem.channels;
  const double* const Y = moving_.find(step, island, channels_);
  const int w = static_cast<int>(channels_.size());
  L_.resize(at(w * w));
  for (int r = 0; r < w; ++r)
    for (int c = 0; c < w; ++c) L_[r * w + c] = island.problem.L[channels_[r] * k + channels_[c]];
  // Independent channels: one unit seed per channel.
  if (factor_.factor(L_.data(), w, independent) == w) {
    count = w;
    make_zeros(seeds, at(w * k));
    for (int c = 0; c < w; ++c) seeds[c * k + channels_[c]] = 1;
    moves.assign(Y, Y + n * w);
    return;
  }
  // Dependent channels: one seed per entry of v that the impulses change.
  count = 0;
  seeds.clear();
  std::vector<int>& entries = channels_;  // entries of v that impulses change
  entries.clear();
  for (int r = 0; r < n; ++r) {
    const double* const row = &island.Y[r * k];
    if (std::all_of(row, row + k, [](double y) { return y == 0; })) continue;
    seeds.insert(seeds.end(), row, row + k);
    entries.push_back(r);
    ++count;
  }
  make_zeros(moves, at(n * count));
  for (int c = 0; c < count; ++c) moves[entries[c] * count + c] = 1;
}

void carry_impulses(const StepData& step, std::vector<Force<double>>& carried) {
  carried.assign(step.model().n_bodies(), Force<double>());
  step.for_each_island([&](const StepIsland& island) {
    for (std::size_t b = 0; b < island.blocks.size(); ++b) {
      const StepIsland::Block& block = island.blocks[b];
      if (!block.is_of_bodies()) continue;
      const Force<double> F = channel_force(
          step, island, b, &island.solution.z[island.problem.blocks[b].first_channel]);
      carried[block.b] += F;
      carried[block.a] += Force<double>{-F.angular, -F.linear};
    }
  });
}

}  // namespace robosim

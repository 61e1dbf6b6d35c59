#include "rollout/rollouts.h"

#include <algorithm>

#include "base/thread_pool.h"

namespace robosim {
namespace {

constexpr int steps_between_looks = 1000;  // per thread, over all of its rollouts

int slice_of(int count, int threads) {
  return std::max(1, steps_between_looks / std::max(1, (count + threads - 1) / threads));
}

}  // namespace

ControlView ManyControls::of(const Model& m, int rollout, int steps) const {
  return is_shared ? first
                   : row(first, ControlLayout::of(m), static_cast<std::ptrdiff_t>(rollout) * steps);
}

int rollouts(std::span<Simulator* const> simulators, int count, const KeptStates& kept,
             const StateSpan& states, const ManyControls& controls, RolloutReport* reports,
             FunctionRef<bool(int)> go_on) {
  const Model& m = simulators.front()->world().model();
  const int threads = static_cast<int>(simulators.size()), slice = slice_of(count, threads);
  for (int begin = 0; begin < kept.steps; begin += slice) {
    if (begin > 0 && !go_on(begin)) return begin;
    const int end = begin + std::min(slice, kept.steps - begin);
    parallel_for(count, threads, [&](int r, int worker) {
      const StateSpan own =
          row(states, StateLayout::of(m), static_cast<std::ptrdiff_t>(r) * kept.rows());
      simulators[worker]->rollout(kept, begin, end, own, controls.of(m, r, kept.steps), reports[r]);
    });
  }
  return kept.steps;
}

int rollouts_vjp(std::span<Simulator* const> simulators, int count, const KeptStates& kept,
                 const StateView& states, const ManyControls& controls, const TangentView& bars,
                 StepGradient* gradients, const ControlSpan& controls_bar,
                 FunctionRef<bool(int)> go_on) {
  const World& world = simulators.front()->world();
  const Model& m = world.model();
  const StateLayout tangent = StateLayout::tangent(m);
  const int threads = static_cast<int>(simulators.size()), last = kept.rows() - 1;
  const int slice = std::max(1, slice_of(count, threads) / kept.interval);  // in checkpoints
  const auto first_row = [&](int r) { return static_cast<std::ptrdiff_t>(r) * kept.rows(); };
  for (int r = 0; r < count; ++r) {
    gradients[r].set_zero(world);
    const TangentView of_end = row(bars, tangent, first_row(r) + last);
    StateParts::for_each(
        [&](auto part) { part(gradients[r]).assign(part(of_end), part(of_end) + part(tangent)); });
  }
  for (int end = last; end > 0; end -= slice) {
    if (end < last && !go_on(kept.steps - kept.before(end))) return kept.steps - kept.before(end);
    parallel_for(count, threads, [&](int r, int worker) {
      simulators[worker]->rollout_vjp(
          kept, std::max(0, end - slice), end, row(states, StateLayout::of(m), first_row(r)),
          controls.of(m, r, kept.steps), row(bars, tangent, first_row(r)), gradients[r],
          row(controls_bar, ControlLayout::of(m), static_cast<std::ptrdiff_t>(r) * kept.steps));
    });
  }
  return kept.steps;
}

int rollouts_jacobians(std::span<Simulator* const> simulators, int count, const KeptStates& kept,
                       const StateView& states, const ManyControls& controls,
                       const JacobianBlocks& out, OneSided* one_sided,
                       FunctionRef<bool(int)> go_on) {
  const Model& m = simulators.front()->world().model();
  const int threads = static_cast<int>(simulators.size()), last = kept.rows() - 1;
  // In checkpoints.
  const int slice = std::max(1, threads * steps_between_looks / std::max(1, count) / kept.interval);
  for (int begin = 0; begin < last; begin += slice) {
    if (begin > 0 && !go_on(kept.before(begin))) return kept.before(begin);
    const int rows = std::min(slice, last - begin);
    parallel_for(count * rows, threads, [&](int i, int worker) {
      const int r = i / rows;
      const std::ptrdiff_t first_step = static_cast<std::ptrdiff_t>(r) * kept.steps;
      const StateView own =
          row(states, StateLayout::of(m), static_cast<std::ptrdiff_t>(r) * kept.rows());
      simulators[worker]->rollout_jacobians(kept, begin + i % rows, own,
                                            controls.of(m, r, kept.steps), out.of(m, first_step),
                                            one_sided + first_step);
    });
  }
  return kept.steps;
}

}  // namespace robosim

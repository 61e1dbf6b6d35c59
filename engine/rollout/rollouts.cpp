#include "rollout/rollouts.h"

#include <algorithm>

#include "base/thread_pool.h"

namespace robosim {
namespace {

constexpr int steps_between_looks = 1000;  // of a thread, on all its rollouts together

int slice_of(int count, int threads) { return std::max(1, steps_between_looks / std::max(1, (count + threads - 1) / threads)); }

std::ptrdiff_t rows(int rollout, int rows_each, int width) { return static_cast<std::ptrdiff_t>(rollout) * rows_each * width; }

// Where a rollout's own rows begin in an array of all; null where there is none.
template <class T>
T* rows_of(T* all, int rollout, int rows_each, int width) {
  return all ? all + rows(rollout, rows_each, width) : nullptr;
}

}  // namespace

RolloutControls ManyControls::of(const Model& m, int rollout, int steps) const {
  if (is_shared) return first;
  return {rows_of(first.tau, rollout, steps, m.n_v), rows_of(first.q_target, rollout, steps, m.n_q),
          rows_of(first.v_target, rollout, steps, m.n_v)};
}

int rollouts(std::span<Simulator* const> simulators, int count, const KeptStates& kept, double* q, double* v, const ManyControls& controls,
             RolloutReport* reports, FunctionRef<bool(int)> go_on) {
  const Model& m = simulators.front()->world().model();
  const int threads = static_cast<int>(simulators.size()), slice = slice_of(count, threads);
  for (int begin = 0; begin < kept.steps; begin += slice) {
    if (begin > 0 && !go_on(begin)) return begin;
    const int end = begin + std::min(slice, kept.steps - begin);
    parallel_for(count, threads, [&](int r, int worker) {
      simulators[static_cast<std::size_t>(worker)]->rollout(kept, begin, end, q + rows(r, kept.rows(), m.n_q), v + rows(r, kept.rows(), m.n_v),
                                                            controls.of(m, r, kept.steps), reports[r]);
    });
  }
  return kept.steps;
}

int rollouts_vjp(std::span<Simulator* const> simulators, int count, const KeptStates& kept, const double* q, const double* v, const ManyControls& controls,
                 const double* q_bar, const double* v_bar, StepGradient* gradients, double* tau, double* q_target, double* v_target,
                 FunctionRef<bool(int)> go_on) {
  const World& world = simulators.front()->world();
  const Model& m = world.model();
  const int threads = static_cast<int>(simulators.size()), last = kept.rows() - 1;
  const int slice = std::max(1, slice_of(count, threads) / kept.interval);  // in rows
  for (int r = 0; r < count; ++r) {
    gradients[r].set_zero(world);
    const std::ptrdiff_t of_end = rows(r, last + 1, m.n_v) + rows(last, 1, m.n_v);
    gradients[r].q.assign(q_bar + of_end, q_bar + of_end + m.n_v), gradients[r].v.assign(v_bar + of_end, v_bar + of_end + m.n_v);
  }
  for (int end = last; end > 0; end -= slice) {
    if (end < last && !go_on(kept.steps - kept.before(end))) return kept.steps - kept.before(end);
    parallel_for(count, threads, [&](int r, int worker) {
      const std::ptrdiff_t of_q = rows(r, last + 1, m.n_q), of_v = rows(r, last + 1, m.n_v);
      simulators[static_cast<std::size_t>(worker)]->rollout_vjp(kept, std::max(0, end - slice), end, q + of_q, v + of_v, controls.of(m, r, kept.steps),
                                                                q_bar + of_v, v_bar + of_v, gradients[r], rows_of(tau, r, kept.steps, m.n_v),
                                                                rows_of(q_target, r, kept.steps, m.n_q), rows_of(v_target, r, kept.steps, m.n_v));
    });
  }
  return kept.steps;
}

int rollout_jacobians(std::span<Simulator* const> simulators, const KeptStates& kept, const double* q, const double* v, const RolloutControls& controls,
                      const JacobianBlocks& out, bool* is_one_sided, FunctionRef<bool(int)> go_on) {
  const int threads = static_cast<int>(simulators.size()), last = kept.rows() - 1;
  const int slice = std::max(1, threads * steps_between_looks / kept.interval);  // in rows
  for (int begin = 0; begin < last; begin += slice) {
    if (begin > 0 && !go_on(kept.before(begin))) return kept.before(begin);
    parallel_for(std::min(slice, last - begin), threads, [&](int r, int worker) {
      simulators[static_cast<std::size_t>(worker)]->rollout_jacobians(kept, begin + r, q, v, controls, out, is_one_sided);
    });
  }
  return kept.steps;
}

}  // namespace robosim

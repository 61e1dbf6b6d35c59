#include "step/linearization/torn_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/index.h"
#include "base/linalg/small_sums.h"

namespace robosim {
namespace {

// Largest derivative of the inconsistency that counts as zero, relative to the sum of the dependent
// rows' own derivatives.
constexpr double torn = 1e-6;
// Rounding of impulses that balance, relative to each of them. Dependences of rows are found to the
// same accuracy (row_basis.cpp, class_factor.cpp). Far below `torn`.
constexpr double rounding_of_balance = 1e-10;

}  // namespace

bool pushes(const StepData& step, const StepIsland& island, const double* z, int stride) {
  const std::size_t n = step.size(), k = at(island.problem.channels);
  for (std::size_t r = 0; r < n; ++r) {
    double sum = 0, size = 0;
    for (std::size_t c = 0; c < k; ++c) {
      const double part = island.X[r * k + c] * z[c * at(stride)];
      sum += part;
      size += std::abs(part);
    }
    if (std::abs(sum) > rounding_of_balance * size) return true;
  }
  return false;
}

bool is_torn_by(const StepData& step, const StepIsland& island, const double* multipliers,
                int stride, const double* by_q, const double* by_v) {
  const RowProblem& problem = island.problem;
  const std::size_t n = step.size(), k = at(problem.channels);
  double size = 0;
  for (const RowBlock& block : problem.blocks)
    for (int r = block.first_row; r < block.last_row; ++r) {
      const double multiplier = std::abs(multipliers[r * stride]);
      if (multiplier == 0) continue;
      double most = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const double along =
            dot(problem.rows[r].d, &island.X[j * k + at(block.first_channel)], block.width);
        most = std::max(most, std::abs(along));
      }
      size += most * multiplier;
    }
  // Compare the derivatives of the inconsistency with those of the rows.
  const auto largest = [n](const double* x) {
    return std::transform_reduce(
        x, x + n, 0.0, [](double a, double b) { return std::max(a, b); },
        [](double y) { return std::abs(y); });
  };
  // Rate [1/s] at which targets follow gaps. For gaps without position correction, the rate of slow
  // motion.
  const double rate = step.options.erp / step.options.dt + 1;
  return largest(by_q) > torn * rate * size || largest(by_v) > torn * size;
}

bool is_torn(const StepData& step, StepIsland& island, const StepInput& in, StepVjp& vjp,
             StepGradient& room) {
  if (!island.solved->has_dependences(island.problem)) return false;
  room.set_zero(*step.world);
  room.wants_vertices = false;
  vjp.dependence_vjp(island, in, room);
  return is_torn_by(step, island, island.gradient.target.data(), 1, room.q.data(), room.v.data());
}

}  // namespace robosim

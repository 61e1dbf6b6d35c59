#include "step/assembly.h"

#include <algorithm>
#include <limits>

#include "base/index.h"
#include "base/linalg/small_matrices.h"
#include "base/linalg/zeros.h"
#include "step/columns.h"
#include "step/constraints/constraint_kinds.h"
#include "step/constraints/impacts.h"
#include "step/constraints/recovery.h"

namespace robosim {
RowAssembly::RowAssembly(StepData& step, const Integrator& integrator) : step_(&step), integrator_(&integrator), joined_(at(step.world->n_trees())), island_of_tree_(joined_) {}

int RowAssembly::root(int tree) {
  while (joined_[at(tree)] != tree) tree = joined_[at(tree)] = joined_[at(joined_[at(tree)])];
  return tree;
}

// To the lower number, so that islands come in the order of their first trees.
void RowAssembly::join(int a, int b) {
  if (a < 0 || b < 0) return;
  const int first = root(a), second = root(b);
  joined_[at(std::max(first, second))] = std::min(first, second);
}

StepIsland& RowAssembly::island_of(int tree) {
  int& island = island_of_tree_[at(root(tree))];
  if (island < 0) {
    island = step_->n_islands++;
    if (step_->islands.size() < at(step_->n_islands)) step_->islands.emplace_back(), step_->impacts.emplace_back();
    StepIsland& fresh = step_->islands[at(island)];
    fresh.blocks.clear(), fresh.rows.clear();
    fresh.problem.blocks.clear(), fresh.problem.rows.clear();
    fresh.problem.channels = 0;
  }
  return step_->islands[at(island)];
}

RowBlock& RowAssembly::append(StepIsland& island, const StepIsland::Block& block, int width) {
  RowProblem& problem = island.problem;
  island.blocks.push_back(block);
  problem.blocks.push_back({problem.channels, width, problem.size(), problem.size()});
  problem.channels += width;
  return problem.blocks.back();
}

// The rows of single entries of v: their channel is the entry itself.
void RowAssembly::add_coordinates(const StepInput& in) {
  // As v has them; an entry without a position of its own has none here.
  const World& world = *step_->world;
  std::size_t next = 0;
  for (int v = 0; v < step_->model().n_v; ++v) {
    const bool is_single = next < world.coordinates().size() && world.coordinates()[next].v == v;
    const int i = is_single ? world.coordinates()[next++].q : -1;
    bool any = false;
    for_each_kind<CoordinateKinds>([&](auto kind) { any |= kind.is_there(*step_, in, v, i); });
    if (!any) continue;
    StepIsland& island = island_of(world.tree_of_v(v));
    StepIsland::Block block;
    block.v = v, block.q = i;
    append(island, block, 1);
    for_each_kind<CoordinateKinds>([&](auto kind) { kind.add_rows(*step_, in, v, i, island); });
  }
}

// X and what it says of the velocities before the step and without rows; Y and L.
void RowAssembly::fill_jacobian(StepIsland& island, const double* v) {
  const Model& m = step_->world->model();
  RowProblem& problem = island.problem;
  const std::size_t n = at(m.n_v), k = at(problem.channels);
  make_zeros(island.X, n * k);
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    const StepIsland::Block& block = island.blocks[b];
    double* const first = island.X.data() + problem.blocks[b].first_channel;
    if (!block.is_of_bodies()) {
      first[at(block.v) * k] = 1;
      if (block.v_of >= 0) first[at(block.v_of) * k + 1] = 1;
      continue;
    }
    const Vec3d p = block.centre - step_->dynamics.X_WB[1].p;  // from O (data.h)
    const auto add_body = [&](int body, double sign) {
      for_each_on_path(m, body, [&](int c) {
        const Motion<double> J = at_point(step_->dynamics.J[at(c)], p);
        double* const row = first + at(m.column_v[at(c)]) * k;
        for (int i = 0; i < block.linear(); ++i) row[i] += sign * block.size * J.angular[i];
        for (int i = 0; i < 3; ++i) row[block.linear() + i] += sign * J.linear[i];
      });
    };
    add_body(block.b, 1);
    add_body(block.a, -1);
  }

  make_zeros(problem.y_free, k), make_zeros(island.before, k);
  for (std::size_t i = 0; i < n; ++i) {
    const double* const x = island.X.data() + i * k;
    for (std::size_t r = 0; r < k; ++r) problem.y_free[r] += x[r] * step_->v_free[i], island.before[r] += x[r] * v[i];
  }
  const int width = padded(problem.channels);
  make_zeros(padded_Y_, n * at(width)), make_zeros(padded_L_, k * at(width));
  for (std::size_t i = 0; i < n; ++i) std::copy_n(&island.X[i * k], k, &padded_Y_[i * at(width)]);
  integrator_->solve_columns(*step_, padded_Y_.data(), width);
  small_matrices().add_sparse_product(LeftFactor::transposed(island.X.data(), problem.channels, m.n_v), padded_Y_.data(), width, padded_L_.data(), width, width);
  island.Y.resize(n * k), problem.L.resize(k * k);
  for (std::size_t i = 0; i < n; ++i) std::copy_n(&padded_Y_[i * at(width)], k, &island.Y[i * k]);
  for (std::size_t r = 0; r < k; ++r)  // symmetric but for rounding
    for (std::size_t c = 0; c <= r; ++c) problem.L[r * k + c] = problem.L[c * k + r] = 0.5 * (padded_L_[r * at(width) + c] + padded_L_[c * at(width) + r]);
}

void RowAssembly::assemble(const StepInput& in) {
  // Islands of trees.
  for (int t = 0; t < step_->world->n_trees(); ++t) joined_[at(t)] = t, island_of_tree_[at(t)] = -1;
  step_->n_islands = 0;
  for_each_kind<BlockKinds>([&](auto kind) { kind.join(*this); });

  // Blocks and their rows.
  for_each_kind<BlockKinds>([&](auto kind) { kind.add_blocks(*this, in); });
  add_coordinates(in);

  for (int n = 0; n < step_->n_islands; ++n) {
    StepIsland& island = step_->islands[at(n)];
    fill_jacobian(island, in.v);
    leave_out_rows(island);
    set_targets(island, in);
    set_apart(island, step_->impacts[at(n)]);
  }
}

// Normals, limits and closures but for what gives. What pushes may push less, but for what bounces. What does not touch, and may be met after an impact, is left to that.
void RowAssembly::assemble_corrections(const StepIsland& island, const Impacts& impacts, const StepInput& in, StepIsland& to) {
  to.blocks = island.blocks, to.X = island.X, to.Y = island.Y, to.before = island.before;
  to.rows.clear(), to.problem.rows.clear();
  to.problem.blocks = island.problem.blocks, to.problem.channels = island.problem.channels, to.problem.L = island.problem.L;
  to.problem.y_free = impacts.n > 0 ? impacts.y : island.solution.y, to.problem.at_play = island.sizes.still;
  const auto may_be_met = [&](const StepIsland::Row& row) {
    return impacts.n > 0 && is_of<Contact>(row) && step_->manifolds[at(row.manifold)].manifold.points[row.point].gap > touching_distance(step_->options.margin);
  };
  for (RowBlock& block : to.problem.blocks) {
    const int first = to.problem.size();
    for (int i = block.first_row; i < block.last_row; ++i) {
      const StepIsland::Row& source = island.rows[at(i)];
      const ConstraintRow& row = island.problem.rows[at(i)];
      if ((row.kind != RowKind::unilateral && row.kind != RowKind::equality) || row.compliance > 0 || may_be_met(source)) continue;
      to.rows.push_back(source), to.problem.rows.push_back(row);
      to.rows.back().corrects = i;
      ConstraintRow& own = to.problem.rows.back();
      if (row.kind == RowKind::unilateral && island.solution.f[at(i)] > 0 && source.law != NormalLaw::bounce)
        own.kind = RowKind::box, own.lower = -island.solution.f[at(i)], own.upper = std::numeric_limits<double>::infinity();
    }
    block.first_row = first, block.last_row = to.problem.size();
  }
  set_targets(to, in);
}

void RowAssembly::set_targets(StepIsland& island, const StepInput& in) {
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    const RowBlock& rows = island.problem.blocks[b];
    if (rows.first_row == rows.last_row) continue;
    visit_kind(island.blocks[b], [&](auto kind) { kind.set_targets(*step_, in, island, b); });
    for (int i = rows.first_row; island.blocks[b].kind == StepIsland::of_coordinate && i < rows.last_row; ++i)
      visit_kind<CoordinateKinds>(island.rows[at(i)], [&](auto kind) { kind.set_target(*step_, in, {island, island.blocks[b], i}, island.problem.rows[at(i)], island.rows[at(i)]); });
  }
}

}  // namespace robosim

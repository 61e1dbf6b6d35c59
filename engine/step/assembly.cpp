#include "step/assembly.h"

#include <algorithm>
#include <limits>

#include "base/index.h"
#include "step/constraints/constraint_kinds.h"
#include "step/constraints/impacts.h"
#include "step/constraints/recovery.h"

namespace robosim {
RowAssembly::RowAssembly(StepData& step, const Integrator& integrator)
    : step_(&step),
      integrator_(&integrator),
      joined_(at(step.world->n_trees())),
      island_of_tree_(joined_) {}

int RowAssembly::root(int tree) {
  while (joined_[tree] != tree) tree = joined_[tree] = joined_[joined_[tree]];
  return tree;
}

// The lower root wins, so that islands come in the order of their first trees.
void RowAssembly::join(int a, int b) {
  if (a < 0 || b < 0) return;
  const int first = root(a), second = root(b);
  joined_[std::max(first, second)] = std::min(first, second);
}

StepIsland& RowAssembly::island_of(int tree) {
  int& island = island_of_tree_[root(tree)];
  if (island < 0) {
    island = step_->n_islands++;
    if (step_->islands.size() < at(step_->n_islands)) {
      step_->islands.emplace_back();
      step_->impacts.emplace_back();
    }
    StepIsland& fresh = step_->islands[island];
    fresh.blocks.clear();
    fresh.rows.clear();
    fresh.problem.blocks.clear();
    fresh.problem.rows.clear();
    fresh.problem.channels = 0;
  }
  return step_->islands[island];
}

RowBlock& RowAssembly::append(StepIsland& island, const StepIsland::Block& block, int width) {
  RowProblem& problem = island.problem;
  island.blocks.push_back(block);
  problem.blocks.push_back({problem.channels, width, problem.size(), problem.size()});
  problem.channels += width;
  return problem.blocks.back();
}

// Add the coordinate rows. Their channel is the entry of v itself.
void RowAssembly::add_coordinates(const StepInput& in) {
  // In the order of v. An entry without a position of its own has the index -1.
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
    block.v = v;
    block.q = i;
    append(island, block, 1);
    for_each_kind<CoordinateKinds>([&](auto kind) { kind.add_rows(*step_, in, v, i, island); });
  }
}

void RowAssembly::assemble(const StepInput& in) {
  // Join coupled trees.
  for (int t = 0; t < step_->world->n_trees(); ++t) {
    joined_[t] = t;
    island_of_tree_[t] = -1;
  }
  step_->n_islands = 0;
  for_each_kind<BlockKinds>([&](auto kind) { kind.join(*this); });

  // Blocks and their rows.
  for_each_kind<BlockKinds>([&](auto kind) { kind.add_blocks(*this, in); });
  add_coordinates(in);

  // Channels and targets of each island. Fast contacts are moved to its impacts.
  for (int n = 0; n < step_->n_islands; ++n) {
    StepIsland& island = step_->islands[n];
    fill_channels(island, in.v);
    leave_out_rows(island);
    set_targets(island, in);
    set_apart(island, step_->impacts[n]);
  }
}

// The corrected rows are those of normals, limits and closures without compliance. A row that
// pushes may push less, except if it bounces. Contacts that do not touch and may collide after an
// impact are left to later steps.
void RowAssembly::assemble_corrections(const StepIsland& island, const Impacts& impacts,
                                       const StepInput& in, StepIsland& to) {
  // Channels, with the velocity of the solved island as the free velocity.
  to.take_channels(island);
  to.rows.clear();
  to.problem.rows.clear();
  to.problem.blocks = island.problem.blocks;
  to.problem.y_free = impacts.n > 0 ? impacts.y : island.solution.y;
  to.problem.at_play = island.sizes.still;
  const auto may_be_met = [&](const StepIsland::Row& row) {
    return impacts.n > 0 && is_of<Contact>(row) &&
           step_->manifolds[row.manifold].manifold.points[row.point].gap >
               touching_distance(step_->options.margin);
  };
  for (RowBlock& block : to.problem.blocks) {
    const int first = to.problem.size();
    for (int i = block.first_row; i < block.last_row; ++i) {
      const StepIsland::Row& source = island.rows[i];
      const ConstraintRow& row = island.problem.rows[i];
      if ((row.kind != RowKind::unilateral && row.kind != RowKind::equality) ||
          row.compliance > 0 || may_be_met(source))
        continue;
      // Copy the row. A row that pushes gets a lower bound of minus its impulse.
      to.rows.push_back(source);
      to.problem.rows.push_back(row);
      to.rows.back().corrects = i;
      ConstraintRow& own = to.problem.rows.back();
      if (row.kind == RowKind::unilateral && island.solution.f[i] > 0 &&
          source.law != NormalLaw::bounce) {
        own.kind = RowKind::box;
        own.lower = -island.solution.f[i];
        own.upper = std::numeric_limits<double>::infinity();
      }
    }
    block.first_row = first;
    block.last_row = to.problem.size();
  }
  set_targets(to, in);
}

void RowAssembly::set_targets(StepIsland& island, const StepInput& in) {
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    const RowBlock& rows = island.problem.blocks[b];
    if (rows.first_row == rows.last_row) continue;
    visit_kind(island.blocks[b], [&](auto kind) { kind.set_targets(*step_, in, island, b); });
    for (int i = rows.first_row;
         island.blocks[b].kind == StepIsland::of_coordinate && i < rows.last_row; ++i)
      visit_kind<CoordinateKinds>(island.rows[i], [&](auto kind) {
        kind.set_target(*step_, in, {island, island.blocks[b], i}, island.problem.rows[i],
                        island.rows[i]);
      });
  }
}

}  // namespace robosim

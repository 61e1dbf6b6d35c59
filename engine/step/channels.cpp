// Channels of an island and the effect of impulses along them, as a block factor F or as matrices.
//
// With the operator A = U^T U (integrators/integrator.h) and the channels' Jacobian X,
//   F = X U^-1,   L = X A^-1 X^T = F F^T,   Y = A^-1 X^T
// U^-T maps the coordinates that move a block's bodies to themselves, so the cost of F grows with
// their number alone. The columns of F are the coordinates of the island, ordered for little
// fill-in in factors of 1 + F^T H F: within a tree from its leaves to its root, and trees that
// touch close to each other.
#include <algorithm>
#include <utility>

#include "base/index.h"
#include "base/linalg/small_matrices.h"
#include "base/linalg/small_sums.h"
#include "base/linalg/zeros.h"
#include "step/assembly.h"
#include "step/columns.h"

namespace robosim {

// Call use(v) for each coordinate that moves a block's channels. Some are repeated.
template <class Use>
void RowAssembly::for_each_coordinate(const StepIsland& island, std::size_t b,
                                      const Use& use) const {
  const Model& m = step_->model();
  const StepIsland::Block& block = island.blocks[b];
  if (!block.is_of_bodies()) {
    use(block.v);
    if (block.v_of >= 0) use(block.v_of);
    return;
  }
  for (const int body : {block.b, block.a})
    for_each_on_path(m, body, [&](int c) { use(m.column_v[c]); });
}

// Call use(v, values) for each of these coordinates, with the entries of X in the block's channels.
// Entries of a repeated coordinate add up.
template <class Use>
void RowAssembly::for_each_entry(const StepIsland& island, std::size_t b, const Use& use) const {
  const Model& m = step_->model();
  const StepIsland::Block& block = island.blocks[b];
  double values[most_block_channels] = {};
  if (!block.is_of_bodies()) {
    values[0] = 1;
    use(block.v, values);
    values[0] = 0;
    values[1] = 1;
    if (block.v_of >= 0) use(block.v_of, values);
    return;
  }
  const Vec3d p = block.center - step_->dynamics.X_WB[1].p;  // from O (data.h)
  const auto of_body = [&](int body, double sign) {
    for_each_on_path(m, body, [&](int c) {
      const Motion<double> J = at_point(step_->dynamics.J[c], p);
      for (int i = 0; i < block.linear(); ++i) values[i] = sign * block.size * J.angular[i];
      for (int i = 0; i < 3; ++i) values[block.linear() + i] = sign * J.linear[i];
      use(m.column_v[c], values);
    });
  };
  of_body(block.b, 1);
  of_body(block.a, -1);
}

void RowAssembly::fill_channels(StepIsland& island, const double* v) {
  RowProblem& problem = island.problem;
  const std::size_t n = step_->size(), k = at(problem.channels);
  make_zeros(problem.y_free, k);
  make_zeros(island.before, k);
  if (step_->options.solver.kind().takes_factor) return fill_factor(island, v);
  problem.F.clear();
  fill_matrices(island);
  island.entries.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    island.entries[i] = static_cast<int>(i);
    const double* const x = island.X.data() + i * k;
    for (std::size_t r = 0; r < k; ++r) {
      problem.y_free[r] += x[r] * step_->v_free[i];
      island.before[r] += x[r] * v[i];
    }
  }
}

void RowAssembly::fill_matrices(StepIsland& island) {
  RowProblem& problem = island.problem;
  const int n_v = step_->model().n_v, width = padded(problem.channels);
  const std::size_t n = at(n_v), k = at(problem.channels);
  make_zeros(island.X, n * k);
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    double* const first = island.X.data() + problem.blocks[b].first_channel;
    for_each_entry(island, b, [&](int v, const double* values) {
      for (int c = 0; c < problem.blocks[b].width; ++c) first[at(v) * k + at(c)] += values[c];
    });
  }
  make_zeros(padded_Y_, n * at(width));
  make_zeros(padded_L_, k * at(width));
  for (std::size_t i = 0; i < n; ++i)
    std::copy_n(island.X.data() + i * k, k, padded_Y_.data() + i * at(width));
  integrator_->solve_columns(*step_, padded_Y_.data(), width);
  small_matrices().add_sparse_product(
      LeftFactor::transposed(island.X.data(), problem.channels, n_v), padded_Y_.data(), width,
      padded_L_.data(), width, width);
  island.Y.resize(n * k);
  problem.L.resize(k * k);
  for (std::size_t i = 0; i < n; ++i)
    std::copy_n(padded_Y_.data() + i * at(width), k, island.Y.data() + i * k);
  const auto L = [&](std::size_t r, std::size_t c) { return padded_L_[r * at(width) + c]; };
  for (std::size_t r = 0; r < k; ++r)  // symmetric up to rounding
    for (std::size_t c = 0; c <= r; ++c)
      problem.L[r * k + c] = problem.L[c * k + r] = 0.5 * (L(r, c) + L(c, r));
}

// Fill the parts of F, that is, the coordinates of each block, and the columns of F, that is, the
// coordinates of the island's trees in their order.
void RowAssembly::order_entries(StepIsland& island) {
  const World& world = *step_->world;
  const Model& m = world.model();
  ChannelFactor& F = island.problem.F;
  const auto tree = [&](int v) { return world.tree_of_v(v); };
  constexpr int unseen = -1;
  std::vector<int>&tree_place = tree_places_, &seen_by = places_of_v_;
  tree_place.assign(world.n_trees(), unseen);
  seen_by.assign(m.n_v, unseen);
  int n_trees = 0;
  F.clear();
  island.entries.clear();
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    // Coordinates of the block, and all coordinates that U couples to them.
    const int first = static_cast<int>(F.places.size()), block = static_cast<int>(b);
    const auto take = [&](int v) {
      if (std::exchange(seen_by[v], block) != block) F.places.push_back(v);
    };
    for_each_coordinate(island, b, take);
    for (std::size_t i = at(first); i < F.places.size(); ++i)
      for (int v = F.places[i], r = m.row_begin[v]; r < m.row_begin[at(v) + 1]; ++r)
        take(m.rows[r]);
    const int count = static_cast<int>(F.places.size()) - first;
    F.parts.push_back({first, count, static_cast<std::ptrdiff_t>(F.values.size())});
    F.values.resize(F.values.size() + at(count * island.problem.blocks[b].width));
    for (int i = first; i < first + count; ++i)
      if (int& place = tree_place[tree(F.places[i])]; place == unseen) place = n_trees++;
  }
  // Several trees: order the trees such that those in contact are close to each other. Within a
  // tree, coordinates run from the leaves to the root.
  if (n_trees > 1) {
    const auto number = [&](int i) { return tree_place[tree(F.places[i])]; };
    trees_.reset(n_trees);
    for (const ChannelFactor::Part& part : F.parts)
      for (int i = part.first + 1; i < part.first + part.count; ++i)
        if (number(i) != number(part.first)) trees_.connect(number(part.first), number(i));
    order_places_.resize(n_trees);
    int next = 0;
    for (const int t : trees_.order()) order_places_[t] = next++;
    for (int& place : tree_place)
      if (place != unseen) place = order_places_[place];
  }
  for (int v = m.n_v - 1; v >= 0; --v)
    if (tree_place[tree(v)] != unseen) island.entries.push_back(v);
  if (n_trees > 1)
    std::sort(island.entries.begin(), island.entries.end(), [&](int a, int c) {
      const int of_a = tree_place[tree(a)], of_c = tree_place[tree(c)];
      return of_a != of_c ? of_a < of_c : a > c;
    });
  // Positions of each block's coordinates among the columns.
  F.columns = static_cast<int>(island.entries.size());
  for (int i = 0; i < F.columns; ++i) places_of_v_[island.entries[i]] = i;
  for (const ChannelFactor::Part& part : F.parts) {
    int* const own = F.places.data() + part.first;
    for (int i = 0; i < part.count; ++i) own[i] = places_of_v_[own[i]];
    std::sort(own, own + part.count);
  }
}

void RowAssembly::fill_factor(StepIsland& island, const double* v) {
  RowProblem& problem = island.problem;
  problem.L.clear();
  island.X.clear();
  island.Y.clear();
  order_entries(island);
  ChannelFactor& F = problem.F;
  std::vector<int>&place = places_of_v_, &own = scratch_[0];
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    const RowBlock& block = problem.blocks[b];
    const int count = F.parts[b].count;
    double* const values = F.values.data() + F.parts[b].first_value;
    // Entries of X, then y_free and the velocity before, then F.
    own.resize(count);
    for (int i = 0; i < count; ++i) {
      own[i] = island.entries[F.places_of(b)[i]];
      place[own[i]] = i;
    }
    for_each_entry(island, b, [&](int entry, const double* x) {
      add_scaled(1, x, block.width, values + place[entry] * block.width);
    });
    for (int i = 0; i < count; ++i) {
      const double* const x = values + i * block.width;
      const int entry = own[i];
      add_scaled(step_->v_free[entry], x, block.width, &problem.y_free[block.first_channel]);
      add_scaled(v[entry], x, block.width, &island.before[block.first_channel]);
    }
    integrator_->solve_first_half(*step_, own, place.data(), values, block.width);
  }
}

void RowAssembly::fill_change(StepIsland& island) {
  if (!island.Y.empty()) return island.fill_change();
  const ChannelFactor& F = island.problem.F;
  F.gather(island.problem.blocks, island.solution.z.data(), island.change);
  for (int i = 0; i < F.columns; ++i) places_of_v_[island.entries[i]] = i;
  integrator_->solve_second_half(*step_, island.entries, places_of_v_.data(), island.change.data());
}

}  // namespace robosim

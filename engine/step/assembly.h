// RowAssembly: constraint rows of a step, in islands of coupled bodies.
//
// Trees that a contact or a closure connects form one island. Islands are in the order of their
// first trees. First, each kind of constraint (constraint_kinds.h) adds its blocks of channels and
// their rows. Then the Jacobian X of the channels is computed together with the matrices that the
// solver needs (channels.cpp). Rows that cannot have any effect of their own are left out
// (left_out.cpp). Finally each kind sets the targets of its rows. Cost: O(depth^2) per channel if
// the solver takes the factor F, otherwise O(n depth).
#pragma once

#include <vector>

#include "base/linalg/graph_order.h"
#include "contact/row_span.h"
#include "step/integrators/integrator.h"
#include "step/step_data.h"

namespace robosim {

class RowAssembly {
 public:
  RowAssembly(StepData& step, const Integrator& integrator);

  // Fill step.islands with rows and their targets.
  void assemble(const StepInput& in);
  // Fill the rows that correct positions of an island whose rows and impacts have been solved.
  // step.takes_back must be set.
  void assemble_corrections(const StepIsland& island, const Impacts& impacts, const StepInput& in,
                            StepIsland& corrections);

  // Fill the change of velocity by the impulses of a solved island.
  void fill_change(StepIsland& island);
  // Fill X, Y = A^-1 X^T and L = X Y of an island, also if its rows were solved by F.
  void fill_matrices(StepIsland& island);

  // Interface for the kinds of constraints.
  StepData& step() { return *step_; }
  StepIsland& island_of(int tree);
  StepIsland& island_of_bodies(int a, int b) {
    const int tree = step_->world->tree_of_body(a);
    return island_of(tree >= 0 ? tree : step_->world->tree_of_body(b));
  }
  // Couple two trees; -1 is the world.
  void join(int tree_a, int tree_b);
  template <class Kind>
  static RowBlock& add_block(StepIsland& island, StepIsland::Block block, int width);
  // Append a row to the last block.
  template <class Kind>
  static ConstraintRow& add_row(StepIsland& island, typename Kind::Role role, int point = -1,
                                int manifold = -1);

  // Buffer for the caller, kept from step to step.
  std::vector<int>& scratch(int i) { return scratch_[i]; }

 private:
  static RowBlock& append(StepIsland& island, const StepIsland::Block& block, int width);
  int root(int tree);
  void add_coordinates(const StepInput& in);
  void fill_channels(StepIsland& island, const double* v);
  void fill_factor(StepIsland& island, const double* v);
  void order_entries(StepIsland& island);
  template <class Use>
  void for_each_coordinate(const StepIsland& island, std::size_t block, const Use& use) const;
  template <class Use>
  void for_each_entry(const StepIsland& island, std::size_t block, const Use& use) const;
  void leave_out_rows(StepIsland& island);
  void set_targets(StepIsland& island, const StepInput& in);

  StepData* step_;
  const Integrator* integrator_;
  // Per tree: parent in the union-find forest of joined trees, and its island.
  std::vector<int> joined_, island_of_tree_;
  RowSpan span_;                             // rows of closures
  std::vector<double> padded_Y_, padded_L_;  // workspace of an island
  GraphOrder trees_;
  std::vector<int> places_of_v_;  // n_v: workspace
  // Positions of trees among those of an island, and of these in the order of its columns.
  std::vector<int> tree_places_, order_places_;
  std::vector<double> admittances_;  // of a block's rows
  std::vector<int> places_;          // new positions of a block's rows
  std::vector<int> scratch_[2];
};

}  // namespace robosim

// RowAssembly: the rows of a step, in islands of those that can feel each other.
//
// Trees that a contact or a closure connects are one island, in the order of their first trees.
// Each kind of constraint (constraint_kinds.h) adds its blocks of channels and their rows; then the
// channels' Jacobian X is made with what the solver asks for (channels.cpp), rows that cannot do
// anything by themselves are left out (left_out.cpp), and each kind sets the targets of its rows.
// Cost: O(depth^2) per channel where the solver takes F, else O(n depth).
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

  // Fills step.islands with rows that have their targets.
  void assemble(const StepInput& in);
  // The rows that correct positions of an island whose rows, and impacts, have been solved.
  // step.takes_back must be set.
  void assemble_corrections(const StepIsland& island, const Impacts& impacts, const StepInput& in,
                            StepIsland& corrections);

  // Fills the change of velocity by the impulses of an island that is solved.
  void fill_change(StepIsland& island);
  // And X, Y = A^-1 X^T and L = X Y, where its rows have been solved by F.
  void fill_matrices(StepIsland& island);

  // For kinds of constraints.
  StepData& step() { return *step_; }
  StepIsland& island_of(int tree);
  StepIsland& island_of_bodies(int a, int b) {
    const int tree = step_->world->tree_of_body(a);
    return island_of(tree >= 0 ? tree : step_->world->tree_of_body(b));
  }
  // Trees, -1 of the world, that feel each other.
  void join(int tree_a, int tree_b);
  template <class Kind>
  static RowBlock& add_block(StepIsland& island, StepIsland::Block block, int width);
  // Of the last block.
  template <class Kind>
  static ConstraintRow& add_row(StepIsland& island, typename Kind::Role role, int point = -1,
                                int manifold = -1);

  // Room of the caller's own, kept from step to step.
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
  // Trees: towards the root of those that are joined; their island.
  std::vector<int> joined_, island_of_tree_;
  RowSpan span_;                             // of closures
  std::vector<double> padded_Y_, padded_L_;  // of an island
  GraphOrder trees_;
  std::vector<int> places_of_v_;  // n_v: scratch
  // Places of trees among those of an island, and of these in the order of its columns.
  std::vector<int> tree_places_, order_places_;
  std::vector<double> admittances_;  // of a block's rows
  std::vector<int> places_;          // the same: where they go
  std::vector<int> scratch_[2];
};

}  // namespace robosim

// StepData: results of a step, stage by stage (step.h), from which its report, its details and its
// derivatives are computed.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "dynamics/mass_factor.h"
#include "model/data.h"
#include "scene/scene_query.h"
#include "step/island.h"
#include "step/options.h"
#include "step/state.h"
#include "step/world.h"

namespace robosim {

// State and control at the start of a step.
struct StepInput : StateView {
  ControlView control;
};

struct StepData {
  const World* world;
  StepOptions options;

  // Free motion. Computed by Integrator::move_freely.
  Data<double> dynamics;       // poses, inertias, columns, bias; L: factor of the operator
  std::vector<double> v_free;  // n_v: velocity at the end without any row

  // Contacts. Computed by ContactSearch.
  std::vector<Motion<double>> V_free;  // per body: twist of v_free
  mutable SceneQuery query;            // places objects on demand
  std::vector<SceneQuery::PairManifold> manifolds;

  // Rows and their impulses. Computed by RowAssembly::assemble and solve.
  std::vector<StepIsland> islands;  // first n_islands in use
  int n_islands = 0;
  bool times_impacts = false;    // true if fast contacts collide within the step
  std::vector<Impacts> impacts;  // per island, with the same index
  std::vector<double> u_rested;  // n_v: velocity before impacts, if there are any

  // Position corrections, if positions have other targets than the velocity satisfies
  // (constraints/recovery.h). Computed by Stepper::correct.
  std::vector<int> corrected_islands;  // indices of islands with corrections
  // Rows of the corrections of each of these islands, in the same order; may be longer.
  std::vector<StepIsland> corrections;
  std::vector<double> u_corrected;  // n_v: u with corrections
  bool takes_back = false;          // true if targets of rows are those of positions

  // End of the step. Stepper::solve computes u, Stepper::correct computes `way`, and
  // Stepper::advance sets is_diverged. n_v each: velocity at the end in the axes at the start, and
  // displacement per dt.
  std::vector<double> u, way;
  bool is_diverged = false;  // if true, the results above are invalid

  StepData(const World& w, const StepOptions& o)
      : world(&w),
        options(o),
        dynamics(w.model()),
        v_free(size()),
        V_free(static_cast<std::size_t>(w.model().n_bodies())),
        query(w.scene()),
        u_corrected(size()),
        u(size()),
        way(size()) {}

  const Model& model() const { return world->model(); }
  std::size_t size() const { return static_cast<std::size_t>(world->model().n_v); }
  const SceneObject& object(int i) const { return world->scene().object(i); }
  // Call use(island) for each island, or for each island's corrections while they are exchanged for
  // the velocity.
  template <class Use>
  void for_each_island(const Use& use) const {
    const std::vector<StepIsland>& all = takes_back ? corrections : islands;
    for (std::size_t i = 0;
         i < (takes_back ? corrected_islands.size() : static_cast<std::size_t>(n_islands)); ++i)
      use(all[i]);
  }
  bool has_corrections() const { return !corrected_islands.empty(); }
  // Corrections of island i, or null.
  const StepIsland* corrections_of(int i) const {
    const auto found = std::lower_bound(corrected_islands.begin(), corrected_islands.end(), i);
    return found != corrected_islands.end() && *found == i
               ? &corrections[found - corrected_islands.begin()]
               : nullptr;
  }
  // Exchange the velocity with the velocity with corrections, whose rows have the targets of
  // positions. A second call undoes the exchange.
  void exchange_corrections() {
    std::swap(u, u_corrected);
    takes_back = !takes_back;
  }
  bool has_impacts() const {
    for (int i = 0; i < n_islands; ++i)
      if (impacts[i].n > 0) return true;
    return false;
  }
};

// True if a row of a relaxed island has the target zero, which relaxation may have set.
inline bool is_clipped(const StepIsland& island, int row) {
  return island.is_relaxed && island.problem.rows[row].target == 0;
}

}  // namespace robosim

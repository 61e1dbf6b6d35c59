// What a step has found, stage by stage (step.h): what its report, its details and its derivatives
// are made from.
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

// Where a step begins and what drives it.
struct StepInput : StateView {
  ControlView control;
};

struct StepData {
  const World* world;
  StepOptions options;

  // Free motion. Computed by Integrator::move_freely.
  Data<double> dynamics;       // placements, inertias, columns, bias; L: factor of the operator
  std::vector<double> v_free;  // n_v: the velocity at the end without any row

  // Contacts. Computed by ContactSearch.
  std::vector<Motion<double>> V_free;  // per body, of v_free
  mutable SceneQuery query;            // places objects when they are asked for
  std::vector<SceneQuery::PairManifold> manifolds;

  // Rows and their impulses. Computed by RowAssembly::assemble and solve.
  std::vector<StepIsland> islands;  // the first n_islands are in use
  int n_islands = 0;
  bool times_impacts = false;    // whether what is fast is met within the step
  std::vector<Impacts> impacts;  // of each island at its place
  std::vector<double> u_rested;  // n_v: the velocity before impacts, where there are any

  // Corrections of positions, where these ask for something else than the velocity has
  // (constraints/recovery.h). Computed by Stepper::correct.
  std::vector<int> corrected_islands;  // islands
  // Of each of these at its place, at least as many: their rows.
  std::vector<StepIsland> corrections;
  std::vector<double> u_corrected;  // n_v: u with the corrections
  bool takes_back = false;          // whether targets of rows are those of positions

  // End of the step. Stepper::solve computes u, Stepper::correct the way, Stepper::advance sets
  // is_diverged.
  // n_v: the velocity at the end in the axes at the start; what q advances by, per dt.
  std::vector<double> u, way;
  bool is_diverged = false;  // then nothing above holds

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
  // use(island) of each, or of each one's corrections while these are exchanged for the velocity.
  template <class Use>
  void for_each_island(const Use& use) const {
    const std::vector<StepIsland>& all = takes_back ? corrections : islands;
    for (std::size_t i = 0;
         i < (takes_back ? corrected_islands.size() : static_cast<std::size_t>(n_islands)); ++i)
      use(all[i]);
  }
  bool has_corrections() const { return !corrected_islands.empty(); }
  // The corrections of the i-th island, or null.
  const StepIsland* corrections_of(int i) const {
    const auto found = std::lower_bound(corrected_islands.begin(), corrected_islands.end(), i);
    return found != corrected_islands.end() && *found == i
               ? &corrections[static_cast<std::size_t>(found - corrected_islands.begin())]
               : nullptr;
  }
  // Exchanges the velocity for that with corrections, whose rows have the targets of positions, and
  // back.
  void exchange_corrections() {
    std::swap(u, u_corrected);
    takes_back = !takes_back;
  }
  bool has_impacts() const {
    for (int i = 0; i < n_islands; ++i)
      if (impacts[static_cast<std::size_t>(i)].n > 0) return true;
    return false;
  }
};

// Whether a row asked for more than standing still, which a relaxed island has left out.
inline bool is_clipped(const StepIsland& island, int row) {
  return island.is_relaxed && island.problem.rows[static_cast<std::size_t>(row)].target == 0;
}

}  // namespace robosim

// Stepper: one time step of a World, in stages.
//
//   free motion   velocity at the end without any constraint, and the factor of its operator
//                 (integrators/)
//   contacts      points that touch or may touch within the step, without ghost contacts
//                 (scene/, contact_search.h, ghost_contacts.h)
//   assemble      constraint rows of all kinds, in islands of coupled bodies
//                 (assembly.h, constraints/)
//   solve         impulses of the rows
//                 (contact/)
//   impacts       fast contacts, each at its own time of impact
//                 (constraints/impacts.h)
//   correct       position corrections that reduce penetration and drift
//                 (constraints/recovery.h)
//   advance       state at the end
//                 (integrators/)
//
// If the motion overruns points that have no rows, the step is solved again with rows for them
// (contact_search.h).
//
// Each stage leaves its results in StepData. The derivatives of the step are computed from StepData
// (linearization/). The equations of each stage are in its own file. README.md describes how the
// parts fit together.
//
// Rows can contradict each other. An example is a link that can only rotate and penetrates the
// floor on both sides of its axis. The targets of normals, limits and closures in such an island
// (bounces, penetration to be reduced) are then set to zero, and the island is reported as
// `relaxed`. All rows can be at rest together, so the relaxed rows have a solution.
//
// A step is a function of its arguments alone, to the bit. Only memory is kept between steps. Cost,
// besides collision queries: O(n depth^2) for the mass matrix, O(n depth) per channel, and the
// solution of the rows. No allocation once the buffers have grown.
#pragma once

#include <memory>
#include <vector>

#include "step/assembly.h"
#include "step/contact_search.h"
#include "step/integrators/integrator.h"
#include "step/linearization/linearization.h"
#include "step/report.h"
#include "step/step_data.h"

namespace robosim {

class Stepper {
 public:
  // The world must outlive the stepper. Throws InputError if an option is out of its range.
  Stepper(const World& world, const StepOptions& options);

  // Compute the next state, which may be in the same arrays as `state`.
  StepReport step(const StateView& state, const ControlView& control, const StateSpan& next);

  // Gradient of a loss with respect to all arguments and parameters, from its gradient with respect
  // to the next state. Call after step() with the same arguments. With the `pgs` solver this is the
  // gradient of the sweeps. StepOptions::complementarity_aware modifies the result of vjp, but
  // never that of exact_vjp.
  void vjp(const StateView& state, const ControlView& control, const TangentView& next_bar,
           StepGradient& gradient) {
    linearized().vjp({state, control}, next_bar, gradient);
  }
  void exact_vjp(const StateView& state, const ControlView& control, const TangentView& next_bar,
                 StepGradient& gradient) {
    linearized().exact_vjp({state, control}, next_bar, gradient);
  }
  // Jacobians of the next state, exact as exact_vjp is. Parameter columns are those of the
  // selection. Returns the causes for which the Jacobians are one-sided, if any.
  OneSided jacobians(const StateView& state, const ControlView& control,
                     const JacobianBlocks& out) {
    return linearized().jacobians({state, control}, out);
  }
  // Change of the next state along a direction of all arguments and parameters. Returns the causes
  // for which the change is one-sided, if any.
  OneSided jvp(const StateView& state, const ControlView& control, const StepGradient& direction,
               const TangentSpan& next) {
    return linearized().jvp({state, control}, direction, next);
  }

  const World& world() const { return *data_->world; }
  const StepOptions& options() const { return data_->options; }
  const Integrator& integrator() const { return *integrator_; }
  // Results of the last step. StepReport::islands is the number of islands.
  const StepData& data() const { return *data_; }
  const std::vector<SceneQuery::PairManifold>& manifolds() const { return data_->manifolds; }
  const StepIsland* islands() const { return data_->islands.data(); }

 private:
  void solve(StepReport& report);
  void solve_impacts(const StepIsland& island, Impacts& impacts, StepReport& report);
  void correct(const StepInput& in, StepReport& report);
  void solve(StepIsland& island, StepReport& report, const RowSolution* near = nullptr);
  bool advance(const StepInput& in, const StateSpan& next);
  Linearization& linearized();

  std::unique_ptr<StepData> data_;
  std::unique_ptr<Integrator> integrator_;
  ContactSearch search_;
  RowAssembly assembly_;
  std::unique_ptr<RowSolver> solver_;
  Linearization linearization_;
  RowSolution expected_;  // initial guess for the position corrections
  States next_;
};

}  // namespace robosim

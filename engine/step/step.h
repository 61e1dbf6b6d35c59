// One time step of a World, in stages:
//
//   free motion   the velocity at the end without any constraint, and the factor of its operator
//                 (integrators/)
//   contacts      what touches, or may within the step, but for what is passed by
//                 (scene/, contact_search.h)
//   assemble      rows of all kinds of constraints, in islands of those that feel each other
//                 (assembly.h, constraints/)
//   solve         the rows' impulses
//                 (contact/)
//   impacts       what is fast, each when it is met
//                 (constraints/impacts.h)
//   correct       what overlaps or has come apart is taken back by positions
//                 (constraints/recovery.h)
//   advance       the state at the end
//
// A step that overruns points without rows is solved again with these (contact_search.h).
//
// Each stage leaves what it found in StepData; derivatives of the step that was taken are made from
// that (linearization/). The equations of each stage are in its own file; README.md tells how the
// parts go together.
//
// Rows can contradict each other, as where a link that can only turn reaches into the floor on both
// sides of its axis: what such an island asks of normals and limits beyond standing still (bounces,
// overlaps to be taken back) is then left out, and it is `relaxed`. Standing still is possible for
// all, so a solution exists.
//
// A step is a function of its arguments alone, to the bit: nothing is kept from one to the next but
// memory. Cost: beside collisions O(n depth^2) for the mass matrix and O(n depth) per channel, then
// what the rows cost. No allocation once the buffers have grown.
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
  // The world must outlive it. Throws InputError where an option is out of its range.
  Stepper(const World& world, const StepOptions& options);

  // To the next state, which may be in the same arrays.
  StepReport step(const StateView& state, const ControlView& control, const StateSpan& next);

  // After a step with the same arguments: the gradient of a loss with respect to them and all
  // parameters, from that with respect to the next state. Of `pgs` the gradient is that of the
  // sweeps. With StepOptions::complementarity_aware it is modified; exact_vjp never is.
  void vjp(const StateView& state, const ControlView& control, const TangentView& next_bar,
           StepGradient& gradient) {
    linearized().vjp({state, control}, next_bar, gradient);
  }
  void exact_vjp(const StateView& state, const ControlView& control, const TangentView& next_bar,
                 StepGradient& gradient) {
    linearized().exact_vjp({state, control}, next_bar, gradient);
  }
  // As exact_vjp, all of its rows at once, or by selected parameters. Returns true where they hold
  // to one side only.
  OneSided jacobians(const StateView& state, const ControlView& control,
                     const JacobianBlocks& out) {
    return linearized().jacobians({state, control}, out);
  }
  // The change of the next state along a direction of all arguments and parameters. Returns true
  // where that holds to one side only.
  OneSided jvp(const StateView& state, const ControlView& control, const StepGradient& direction,
               const TangentSpan& next) {
    return linearized().jvp({state, control}, direction, next);
  }

  const World& world() const { return *data_->world; }
  const StepOptions& options() const { return data_->options; }
  const Integrator& integrator() const { return *integrator_; }
  // Of the last step.
  const StepData& data() const { return *data_; }
  const std::vector<SceneQuery::PairManifold>& manifolds() const { return data_->manifolds; }
  const StepIsland* islands() const { return data_->islands.data(); }  // the report tells how many

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
  RowSolution expected_;  // of corrections
  States next_;
};

}  // namespace robosim

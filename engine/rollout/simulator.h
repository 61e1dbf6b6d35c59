// Simulator: steps made of substeps with their gradients and Jacobians, and rollouts with the
// gradient of all of their steps. Many rollouts: rollouts.h.
//
// A rollout stores configurations and velocities only, of every state or of every k-th state
// (checkpoints). In the backward pass each step is taken again before its gradient (step/step.h).
// States between checkpoints are computed again from the checkpoint before. Memory is therefore
// that of the states. The gradient is that of the steps that were taken, to the bit, for any k.
//
// Cost: a gradient takes about three steps. With checkpoints at every k-th state, k > 1, and one
// substep, the gradient takes another (k - 2) / k steps. Jacobians cost as those of a step, plus
// products of them over substeps. No allocation once the buffers have grown.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "step/step.h"

namespace robosim {

// Report on one or several steps: the worst status and residual, sums of iterations and bounces,
// and the counts of the last step.
struct RolloutReport {
  StepStatus status = StepStatus::solved;
  double residual = 0;
  int contacts = 0, rows = 0, islands = 0;
  long class_changes = 0, pivots = 0, coupled_bounces = 0, untimed_bounces = 0;
  int attempt = -1;         // last attempt that any of the steps needed
  int first_unsolved = -1;  // first step that was relaxed, inconsistent or diverged

  void take(const StepReport& r, int step);
};

// Checkpoints of a rollout: every interval-th state from the first on, and the last, one row each.
struct KeptStates {
  int steps = 0, interval = 1;

  int rows() const { return steps / interval + (steps % interval > 0) + 1; }
  // Number of steps before a row.
  int before(int row) const { return row < rows() - 1 ? row * interval : steps; }
};

class Simulator {
 public:
  // The world must outlive the simulator. Throws InputError if there is no substep.
  Simulator(const World& world, StepOptions options, int substeps);

  const World& world() const { return stepper_->world(); }
  // Stepper after the last substep.
  const Stepper& stepper() const { return *stepper_; }

  // Take a step. The next state may be in the same arrays as `state`.
  void step(const StateView& state, const ControlView& control, const StateSpan& next,
            RolloutReport& report, int number = 0);

  // Take a step and store it for the derivatives below. Return its number, which is taken() until
  // another step follows.
  std::uint64_t take(const StateView& state, const ControlView& control, RolloutReport& report);
  std::uint64_t taken() const { return taken_; }  // 0: no step is stored
  StateView end() { return at_[substeps_]; }

  // Derivatives of the stored step, with its control. Gradient of a loss, from its gradient with
  // respect to the results of the step:
  void vjp(const ControlView& control, const TangentView& next_bar, StepGradient& gradient);
  // Change of the results along a direction of all arguments and parameters. Returns the causes for
  // which the change is one-sided, if any. Exact, like the Jacobians, whatever the options for
  // gradients are.
  OneSided jvp(const ControlView& control, const StepGradient& direction, const TangentSpan& next);
  OneSided jacobians(const ControlView& control, const JacobianBlocks& out);
  // Stepper after the last substep of the stored step.
  const Stepper& at_end(const ControlView& control) { return stepper_at(substeps_ - 1, control); }

  // Change of the exact gradient along a direction of state and control, with an error estimate for
  // each number. See hessian_product.cpp. No step is stored afterwards.
  void hvp(const StateView& state, const ControlView& control, const TangentView& next_bar,
           const StepGradient& direction, StepGradient& product, StepGradient& error);

  // Take steps begin to end - 1, and store the states in the rows of `kept`. The state at which the
  // steps begin is read from its row or, between two checkpoints, from the later one's row.
  // controls: one row per step.
  void rollout(const KeptStates& kept, int begin, int end, const StateSpan& states,
               const ControlView& controls, RolloutReport& report);
  // Backward pass from row `end` of the checkpoints to row `begin`. bars: gradient of the loss with
  // respect to the checkpoints, in the same rows. `gradient` holds in q and v the gradient with
  // respect to row `end` on entry, and to row `begin` on return. Gradients with respect to
  // materials, motors, model, objects and dt are added to it. Gradients with respect to controls
  // are written to controls_bar, one row per step; null if not requested.
  void rollout_vjp(const KeptStates& kept, int begin, int end, const StateView& states,
                   const ControlView& controls, const TangentView& bars, StepGradient& gradient,
                   const ControlSpan& controls_bar);
  // Jacobians of the steps from checkpoint `row` to the next one, contiguous from the first step of
  // the rollout on, and the causes for which each of them is one-sided.
  void rollout_jacobians(const KeptStates& kept, int row, const StateView& states,
                         const ControlView& controls, const JacobianBlocks& out,
                         OneSided* one_sided);

 private:
  void take(const StateView& state, const ControlView& control, RolloutReport& report,
            std::vector<int>* signature);
  Stepper& stepper_at(int substep, const ControlView& control);
  double reach(const StepGradient& direction, const ControlView& control) const;
  void exchange_steppers();
  void go_back(const ControlView& control, const TangentView& next_bar, bool is_exact,
               StepGradient& gradient);

  std::unique_ptr<Stepper> stepper_;
  std::unique_ptr<Stepper> waiting_;  // for rollout_vjp: holds a step whose gradient comes later
  int substeps_;
  StateLayout layout_;
  ControlLayout control_layout_;
  // States of the stored step at the start of each substep, and at the end.
  States at_;
  std::uint64_t taken_ = 0, last_taken_ = 0;
  int substep_ = 0;  // substep of the stored step that the stepper took last
  States part_;      // states from one checkpoint to before the next
  StepGradient one_, whole_;
  States bar_;  // tangent of one state
  StepJacobians before_, own_;
  std::vector<double> own_parameters_, before_parameters_;
  ParameterSelection own_selection_;
};

}  // namespace robosim

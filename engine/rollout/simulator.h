// Steps made of substeps, their gradients and Jacobians, and rollouts of many with the gradient of
// all. Many rollouts: rollouts.h.
//
// A rollout keeps configurations and velocities and nothing else, of every state or of every k-th:
// going back, each step is taken again before its gradient (step/step.h), from states between those
// that are kept which are made again, so that memory is that of the states, and the gradient is
// that of the steps that were taken, to the bit, whatever is kept. Cost: a gradient is about three
// steps, and where every k-th state is kept (k - 2) / k of one more, for k > 1, with substeps one;
// Jacobians as the step's, and products of them over substeps; no allocation once the buffers have
// grown.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "step/step.h"

namespace robosim {

// Of one step or of several: the worst status and residual, sums of what it took, and what the last
// one had.
struct RolloutReport {
  StepStatus status = StepStatus::solved;
  double residual = 0;
  int contacts = 0, rows = 0, islands = 0;
  long class_changes = 0, pivots = 0, coupled_bounces = 0, untimed_bounces = 0;
  int attempt = -1;         // the last that any of them needed
  int first_unsolved = -1;  // the first step that was relaxed, inconsistent or diverged

  void take(const StepReport& r, int step);
};

// Which states of a rollout are kept, a row of each: every interval-th from the first on, and the
// last.
struct KeptStates {
  int steps = 0, interval = 1;

  int rows() const { return steps / interval + (steps % interval > 0) + 1; }
  // How many steps were taken before a row.
  int before(int row) const { return row < rows() - 1 ? row * interval : steps; }
};

class Simulator {
 public:
  // The world must outlive it. Throws InputError where there is no substep.
  Simulator(const World& world, StepOptions options, int substeps);

  const World& world() const { return stepper_->world(); }
  // Of the last substep.
  const Stepper& stepper() const { return *stepper_; }

  // The next state may be in the same arrays.
  void step(const StateView& state, const ControlView& control, const StateSpan& next,
            RolloutReport& report, int number = 0);

  // Take a step and keep it, for the derivatives below. Returns its number, which is taken() until
  // another step follows.
  std::uint64_t take(const StateView& state, const ControlView& control, RolloutReport& report);
  std::uint64_t taken() const { return taken_; }  // 0: none is kept
  StateView end() { return at_[substeps_]; }

  // Derivatives of the step that is kept, with its control. The gradient of a loss, from that in
  // the step's results:
  void vjp(const ControlView& control, const TangentView& next_bar, StepGradient& gradient);
  // The change of the results along a direction of all arguments and parameters. Returns true where
  // that holds to one side only. Exact, whatever the options say of gradients, as are the
  // Jacobians.
  OneSided jvp(const ControlView& control, const StepGradient& direction, const TangentSpan& next);
  OneSided jacobians(const ControlView& control, const JacobianBlocks& out);
  // The stepper after the last substep.
  const Stepper& at_end(const ControlView& control) { return stepper_at(substeps_ - 1, control); }

  // What the exact gradient changes by along a direction of state and control, and about how far
  // off each number may be. See hessian_product.cpp. No step is kept then.
  void hvp(const StateView& state, const ControlView& control, const TangentView& next_bar,
           const StepGradient& direction, StepGradient& product, StepGradient& error);

  // Steps begin to end - 1, into rows of the states that are kept: where they begin is given in its
  // row, or, between two that are kept, in the later one's. controls: a row for each step.
  void rollout(const KeptStates& kept, int begin, int end, const StateSpan& states,
               const ControlView& controls, RolloutReport& report);
  // Back from row `end` of the states that are kept to row `begin`, for a loss that changes by
  // `bars`, rows as theirs, with them. `gradient` has in q and v that in row `end`, and then that
  // in row `begin`; what is of materials, motors, model, objects and dt is added to it, that of the
  // controls written to rows of controls_bar, one for each step; null where nobody asks.
  void rollout_vjp(const KeptStates& kept, int begin, int end, const StateView& states,
                   const ControlView& controls, const TangentView& bars, StepGradient& gradient,
                   const ControlSpan& controls_bar);
  // The Jacobians of the steps from row `row` of the states that are kept to the next, one behind
  // the other from the first step of the rollout on; and whether each holds to one side only.
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
  std::unique_ptr<Stepper> waiting_;  // of rollout_vjp: knows a step that is gone back later
  int substeps_;
  StateLayout layout_;
  ControlLayout control_layout_;
  // Of the step that is kept, at the start of each substep, and at the end.
  States at_;
  std::uint64_t taken_ = 0, last_taken_ = 0;
  int substep_ = 0;  // of the step that is kept: the one that the stepper took last
  States part_;      // the states from one that is kept to before the next
  StepGradient one_, whole_;
  States bar_;  // a tangent
  StepJacobians before_, own_;
  std::vector<double> own_parameters_, before_parameters_;
  ParameterSelection own_selection_;
};

}  // namespace robosim

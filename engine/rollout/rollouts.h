// Many rollouts of one world on several threads. Each rollout and its gradient are the same, to the
// bit, as with a single simulator and for any number of threads, because a step is a function of
// its arguments.
//
// Threads synchronize every thousand steps or so; in backward passes, at checkpoints. There `go_on`
// is called on the caller's thread with the number of steps taken, which is the same for all
// rollouts. If it returns false, the rollouts end.
#pragma once

#include <span>

#include "base/function_ref.h"
#include "rollout/simulator.h"

namespace robosim {

// Controls of all rollouts: those of the first, and whether the others share them or have their own
// behind them.
struct ManyControls {
  ControlView first;
  bool is_shared = true;

  ControlView of(const Model& model, int rollout, int steps) const;  // steps per rollout
};

// Take rollouts. states: contiguous, kept.rows() rows per rollout, of which the first are given.
// One simulator per thread, all of one world. Return the number of steps taken, the same for all
// rollouts.
int rollouts(std::span<Simulator* const> simulators, int count, const KeptStates& kept,
             const StateSpan& states, const ManyControls& controls, RolloutReport* reports,
             FunctionRef<bool(int)> go_on);

// Gradients of the rollouts, one each. controls_bar: gradients with respect to controls (steps rows
// per rollout), contiguous; null if not requested.
int rollouts_vjp(std::span<Simulator* const> simulators, int count, const KeptStates& kept,
                 const StateView& states, const ManyControls& controls, const TangentView& bars,
                 StepGradient* gradients, const ControlSpan& controls_bar,
                 FunctionRef<bool(int)> go_on);

// Jacobians of all steps of the rollouts, contiguous, and the causes for which each is one-sided.
int rollouts_jacobians(std::span<Simulator* const> simulators, int count, const KeptStates& kept,
                       const StateView& states, const ManyControls& controls,
                       const JacobianBlocks& out, OneSided* one_sided,
                       FunctionRef<bool(int)> go_on);

}  // namespace robosim

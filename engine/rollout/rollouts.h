// Many rollouts of one world at once, on several threads: each is what one simulator alone makes of
// it, to the bit, and so is its gradient, whatever the number of threads, as a step is a function
// of its arguments.
//
// Threads meet every thousand steps or so, going back at states that are kept, when `go_on` is
// asked on the caller's thread, told how many steps were taken of all rollouts alike, and may end
// it.
#pragma once

#include <span>

#include "base/function_ref.h"
#include "rollout/simulator.h"

namespace robosim {

// Of all rollouts: those of the first, and whether the others have the same or their own behind
// them.
struct ManyControls {
  ControlView first;
  bool is_shared = true;

  ControlView of(const Model& model, int rollout, int steps) const;  // steps of each
};

// States of rollouts one behind the other: kept.rows() rows of each, of which the first are given.
// One simulator per thread, all of one world. Returns how many steps were taken, of all rollouts
// alike.
int rollouts(std::span<Simulator* const> simulators, int count, const KeptStates& kept,
             const StateSpan& states, const ManyControls& controls, RolloutReport* reports,
             FunctionRef<bool(int)> go_on);

// Their gradients, one each; the controls' (steps rows) one behind the other, null where nobody
// asks.
int rollouts_vjp(std::span<Simulator* const> simulators, int count, const KeptStates& kept,
                 const StateView& states, const ManyControls& controls, const TangentView& bars,
                 StepGradient* gradients, const ControlSpan& controls_bar,
                 FunctionRef<bool(int)> go_on);

// The Jacobians of all their steps, one behind the other, and whether each holds to one side only.
int rollouts_jacobians(std::span<Simulator* const> simulators, int count, const KeptStates& kept,
                       const StateView& states, const ManyControls& controls,
                       const JacobianBlocks& out, OneSided* one_sided,
                       FunctionRef<bool(int)> go_on);

}  // namespace robosim

// TakenStep: a step that was taken, with its derivatives.
//
// The simulator that took the step keeps the data for derivatives
// (step/linearization/linearization.h) until it takes another step. After that the step is taken
// again, with the same result to the bit. Steps whose derivatives are not requested cost no memory
// except for their arguments.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rollout/simulator_pool.h"

namespace robosim {

class TakenStep {
 public:
  // Take the step. The pool must outlive it.
  TakenStep(SimulatorPool& pool, const StateView& state, const ControlView& control)
      : pool_(pool),
        state_(StateLayout::of(pool.world().model()), 1),
        control_(ControlLayout::of(pool.world().model()), control),
        end_(state_.layout, 1) {
    copy(state, state_.layout, state_[0]);
    const SimulatorPool::Borrowed simulator(pool_, 1);
    take(*simulator);
  }

  const RolloutReport& report() const { return report_; }
  StateView end() { return end_[0]; }

  // Derivatives of this step, as in Simulator.
  void vjp(const TangentView& next_bar, StepGradient& gradient) {
    with_simulator([&](Simulator& s) { s.vjp(control_.view(), next_bar, gradient); });
  }
  OneSided jvp(const StepGradient& direction, const TangentSpan& next) {
    return with_simulator([&](Simulator& s) { return s.jvp(control_.view(), direction, next); });
  }
  OneSided jacobians(const JacobianBlocks& out) {
    return with_simulator([&](Simulator& s) { return s.jacobians(control_.view(), out); });
  }
  void hvp(const TangentView& next_bar, const StepGradient& direction, StepGradient& product,
           StepGradient& error) {
    const SimulatorPool::Borrowed simulator(pool_, 1, by_);
    simulator->hvp(state_[0], control_.view(), next_bar, direction, product, error);
  }
  // Call use(stepper) with the stepper after the last substep.
  template <class Use>
  std::invoke_result_t<Use, const Stepper&> with_stepper(const Use& use) {
    return with_simulator([&](Simulator& s) { return use(s.at_end(control_.view())); });
  }

 private:
  void take(Simulator& simulator) {
    report_ = {};
    number_ = simulator.take(state_[0], control_.view(), report_);
    copy(simulator.end(), end_.layout, end_[0]);
    by_ = &simulator;
  }
  template <class Use>
  std::invoke_result_t<Use, Simulator&> with_simulator(const Use& use) {
    const SimulatorPool::Borrowed simulator(pool_, 1, by_);
    if (&*simulator != by_ || simulator->taken() != number_) take(*simulator);
    return use(*simulator);
  }

  SimulatorPool& pool_;
  States state_;
  Controls control_;
  States end_;
  RolloutReport report_;
  const Simulator* by_ = nullptr;  // simulator that took the step last
  std::uint64_t number_ = 0;       // number of the step in that simulator
};

}  // namespace robosim

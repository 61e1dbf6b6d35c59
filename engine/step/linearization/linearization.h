// Linearization: the derivatives of a step that was taken, from what it has left in StepData.
//
// Gradients go backwards by one transposed solve (step_vjp.h), tangents forwards (step_jvp.h),
// matrices forwards for all columns at once (step_jacobians.h, impulse_jacobians.h). What all of
// them share, as how the contacts' geometry moves, is made once for a step (shared_rates.h).
#pragma once

#include <vector>

#include "step/linearization/complementarity_aware.h"
#include "step/linearization/step_jacobians.h"
#include "step/linearization/step_jvp.h"
#include "step/linearization/step_vjp.h"

namespace robosim {

class Linearization {
 public:
  Linearization(StepData& step, Integrator& integrator)
      : step_(step),
        vjp_(step, integrator, shared_),
        jvp_(step, integrator, shared_, vjp_),
        jacobians_(step, integrator, shared_, vjp_),
        aware_(step) {}

  Linearization(const Linearization&) = delete;  // its parts know each other
  Linearization& operator=(const Linearization&) = delete;

  // After each step: nothing is known of it yet.
  void reset() { shared_.is_there = shared_.has_everything = false; }

  // See Stepper.
  void vjp(const StepInput& in, const TangentView& next_bar, StepGradient& gradient);
  void exact_vjp(const StepInput& in, const TangentView& next_bar, StepGradient& gradient);
  OneSided jacobians(const StepInput& in, const JacobianBlocks& out);
  OneSided jvp(const StepInput& in, const StepGradient& direction, const TangentSpan& next);

 private:
  bool has_gradients_alone() const;
  void derive(const StepInput& in, bool everything);
  template <class Use>
  void for_each_row(const StepInput& in, const Use& use);

  StepData& step_;
  SharedRates shared_;
  StepVjp vjp_;
  StepJvp jvp_;
  JacobianMaker jacobians_;
  ComplementarityAwareVjp aware_;
  StepGradient row_;  // of one entry of the next state; room of is_torn
  std::vector<double> unit_, zero_;
};

}  // namespace robosim

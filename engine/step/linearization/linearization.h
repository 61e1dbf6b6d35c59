// Linearization: derivatives of the last step, from the results in StepData.
//
// Gradients run backward through one transposed solve (step_vjp.h). Tangents run forward
// (step_jvp.h). Matrices run forward for all columns at once (step_jacobians.h,
// impulse_jacobians.h). Shared results, such as the derivatives of the contacts' geometry, are
// computed once per step (shared_rates.h).
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

  Linearization(const Linearization&) = delete;  // its parts refer to each other
  Linearization& operator=(const Linearization&) = delete;

  // Discard the derivatives of the previous step. Call after each step.
  void reset() { shared_.is_there = shared_.has_everything = false; }

  // See Stepper for these functions.
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
  StepGradient row_;  // gradient of one entry of the next state; workspace
  std::vector<double> unit_, zero_;
};

}  // namespace robosim

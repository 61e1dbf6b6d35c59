// Jacobians of the last step (step_jacobians.cpp). Requires SharedRates::is_there, and
// SharedRates::has_everything for Jacobians with respect to parameters.
#pragma once

#include <vector>

#include "step/linearization/impulse_jacobians.h"
#include "step/linearization/jacobian_blocks.h"

namespace robosim {

class JacobianMaker {
 public:
  JacobianMaker(StepData& step, Integrator& integrator, const SharedRates& shared, StepVjp& vjp)
      : step_(step),
        integrator_(integrator),
        shared_(shared),
        vjp_(vjp),
        impulses_(step, shared, vjp) {}

  // Fill the requested blocks. The step must have no impacts. Return the causes, beyond those in
  // SharedRates, for which the Jacobians are one-sided, if any.
  OneSided fill(const StepInput& in, const JacobianBlocks& out);

 private:
  void free_jacobians(const StepInput& in);
  void corrected_jacobians(const StepInput& in);
  void copy_columns(const double* from, int stride, std::vector<double>& to) const;
  void add_held_impulses(double* by_q, int stride);
  void add_turning_of_impulses(double* by_q, int stride);
  void add_moving_of_impulses(const StepIsland& island, std::size_t block, double* by_q,
                              int stride);
  void parameter_jacobian(const StepInput& in, const JacobianBlocks& out);

  StepData& step_;
  Integrator& integrator_;
  const SharedRates& shared_;
  StepVjp& vjp_;
  ImpulseJacobians impulses_;

  JacobianColumns columns_;
  ShapeTwists twists_;
  // Jacobian of u (n_v rows) with all columns, including the position corrections if there are any.
  std::vector<double> moved_by_;
  std::vector<double> velocity_by_;  // Jacobian of u without position corrections
  // For corrections, with respect to q alone: Jacobians of the additional displacement per dt, and
  // of -r at u.
  std::vector<double> by_q_, corrected_by_;
  std::vector<Force<double>> carried_;  // per body: force of the impulses
  std::vector<double> unasked_, point_by_, per_point_;
  std::vector<double> unit_, velocity_, zero_, tangent_, by_dt_;  // for parameters
  StepGradient row_;
};

}  // namespace robosim

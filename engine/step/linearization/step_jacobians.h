// The Jacobians of a step that was taken (step_jacobians.cpp). SharedRates::is_there must hold; by
// parameters has_everything.
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

  // No impulse may act late in the step. Returns false where the Jacobians hold to one side only,
  // by what SharedRates does not know yet.
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
  // u (n_v rows) by all columns, with corrections where there are any.
  std::vector<double> moved_by_;
  std::vector<double> velocity_by_;  // and without
  // Of corrections, by q alone: of the way; -r at u.
  std::vector<double> by_q_, corrected_by_;
  std::vector<Force<double>> carried_;  // bodies: what pushes on them
  std::vector<double> unasked_, point_by_, per_point_;
  std::vector<double> unit_, velocity_, zero_, tangent_, by_dt_;  // by parameters
  StepGradient row_;
};

}  // namespace robosim

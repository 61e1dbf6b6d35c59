// Integrator: the equation of free motion over a step, the advance of the state, and the
// derivatives of both (integrators.h lists all integrators).
//
// A step ends at the velocity u, in the axes at its start, at which a residual balances the
// impulses z of the channels,
//   r(u) = X^T z,      A = dr/du: the operator, symmetric, here always in factored form
// Constraints take poses and columns J from step.dynamics, at q. Constraints assume that positions
// advance by dt way: gaps, limits and motors are to hold at q + dt u. The next state q+, v+ follows
// from u and from `way`, the displacement per dt, which differs from u if impulses act late in the
// step (constraints/impacts.h) or positions are corrected. Rows depend on A alone (Y = A^-1 X^T).
// The derivatives of the step are assembled from the derivatives below (linearization/).
#pragma once

#include <span>
#include <vector>

#include "step/motion_adjoint.h"
#include "step/step_data.h"
#include "step/step_gradient.h"

namespace robosim {

class Integrator {
 public:
  virtual ~Integrator() = default;

  // Free motion: fill step.dynamics, with the factor of A, and step.v_free, at which r = 0.
  virtual void move_freely(StepData& step, const StepInput& in) = 0;
  // Next state from step.way and step.u. Its velocity is step.u in the axes at the end.
  virtual void advance(const StepData& step, const StepInput& in, const StateSpan& next) const = 0;

  // A^-1 x for one vector (n_v) or for columns (n_v rows, `stride` numbers apart), and A^-T x.
  virtual void solve(const StepData& step, double* x) const = 0;
  virtual void solve_columns(const StepData& step, double* x, int stride) const = 0;
  virtual void solve_transposed(const StepData& step, double* x) const { solve(step, x); }
  // Halves of A^-1 = U^-1 U^-T on few entries of v, in descending order: a set closed under
  // Model::rows. at: position of each entry of v in this set. First U^-T x (entries x width), then
  // U^-1 x for one vector.
  virtual void solve_first_half(const StepData& step, std::span<const int> entries, const int* at,
                                double* x, int width) const = 0;
  virtual void solve_second_half(const StepData& step, std::span<const int> entries, const int* at,
                                 double* x) const = 0;

  // Add -lambda . dr at fixed u to the gradients of the state, the control and the parameters.
  // Entries to which nothing else adds (tau, damping, springs) are zero before.
  virtual void add_residual_vjp(StepData& step, const StepInput& in,
                                const std::vector<double>& lambda, StepGradient& gradient) = 0;
  // Add -dr along a direction. displaced: motion of bodies and their frames along the direction.
  virtual void add_residual_jvp(StepData& step, const StepInput& in, const StepGradient& direction,
                                double* change, std::vector<Motion<double>>& displaced) = 0;
  // Columns of -dr with respect to q and v, n_v rows a stride apart. The columns of v may leave out
  // a part A W. The caller multiplies all columns by A^-1, after which add_carried_velocity adds
  // A^-1 A W, which is W.
  virtual void fill_residual_rates(StepData& step, const StepInput& in, double* by_q, double* by_v,
                                   int stride) = 0;
  virtual void add_carried_velocity(const StepData& step, const StepInput& in, double* by_v,
                                    int stride) const = 0;

  // Gradient -sum_a x_a . dA y_a for pairs of velocities. Call `begin`, then `add` any number of
  // times with `count` pairs (x and y: n_v x count), then `end`, which adds the terms that depend
  // on the sum alone (armature, damping). `end` is not called if parameters are not requested. All
  // three are also called without contacts.
  virtual void begin_operator_vjp(const StepData& step) = 0;
  virtual void add_operator_vjp(const StepData& step, const double* x, const double* y,
                                std::size_t count, MotionAdjoint& bodies,
                                StepGradient& gradient) = 0;
  virtual void end_operator_vjp(const StepData& step, StepGradient& gradient) = 0;

  // Gradient of `advance`: fill q_bar, way_bar and u_bar (n_v each; u_bar at fixed way). Return the
  // gradient with respect to dt.
  virtual double advance_vjp(const StepData& step, const TangentView& next_bar, double* q_bar,
                             double* way_bar, double* u_bar) const = 0;
  // Tangent of `advance` along dq, d_dt, dway and du.
  virtual void advance_jvp(const StepData& step, const double* dq, double d_dt, const double* dway,
                           const double* du, const TangentSpan& next) const = 0;
  // Columns of `advance`: from `way` and `velocity` (n_v rows a stride apart; one array if both are
  // equal) to rows of q_next and then of v_next. by_q: columns with respect to q, to which the
  // change of q itself is added.
  struct ColumnBlock {
    const double *way, *velocity;
    double* next;  // 2 n_v x count
    int count;
    bool by_q;
  };
  virtual void advance_columns(const StepData& step, std::span<const ColumnBlock> columns,
                               int stride) const = 0;
};

}  // namespace robosim

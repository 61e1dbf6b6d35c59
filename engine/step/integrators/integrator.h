// An integrator: the equation of free motion over a step, how its solution becomes the next state,
// and the derivatives of both (integrators.h lists all).
//
// A step ends at the velocity u, in the axes at its start, where a residual meets the impulses z of
// the channels,
//   r(u) = X^T z,      A = dr/du: the operator, symmetric, here always as a factor
// Constraints take placements and columns J from step.dynamics, at q, and that positions advance by
// dt way: gaps, limits and motors are to hold at q + dt u. and q+ and v+ follow from u and from
// `way`, which is u but where impulses act late in the step (constraints/normal_law.h). Rows see A
// alone (Y = A^-1 X^T); derivatives of the step are put together from those below (linearization/).
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

  // Free motion: fills step.dynamics, with the factor of A, and step.v_free, where r = 0.
  virtual void move_freely(StepData& step, const StepInput& in) = 0;
  // The next state from step.way and step.u; its velocity is the latter in the axes at the end.
  virtual void advance(const StepData& step, const StepInput& in, const StateSpan& next) const = 0;

  // A^-1 x, of one vector (n_v) or of columns (n_v rows, `stride` numbers from one to the next);
  // and A^-T x.
  virtual void solve(const StepData& step, double* x) const = 0;
  virtual void solve_columns(const StepData& step, double* x, int stride) const = 0;
  virtual void solve_transposed(const StepData& step, double* x) const { solve(step, x); }
  // The halves of A^-1 = U^-1 U^-T, on few entries of v in descending order: a set closed under
  // Model::rows. at: of each entry of v its place among these. U^-T of x (entries x width); U^-1 of
  // one x.
  virtual void solve_first_half(const StepData& step, std::span<const int> entries, const int* at,
                                double* x, int width) const = 0;
  virtual void solve_second_half(const StepData& step, std::span<const int> entries, const int* at,
                                 double* x) const = 0;

  // At fixed u: adds -lambda . dr in the state, the control and the parameters. What nothing else
  // adds to (tau, damping, springs) is zero before.
  virtual void add_residual_vjp(StepData& step, const StepInput& in,
                                const std::vector<double>& lambda, StepGradient& gradient) = 0;
  // Adds -dr along a direction; displaced: where bodies go along it, and their frames.
  virtual void add_residual_jvp(StepData& step, const StepInput& in, const StepGradient& direction,
                                double* change, std::vector<Motion<double>>& displaced) = 0;
  // Columns of -dr by q and by v, n_v rows a stride apart. Those by v may leave out a part A W: the
  // caller multiplies all by A^-1, and then add_carried_velocity adds W, as A^-1 A W = W.
  virtual void fill_residual_rates(StepData& step, const StepInput& in, double* by_q, double* by_v,
                                   int stride) = 0;
  virtual void add_carried_velocity(const StepData& step, const StepInput& in, double* by_v,
                                    int stride) const = 0;

  // -sum_a x_a . dA y_a of pairs of velocities: begin, then add any number of times `count` pairs
  // (x and y: n_v x count), then end, which adds what depends on the sum alone (armature, damping).
  // Without end where nobody asks for parameters; called without contacts too.
  virtual void begin_operator_vjp(const StepData& step) = 0;
  virtual void add_operator_vjp(const StepData& step, const double* x, const double* y,
                                std::size_t count, MotionAdjoint& bodies,
                                StepGradient& gradient) = 0;
  virtual void end_operator_vjp(const StepData& step, StepGradient& gradient) = 0;

  // The gradient of advance: fills q_bar, way_bar and u_bar (n_v each, that of u beside the way),
  // returns that of dt.
  virtual double advance_vjp(const StepData& step, const TangentView& next_bar, double* q_bar,
                             double* way_bar, double* u_bar) const = 0;
  // Its tangent along dq, d_dt, dway and du.
  virtual void advance_jvp(const StepData& step, const double* dq, double d_dt, const double* dway,
                           const double* du, const TangentSpan& next) const = 0;
  // Its columns: ways and velocities (n_v rows a stride apart; one of them where they are the same)
  // on to rows of q_next and then of v_next; by_q: these are columns by q, whose own change counts.
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

// Interface of row solvers, as a step uses them (row_solvers.h lists all). RowSolver solves the
// rows of one island after the other. SolvedRows keeps the active set of each island, for the
// derivatives of its solution.
#pragma once

#include <memory>
#include <vector>

#include "contact/impulse_rates.h"
#include "contact/one_sided.h"
#include "contact/row_gradient.h"
#include "contact/rows.h"

namespace robosim {

enum class SolverStatus {
  solved,
  // Solved, but with impulses of independent rows or of sweeps: those of the selection rule
  // (impulse_selection.h) leave their bounds.
  basic,
  rough,  // `lcp`: solved by the convex solver, to 1e-6; `convex`: bounds of friction may be off
  // Not solved: rows that contradict each other, or whose bounds of friction are not found.
  inconsistent
};

struct SolverReport {
  SolverStatus status = SolverStatus::solved;
  // Index of the attempt that ended the solve, in the list of a solver that has several.
  int attempt = -1;
  // row_residual; if `inconsistent`, relative to the velocities without impulses.
  double residual = 0;
  int class_changes = 0;  // solves with changed modes, after the first
  int pivots = 0;         // of pivoting methods
};

// Options of solvers.
struct SolverOptions {
  int sweeps = 50;  // of iterative solvers, as `pgs`
};

// Solved rows of one island. Problem, sizes and solution are those of the last RowSolver::solve.
class SolvedRows {
 public:
  virtual ~SolvedRows() = default;

  // Prepare the derivatives below. Return the causes for which they are one-sided, if any.
  virtual OneSided differentiate(const RowProblem& problem, const RowSizes& sizes,
                                 const RowSolution& solution) = 0;

  // Add to `gradient` the gradient of a loss that changes by f_bar (rows) with the impulses of
  // rows, and by z_bar (channels) with those of channels. Adds nothing if the solution has no
  // derivative. problem.L is required here, whether or not the rows were solved with it.
  virtual void add_vjp(const RowProblem& problem, const RowSolution& solution, const double* f_bar,
                       const double* z_bar, RowGradient& gradient) = 0;
  // Return true if add_vjp fills gradient.L, since the solution depends on L beyond y+ = y_free + L
  // z. With a nonzero f_bar it may fill gradient.L in any case, which must then exist.
  virtual bool sees_delassus() const { return false; }

  // Return true if impulses depend on the lower bound of a box.
  virtual bool follows_lower_bounds(const RowProblem& problem, const RowSolution& solution) const {
    for (std::size_t r = 0; r < problem.rows.size(); ++r)
      if (problem.rows[r].kind == RowKind::box && solution.classes[r] == RowClass::lower)
        return true;
    return false;
  }

  // Compute the derivatives as matrices. Return false and write nothing if there are none; add_vjp
  // is then called once per channel.
  virtual bool rates(const RowProblem&, ImpulseRates&) { return false; }

  // Linearly dependent active rows (class_factor.h): return true if there are any, and add the
  // gradient of their violation.
  virtual bool has_dependences(const RowProblem&) const { return false; }
  virtual void add_dependence_vjp(const RowProblem&, const RowSolution&, RowGradient&) {}

  // Return true if the active set is known and its solution unique; differentiate may find an
  // active set. Iterative solvers have none.
  virtual bool has_classes() const { return false; }
  // Solve the rows for other modes instead. The derivatives above are then those of that solution,
  // without `differentiate`. Return false if these modes have no solution.
  virtual bool solve_classes(const RowProblem&, const RowClass*, RowSolution&) { return false; }

  // Append what the solution depends on besides the modes of the rows (step_signature.h).
  virtual void append_outcomes(std::vector<int>&) const {}
};

class RowSolver {
 public:
  virtual ~RowSolver() = default;

  virtual std::unique_ptr<SolvedRows> make_solved() const = 0;
  // Compute solution and sizes. solved: a result of make_solved.
  virtual SolverReport solve(const RowProblem& problem, RowSolution& solution, RowSizes& sizes,
                             SolvedRows& solved) = 0;
  // Solve rows that were solved for other targets, with the modes of that solution. Return false if
  // these modes do not solve the rows.
  virtual bool solve_near(const RowProblem&, const RowSolution&, RowSolution&, RowSizes&,
                          SolvedRows&) {
    return false;
  }
};

}  // namespace robosim

// A solver of rows as a step sees it, whichever it is (row_solvers.h lists all): RowSolver solves
// the rows of one island after the other, and of each island a SolvedRows keeps the active set that
// was found, for the derivatives of the solution.
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
  // Solved, but by impulses of independent rows or of sweeps: those of the selection rule
  // (impulse_selection.h) leave their bounds.
  basic,
  rough,  // of `lcp`: by the convex solver, to 1e-6; of that: bounds of friction may be off
  // Not solved: rows that contradict each other, or whose bounds of friction are not found.
  inconsistent
};

struct SolverReport {
  SolverStatus status = SolverStatus::solved;
  // The one that ended it, of a solver that tries several: its place in their list.
  int attempt = -1;
  // row_residual; of what is `inconsistent` beside the velocities without impulses.
  double residual = 0;
  int class_changes = 0;  // solves by changes of class after the first
  int pivots = 0;         // of pivoting methods
};

// Options of solvers.
struct SolverOptions {
  int sweeps = 50;  // of solvers by iterations, as `pgs`
};

// The solved rows of one island. Problem, sizes and solution are those of its last
// RowSolver::solve.
class SolvedRows {
 public:
  virtual ~SolvedRows() = default;

  // Prepares the derivatives below. Returns why they hold on one side only, where they do.
  virtual OneSided differentiate(const RowProblem& problem, const RowSizes& sizes,
                                 const RowSolution& solution) = 0;

  // Adds to `gradient` that of a loss which changes by f_bar (rows) with the impulses of rows, and
  // by z_bar (channels) with those of channels. Nothing where the solution has no derivative. Here
  // problem.L is there, whether it was when the rows were solved or not.
  virtual void add_vjp(const RowProblem& problem, const RowSolution& solution, const double* f_bar,
                       const double* z_bar, RowGradient& gradient) = 0;
  // True where add_vjp fills gradient.L, as it sees L itself and not only y+ = y_free + L z. Where
  // f_bar is not zero it may, too: gradient.L must be there.
  virtual bool sees_delassus() const { return false; }

  // True where impulses depend on the lower bound of a box.
  virtual bool follows_lower_bounds(const RowProblem& problem, const RowSolution& solution) const {
    for (std::size_t r = 0; r < problem.rows.size(); ++r)
      if (problem.rows[r].kind == RowKind::box && solution.classes[r] == RowClass::lower)
        return true;
    return false;
  }

  // The derivatives in matrices. False, and nothing is written, where there are none: then add_vjp
  // is asked once for each channel.
  virtual bool rates(const RowProblem&, ImpulseRates&) { return false; }

  // Clamping rows that depend on each other (class_factor.h): if there are any, and the gradient of
  // what they miss.
  virtual bool has_dependences(const RowProblem&) const { return false; }
  virtual void add_dependence_vjp(const RowProblem&, const RowSolution&, RowGradient&) {}

  // True where the active set is known and its solution unique; differentiate may find one. Solvers
  // by iterations have none.
  virtual bool has_classes() const { return false; }
  // Solves the rows for other classes instead, and makes the derivatives above those of that
  // solution, without `differentiate`. False where these classes have no solution.
  virtual bool solve_classes(const RowProblem&, const RowClass*, RowSolution&) { return false; }

  // Appends what the solution depends on beside the classes of the rows (step_signature.h).
  virtual void append_outcomes(std::vector<int>&) const {}
};

class RowSolver {
 public:
  virtual ~RowSolver() = default;

  virtual std::unique_ptr<SolvedRows> make_solved() const = 0;
  // Fills solution and the problem's sizes; solved: one of make_solved.
  virtual SolverReport solve(const RowProblem& problem, RowSolution& solution, RowSizes& sizes,
                             SolvedRows& solved) = 0;
  // The same of rows that have been solved for other targets, by the classes that they had then;
  // false where these do not solve them.
  virtual bool solve_near(const RowProblem&, const RowSolution&, RowSolution&, RowSizes&,
                          SolvedRows&) {
    return false;
  }
};

}  // namespace robosim

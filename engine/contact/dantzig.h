// Boxed complementarity rows by Dantzig's principal pivoting, with friction's bounds following
// their normals.
//
// Rows are taken in one at a time. The row that is driven changes its impulse until its velocity
// reaches its target or its impulse a bound; the clamping rows' impulses follow so that their
// velocities stay, and so do friction rows at a bound of a normal that changes. Whoever meets a
// condition first stops the drive, changes its class, and the drive goes on (Cottle and Dantzig,
// Linear Algebra Appl. 1, 1968; Baraff, SIGGRAPH 1994, section 4, holds friction's bounds instead).
// Clamping rows stay independent of each other, also where rows are not: so this finds one of the
// possible impulses, which `impulse_selection.h` makes the one of the selection rule. With friction
// bounds that move, no theorem says that it ends: pivots are bounded, and a failure is a status.
#pragma once

#include <vector>

#include "contact/rows.h"

namespace robosim {

class Dantzig {
 public:
  enum class Outcome {
    solved,
    // a row that nothing can satisfy: an equality or a unilateral row whose velocity no impulse
    // changes enough.
    unbounded,
    pivot_limit  // more than 5 pivots per row: it cycles
  };

  // Classes and impulses. `solution` holds what was reached also where it was not solved.
  Outcome solve(const RowProblem& problem, RowSolution& solution);

  int pivots() const { return pivots_; }

 private:
  enum class Drive { done, unbounded, pivot_limit };

  Drive drive(const RowProblem& problem, int i, RowSolution& s);
  bool directions(const RowProblem& problem, int i, double sign, const RowSolution& s);
  bool violated(const RowProblem& problem, int i, const RowSolution& s) const;

  std::vector<char> in_;  // rows taken in
  std::vector<int> clamping_, column_of_, lu_pivots_;
  // Clamping and driven rows' channel impulses per unit of impulse, friction at its bound included.
  std::vector<double> columns_;
  std::vector<double> pushed_;  // L times these
  std::vector<double> S_, df_, dy_, dy_size_, dw_, row_sizes_;
  RowSizes sizes_;
  double tolerance_ = 0;
  int pivots_ = 0;
};

}  // namespace robosim

// Boxed complementarity problem solved by Dantzig's principal pivoting, with bounds of friction
// that follow the normals.
//
// Rows are added one at a time. The driven row changes its impulse until its velocity reaches the
// target or its impulse a bound. The impulses of the active rows follow so that their velocities do
// not change, and so does friction at the bound of a normal that changes. The first row that
// reaches the limit of its condition stops the drive and changes its mode, and the drive continues
// (Cottle and Dantzig, Linear Algebra Appl. 1, 1968; Baraff, SIGGRAPH 1994, section 4, fixes the
// bounds of friction instead). Active rows stay linearly independent, even if the rows are not. The
// result is thus one of the possible impulses, from which `impulse_selection.h` derives those of
// the selection rule. With moving bounds of friction no theorem guarantees termination: the number
// of pivots is bounded, and a failure is a status.
#pragma once

#include <vector>

#include "contact/rows.h"

namespace robosim {

class Dantzig {
 public:
  enum class Outcome {
    solved,
    // A row that cannot be satisfied: no impulse changes the velocity of an equality or unilateral
    // row enough.
    unbounded,
    pivot_limit  // more than 5 pivots per row: it cycles
  };

  // Compute modes and impulses. If the problem is not solved, `solution` has the last iterate.
  Outcome solve(const RowProblem& problem, RowSolution& solution);

  int pivots() const { return pivots_; }

 private:
  enum class Drive { done, unbounded, pivot_limit };

  Drive drive(const RowProblem& problem, int i, RowSolution& s);
  bool directions(const RowProblem& problem, int i, double sign, const RowSolution& s);
  bool violated(const RowProblem& problem, int i, const RowSolution& s) const;

  std::vector<char> in_;  // rows added so far
  std::vector<int> clamping_, column_of_, lu_pivots_;
  // Channel impulses per unit impulse of active and driven rows, with the friction at its bound
  // that follows.
  std::vector<double> columns_;
  std::vector<double> pushed_;  // L times these
  std::vector<double> S_, df_, dy_, dy_size_, dw_, row_sizes_;
  RowSizes sizes_;
  double tolerance_ = 0;
  int pivots_ = 0;
};

}  // namespace robosim

// The boxed complementarity problem of a step's rows, solved to rounding: `lcp`.
//
// 1. Prediction: the classes that a few sweeps of projected Gauss-Seidel from zero end in, a function of the problem alone.
// 2. The impulses of these classes (`class_factor.h`); rows that break their condition change class, all at once, until none does.
// 3. Where that does not end, of few rows, Dantzig's pivots, and where these cycle Lemke's; then 2. from the classes that they find.
// 4. Where that fails too, 2. with rows that give a little, less and less (the proximal point method).
// 5. Selection: rows at zero velocity, pushing or not, all clamp, so that the impulses do not depend on how they were found: those in
//    range(D_C) (`row_basis.h`). Where these leave their bounds, the row farthest outside goes back to its bound, until none is.
// Without friction at its bound the velocities after the step are unique. Where friction slides they need not be, as Coulomb's law
// itself allows several (Painleve): the prediction then decides, again as a function of the problem alone.
#pragma once

#include "contact/class_factor.h"
#include "contact/dantzig.h"
#include "contact/lemke.h"
#include "contact/projected_gauss_seidel.h"

namespace robosim {

enum class BoxLcpStatus {
  solved,
  basic,        // solved, but by impulses of independent rows: those of the selection rule leave their bounds
  rough,        // to 1e-8, by impulses of step 4 that no rule has chosen
  inconsistent  // not solved: rows that contradict each other, or pivots that cycle; then the impulses of 500 sweeps
};

struct BoxLcpReport {
  BoxLcpStatus status = BoxLcpStatus::solved;
  double residual = 0;    // row_residual; where inconsistent relative to the velocities without impulses
  int class_changes = 0;  // solves of step 2 after the first
  int pivots = 0;         // Dantzig's; zero where step 2 ended
};

class BoxLcp {
 public:
  BoxLcpReport solve(const RowProblem& problem, RowSolution& solution);

  // Of the last solve, for derivatives.
  ClassFactor& classes() { return factor_; }

 private:
  bool settle(const RowProblem& problem, RowSolution& solution, BoxLcpReport& report, int most_changes);
  double yield(const RowProblem& problem, BoxLcpReport& report);
  bool select(const RowProblem& problem, RowSolution& solution);

  ProjectedGaussSeidel sweeps_;
  Dantzig dantzig_;
  Lemke lemke_;
  ClassFactor factor_;
  RowSolution trial_, swept_, nearest_;
  std::vector<RowClass> guess_, before_, settled_;
  RowProblem compliant_;
  std::vector<double> rest_;
};

}  // namespace robosim

// Constraint rows solved by a few convex problems. Redundant rows, on whatever bodies, cost no more
// than others.
//
// Each problem has given bounds of friction, and one solution (bounded_rows.h). A pass begins with
// a problem in which all friction sticks. If no friction exceeds mu f_n, this problem is the last
// one of its pass. If friction exceeds mu f_n by little, the solution is near. Otherwise the search
// begins without friction. The bounds of the next problem are mu f_n of the normals before. From
// there Newton's method looks for bounds that agree with the normals,
//   s <- s + t (1 - S)^-1 (mu f_n(s) - s),   S = mu df_n/ds
// for friction that slides, and for friction that sticks with more than mu f_n, whose bound is set
// to its present impulse. The step t is shortened where the full step does not bring the bounds
// nearer. From each of these problems, Newton's method on impulses and bounds together is tried:
// near the solution it takes a few steps. Sliding contacts thus have Coulomb's friction, and do not
// glide on a gap.
//
// There may be several solutions, or none that slides, if friction increases the normal force of
// its own contact. So if a few problems find no solution, the search begins again from the problem
// where all friction sticks. Then it begins with rows of much larger compliance, for which a
// solution exists, and follows the solution as the compliance decreases. If no solution is found,
// the status is `rough`, and the bounds are the nearest ones. Nothing is kept from step to step.
// The following passes find their bounds in the same way, from those of the pass before.
//
// The derivative is that of the solution through all passes. It uses the factors of the last
// problem of each pass, with bounds that follow the normals.
#pragma once

#include <vector>

#include "contact/bounded_rows.h"
#include "contact/one_sided.h"
#include "contact/row_gradient.h"
#include "contact/row_solver.h"
#include "contact/rows.h"
#include "contact/ties.h"

namespace robosim {

class ConvexSolver {
 public:
  // Solve the rows, and keep what the derivatives need.
  SolverReport solve(const RowProblem& problem, RowSolution& solution, RowSizes& sizes);

  // Derivatives of the last solve.
  OneSided differentiate(const RowProblem& problem, const RowSizes& sizes,
                         const RowSolution& solution);
  void add_vjp(const RowProblem& problem, const RowSolution& solution, const double* f_bar,
               const double* z_bar, RowGradient& gradient);

 private:
  bool solve_passes(const RowProblem& problem, double& off);
  bool solve_holding(const RowProblem& problem);
  bool solve_sliding(const RowProblem& problem, double& off);
  void begin_holding(const RowProblem& problem);
  void begin_sliding(const RowProblem& problem);
  bool agree(const RowProblem& problem, int most_problems, double& off);
  void hold_friction(const RowProblem& problem);
  void aim(const RowProblem& problem);
  double bounds_lack(const RowProblem& problem);
  void add_to(const RowProblem& problem, const double* z_bar, RowGradient& gradient);

  BoundedRows rows_;
  Ties ties_;
  std::vector<RowPush> held_;  // of the previous problem
  std::vector<int> overheld_;  // friction that sticks with more than mu f_n; first rows of discs
  // Bounds of the rows: start and target of a search step; the nearest ones found.
  std::vector<double> base_, aim_, best_;
  bool is_rough_ = false;  // no bounds agree with the normals
  std::vector<double> change_, f_hat_, y_bar_, Ly_, moved_, z_;
  BoundedRows::Adjoint adjoint_;
};

}  // namespace robosim

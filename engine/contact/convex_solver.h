// Rows solved by a few convex problems: redundant rows, on whatever bodies, cost no more than
// others.
//
// Each problem has bounds of friction that are given, and one solution (bounded_rows.h). Where all
// friction holds, and by no more than mu f_n, the first problem is the last of its pass; where it
// holds by little more, the solution is near. Else the search begins without friction: the bounds
// of the next problem are mu f_n of the normals before, and from there Newton's method looks for
// bounds that the normals agree with,
//   s <- s + t (1 - S)^-1 (mu f_n(s) - s),   S = mu df_n/ds
// of what slides, and of what holds by more than mu f_n, whose bound is set to what it holds by,
// with a shorter step t where that does not bring them nearer. From each of these problems Newton's
// method on impulses and bounds together is tried: near the solution it takes a few steps. So what
// slides has Coulomb's friction, and does not glide on a gap.
//
// Several solutions may hold, or none that slides, if friction presses what it holds harder against
// what it rubs on. So where a few problems find none, it begins again from where all friction
// holds; and then with rows that give much more, as then there is a way, and follows the solution
// as they give less and less. Where none is found, the status is `rough`, and the bounds are the
// nearest. Nothing is kept from step to step. The passes that follow find their bounds in the same
// way, from those of the pass before.
//
// The derivative is that of the solution through all passes, by the factors of the last problem of
// each, with bounds that follow the normals.
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
  // Fills the solution, and keeps what its derivatives need.
  SolverReport solve(const RowProblem& problem, RowSolution& solution, RowSizes& sizes);

  // The derivatives of the last solve.
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
  std::vector<RowPush> held_;  // of the problem before
  std::vector<int> overheld_;  // friction that holds by more than mu f_n: the first rows of discs
  // Bounds by rows: from where and to where a search goes; the nearest.
  std::vector<double> base_, aim_, best_;
  bool is_rough_ = false;  // no bounds were found that normals agree with
  std::vector<double> change_, f_hat_, y_bar_, Ly_, moved_, z_;
  BoundedRows::Adjoint adjoint_;
};

}  // namespace robosim

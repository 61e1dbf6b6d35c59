// Rows solved by a few convex problems: redundant rows, on whatever bodies, cost no more than others.
//
// Every row gives a little beside its own compliance, by a part of its admittance,
//   R_i = compliance_i + part d_i . L d_i        (of a disc by the larger of its two axes; `part` is larger of
//   friction)
// so that rows that depend on each other share what they push in one way alone, and friction, which creeps, carries
// only what nothing else can. With bounds s of friction that are given, the velocities minimize
//   1/2 (y - y_free)^T L^+ (y - y_free) + sum_i potential_i(d_i . y - t_i)        (row_potential.h)
// over y = y_free + F a, F F^T = L. Newton's method with an exact line search finds the only solution of this convex
// problem:
//   (1 + F^T H F) da = -(a - F^T D^T f),   H = sum_i d_i (-df_i/dw_i) d_i^T
//
// Then, with what holds and what slides as it is there, the impulses become exact: rows give again from the impulses
// f' that they have, w + compliance f + (R - compliance) (f - f') = 0, twice, so that nothing is left of `part` but
// how rows share (the proximal point method: Rockafellar, SIAM J. Control Optim. 14, 1976). What rows lack is told in
// twice the precision, as it is divided by R.
//
// Friction: the first problem has none; the bounds of the next are mu f_n of the normals before. From there Newton's
// method finds bounds that the normals agree with,
//   s <- s + (1 - S)^-1 (mu f_n(s) - s),   S = mu df_n/ds        (of what slides)
// or goes a part of mu f_n - s alone where that has not halved the difference. So what slides has Coulomb's friction,
// and does not glide on a gap. Where friction presses what it holds harder against what it rubs on, several solutions
// may hold: after some problems the search goes on from where all friction holds. Where it ends without any, the
// status is `rough`. Nothing is kept from step to step.
//
// The derivative is that of the solution, by the factor of the last problem, with bounds that follow the normals.
#pragma once

#include <vector>

#include "contact/one_sided.h"
#include "contact/row_gradient.h"
#include "contact/row_potential.h"
#include "contact/row_solver.h"
#include "contact/rows.h"

namespace robosim {

struct ConvexParameters {
  double part = 1e-7, part_of_friction = 1e-5;
  int problems = 16, problems_from_holding = 8;  // with friction, at most; after which the search begins again
  double bound_step = 0.6;                       // of bounds, where Newton's method does not get nearer
  double least_bound = 0.1;                      // of Newton's method beside mu f_n
  double cone_error = 1e-8;  // of bounds beside the largest: counts as none where the next is no better
  double rounding_of_cone = 1e-14;
  int max_iterations = 50;  // of Newton's method in a problem
  int refinements = 2;
};

class ConvexSolver {
 public:
  explicit ConvexSolver(const ConvexParameters& parameters = {}) : parameters_(parameters) {}

  // Fills the solution, and keeps what its derivatives need.
  SolverReport solve(const RowProblem& problem, RowSolution& solution, RowSizes& sizes);

  // The derivatives of the last solve.
  OneSided differentiate(const RowProblem& problem, const RowSizes& sizes, const RowSolution& solution);
  void add_vjp(const RowProblem& problem, const RowSolution& solution, const double* f_bar, const double* z_bar,
               RowGradient& gradient);

 private:
  // Rows give from no impulse, then twice from those that they have.
  static constexpr int passes = 3;

  // One of the convex problems, solved.
  struct Stage {
    std::vector<double> bound;             // rows: of friction
    std::vector<double> f, w;              // rows
    std::vector<RowPush> pushes;           // of each row, or the first of a disc
    std::vector<double> factor;            // of 1 + F^T H F
    std::vector<double> from[passes - 1];  // rows: the impulses from which they have given last
  };

  double part(const ConstraintRow& row) const {
    return creeps(row) ? parameters_.part_of_friction : parameters_.part;
  }
  double potential(const RowProblem& problem, const std::vector<double>& a, const std::vector<double>& y,
                   const Stage& stage);
  void start_holding(const RowProblem& problem, const std::vector<RowPush>* before, Stage& stage);
  bool solve_stage(const RowProblem& problem, SolverReport& report);
  bool minimize(const RowProblem& problem, double converged, Stage& stage, SolverReport& report);
  bool is_within_bounds(const RowProblem& problem, const Stage& stage) const;
  void push(const RowProblem& problem, const std::vector<double>& w, Stage& stage) const;
  bool factor(const RowProblem& problem, Stage& stage);
  void fill_lack(const std::vector<double>& f, const double* from, const double* given);
  bool slide_again(const RowProblem& problem, Stage& stage);
  void refine(const RowProblem& problem, Stage& stage);
  double bounds_lack(const RowProblem& problem);
  bool couple(const RowProblem& problem);
  void solve_adjoint(const RowProblem& problem, const Stage& stage, const std::vector<double>& f_hat,
                     std::vector<double>& mu);
  void correct(const RowProblem& problem, const Stage& stage, const std::vector<double>& error,
               std::vector<double>& change);
  void respond(const RowProblem& problem, const Stage& stage, const std::vector<double>& pushed,
               std::vector<double>& change);
  void velocities(const RowProblem& problem, const std::vector<double>& f, const double* y_free, bool with_targets,
                  std::vector<double>& w, std::vector<double>& low);

  ConvexParameters parameters_;
  int r_ = 0;                  // columns of F
  std::vector<double> F_;      // channels x r
  std::vector<double> R_;      // rows: compliances
  std::vector<double> own_R_;  // and of these the part from which rows give again
  std::vector<double> a_, y_;  // r; channels
  Stage stage_;
  std::vector<RowPush> held_;     // of the problem before
  std::vector<int> sliding_;      // rows: of friction at its bound, the first of a disc
  std::vector<double> lack_;      // of these mu f_n - s
  std::vector<double> steps_;     // what their bounds change by
  std::vector<double> couplings_;  // 1 - S, factored
  std::vector<int> pivots_;
  bool is_coupled_ = false;  // and regular
  bool is_rough_ = false;    // no bounds were found that normals agree with
  Stage probe_;              // of line searches
  std::vector<double> HF_, g_, da_, dy_, dw_, w_, low_, z_, error_, change_, trial_, pushed_, row_sizes_, y_low_, Ly_;
  std::vector<double> f_hat_, f_bar_, mu_, all_mu_, R_bar_, own_R_bar_, y_bar_;  // of add_vjp
};

}  // namespace robosim

// Active-set solver (`lcp`) of a step's complementarity problem, with friction within boxes, solved
// to rounding.
//
// `solve` runs the attempts below in order and stops at the first whose solution satisfies all
// rows. Most attempts find modes of the rows. The impulses of given modes follow from one linear
// system (class_factor.h). Rows that violate their condition then change mode, all at once, until
// none does. The total cost of these systems is bounded, so the number of changes is bounded by the
// size of the problem. If no attempt finds a solution, or the bound is reached, the status is
// `rough` and there are no impulses: another solver takes over.
//   prediction       a function of the problem alone: every row sticks unless the impulse that it
//                    requires is much larger than friction allows
//   sweeps           modes after a few sweeps of projected Gauss-Seidel from zero; first with all
//                    rows sticking that the sweeps brought to rest
//   Dantzig, Lemke   pivoting, for few rows
// Then one of the impulses that move the bodies alike is selected (impulse_selection.h). If the
// selection does not end, it starts again from the modes of rows that are all slightly compliant.
// If it does not end within the bound, the impulses stay as they are, with status `basic`.
//
// If no friction is at its bound, the velocities after the step are unique. With sliding friction
// they need not be, as Coulomb's law itself allows several solutions (Painleve). The prediction
// then decides, again as a function of the problem alone.
#pragma once

#include <memory>

#include "contact/class_factor.h"
#include "contact/dantzig.h"
#include "contact/impulse_selection.h"
#include "contact/lemke.h"
#include "contact/projected_gauss_seidel.h"
#include "contact/row_solver.h"

namespace robosim {

// Thresholds and counts of the attempts. They affect a solution only through the attempt that
// finds it.
struct ModeSolverParameters {
  // Prediction: a row sticks if the impulse that it requires by itself is at most this many times
  // its bound.
  double max_slip_ratio = 4;
  // A joint counts as off its limit if it may move towards the limit faster than this, relative to
  // the velocities at play.
  double min_limit_speed = 1e-3;
  // Sweeps before the first and the second set of modes.
  int predicting_sweeps[2] = {12, 88};
  // Mode changes before a set of modes is given up.
  int max_class_changes = 12;
  // Largest row_scale of a solution, relative to that of the sweeps. Larger impulses come from rows
  // that contradict each other up to rounding, whose residual would look small relative to them. A
  // body on top of one 1e6 times lighter needs 1e6.
  double max_scale = 1e7;

  // Bound on the cost of a solve: the sum of the cubes of the unknowns of its linear systems and
  // of the entries of its pivoting tables. It is eight times the cost of the most expensive
  // solved steps of the zoo (tests/campaigns): 195 systems of 127 unknowns, or 39 of 216, a wall
  // of 36 contacts.
  double max_work = 4e8;
  // Pivoting costs rows^3 and more. Limits: rows, or rows channels^3, as many rows on few bodies
  // cost no more than few rows.
  int max_pivoted_rows = 80;
  double max_pivoting = 2e7;
  // Compliances tried by the selection of impulses.
  double selecting_compliances[3] = {1e-7, 1e-5, 1e-3};
};

class ModeSolver {
 public:
  // Methods in the order in which they are tried. Each one either finds a solution or fails.
  struct Attempt {
    const char* name;
    bool (ModeSolver::*find)(const RowProblem& problem, RowSolution& solution,
                             SolverReport& report);
  };
  static constexpr int n_attempts = 4;
  static const Attempt attempts[n_attempts];

  explicit ModeSolver(const ModeSolverParameters& parameters = {}) : parameters_(parameters) {}

  SolverReport solve(const RowProblem& problem, RowSolution& solution);

  // Factor of the last solve, for derivatives; if the status is `solved`, the factor of
  // the solution.
  ClassFactor& classes() { return *factor_; }
  // Exchange that factor for another one, which the next solve overwrites.
  void exchange_classes(std::unique_ptr<ClassFactor>& other) { std::swap(factor_, other); }
  // Exchange the sizes of the last problem for others, which the next solve overwrites.
  void exchange_sizes(RowSizes& other) { std::swap(sizes_, other); }

 private:
  bool predict(const RowProblem& problem, RowSolution& solution, SolverReport& report);
  bool settle_sweeps(const RowProblem& problem, RowSolution& solution, SolverReport& report);
  bool pivot_by_dantzig(const RowProblem& problem, RowSolution& solution, SolverReport& report);
  bool pivot_by_lemke(const RowProblem& problem, RowSolution& solution, SolverReport& report);

  // Solve with the work that another solve has left.
  SolverReport solve(const RowProblem& problem, RowSolution& solution, double& work_left);
  bool is_small(const RowProblem& problem) const;
  bool settle(const RowProblem& problem, RowSolution& solution, SolverReport& report);
  bool sharpen(const RowProblem& problem, RowSolution& solution, SolverReport& report);
  bool rest(const RowProblem& problem, RowSolution& solution);
  double least_admittance(const RowProblem& problem) const;
  bool select(const RowProblem& problem, RowSolution& solution);
  ImpulseSelection::Rows selecting(const RowProblem& problem);

  ModeSolverParameters parameters_;
  ProjectedGaussSeidel sweeps_;
  Dantzig dantzig_;
  Lemke lemke_;
  ImpulseSelection selection_;
  std::unique_ptr<ClassFactor> factor_ = std::make_unique<ClassFactor>();
  double* work_left_ = nullptr;  // during a solve
  RowSizes sizes_;
  RowSolution trial_, swept_;
  std::vector<RowClass> guess_;
  RowProblem compliant_;
  std::unique_ptr<ModeSolver> giving_;  // for rows that are all slightly compliant
  bool is_foreseen_ = false;            // the prediction is the solution
  bool is_giving_ = false;              // true inside giving_, which does not nest further
  double predicted_scale_ = 0;          // row_scale of the prediction
  std::vector<double> asked_;           // impulses that rows require by themselves
};

}  // namespace robosim

// The complementarity problem of a step's rows, friction within boxes, solved to rounding (`lcp`).
//
// `solve` runs the attempts below in order and stops at the first whose solution satisfies all
// rows. Most attempts find classes; the impulses of these classes follow from one linear system
// (class_factor.h), and rows that break their condition change class, all at once, until none does.
// All changes together are bounded by what their systems cost, so by the size of the problem. Where
// no attempt has a solution, or the bound is reached, it is `rough`, and there are no impulses:
// another solver's turn.
//   prediction       a function of the problem alone: every row sticks but those across which much
//                    more is asked than friction would hold
//   sweeps           classes that a few sweeps of projected Gauss-Seidel from zero end in; at first
//                    with all sticking that the sweeps brought to rest
//   Dantzig, Lemke   pivots, of few rows
// Then impulses are selected among those that equal (impulse_selection.h); where that does not end,
// from the classes of rows that all give a little. Where it does not end within the bound the
// impulses stay as they are, `basic`.
// Without friction at its bound the velocities after the step are unique. Where friction slides
// they need not be, as Coulomb's law itself allows several (Painleve): the prediction then decides,
// again as a function of the problem alone.
#pragma once

#include <memory>

#include "contact/class_factor.h"
#include "contact/dantzig.h"
#include "contact/impulse_selection.h"
#include "contact/lemke.h"
#include "contact/projected_gauss_seidel.h"
#include "contact/row_solver.h"

namespace robosim {

// Thresholds and counts of the attempts. No solution depends on them but through which attempt
// finds it.
struct ModeSolverParameters {
  // Prediction: a row sticks if the impulse that it would need by itself is at most this many times
  // its bound.
  double max_slip_ratio = 4;
  // The speed towards its limit that a joint off it may have, as a part of the velocities at play.
  double min_limit_speed = 1e-3;
  // Sweeps before the first and the second set of classes.
  int predicting_sweeps[2] = {12, 88};
  // Changes of classes before a set of them is given up.
  int max_class_changes = 12;
  // The largest row_scale of a solution, relative to that of the sweeps. Larger impulses come from
  // rows that contradict each other up to rounding, whose residual would look small beside them; a
  // body on top of one 1e6 times lighter needs 1e6.
  double max_scale = 1e7;

  // The bound of a solve: the cubes of the unknowns of its linear systems and the entries of the
  // tables of its pivots, in all. Eight times the most that solved steps of the zoo
  // (tests/campaigns) need: 195 systems of 127 unknowns, or 39 of 216, a wall of 36 contacts.
  double max_work = 4e8;
  // Pivots take the time of rows^3 and more: rows, or rows channels^3, as many rows of few things
  // that touch are as good as few.
  int max_pivoted_rows = 80;
  double max_pivoting = 2e7;
  // Selection of impulses: compliances that are tried.
  double selecting_compliances[3] = {1e-7, 1e-5, 1e-3};
};

class ModeSolver {
 public:
  // Methods, each of which has a solution in the end or has not, in the order in which they are
  // tried.
  struct Attempt {
    const char* name;
    bool (ModeSolver::*find)(const RowProblem& problem, RowSolution& solution,
                             SolverReport& report);
  };
  static constexpr int n_attempts = 4;
  static const Attempt attempts[n_attempts];

  explicit ModeSolver(const ModeSolverParameters& parameters = {}) : parameters_(parameters) {}

  SolverReport solve(const RowProblem& problem, RowSolution& solution);

  // Of the last solve, for derivatives; where it is `solved` that of its solution.
  ClassFactor& classes() { return *factor_; }
  // The same, for a place of its own, by which another is given for the next solve.
  void exchange_classes(std::unique_ptr<ClassFactor>& other) { std::swap(factor_, other); }
  // The sizes of the problem that was solved last, for what they were before.
  void exchange_sizes(RowSizes& other) { std::swap(sizes_, other); }

 private:
  bool predict(const RowProblem& problem, RowSolution& solution, SolverReport& report);
  bool settle_sweeps(const RowProblem& problem, RowSolution& solution, SolverReport& report);
  bool pivot_by_dantzig(const RowProblem& problem, RowSolution& solution, SolverReport& report);
  bool pivot_by_lemke(const RowProblem& problem, RowSolution& solution, SolverReport& report);

  // Within what is left of another one's work.
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
  std::unique_ptr<ModeSolver> giving_;  // of rows that all give a little
  bool is_foreseen_ = false;            // the solution
  bool is_giving_ = false;              // one of rows that all give: there are no others to ask
  double predicted_scale_ = 0;          // row_scale of what was predicted
  std::vector<double> asked_;           // what rows would push by themselves
};

}  // namespace robosim

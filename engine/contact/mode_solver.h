// The complementarity problem of a step's rows, solved to rounding: friction within boxes (`lcp`) or within discs (`cone`).
//
// 1. Prediction, a function of the problem alone: that all sticks but what goes across much faster than it comes closer. Else the classes that a
//    few sweeps of projected Gauss-Seidel from zero end in; at first with all clamping that the sweeps have brought to rest as well as they could.
// 2. The impulses of these classes (`mode_factor.h`); rows that break their condition change class, all at once, until none does.
// 3. Where that does not end, of few rows, Dantzig's pivots, and where these cycle Lemke's; then 2. from the classes that they find. Discs have
//    no such pivots: of few rows Newton's method, each step of which is one of boxes. Then more sweeps, as long as their impulses do not grow.
// 4. Where that fails too, 2. with rows that give a little, less and less (the proximal point method).
// 5. Selection of impulses among those that equal (`impulse_selection.h`); where it does not end, from the classes of rows that all give a little.
// Without friction at its bound the velocities after the step are unique. Where friction slides they need not be, as Coulomb's law
// itself allows several (Painleve): the prediction then decides, again as a function of the problem alone.
#pragma once

#include <memory>

#include "contact/dantzig.h"
#include "contact/impulse_selection.h"
#include "contact/lemke.h"
#include "contact/mode_factor.h"
#include "contact/projected_gauss_seidel.h"

namespace robosim {

enum class ModeStatus {
  solved,
  basic,        // solved, but by impulses of independent rows or of sweeps: those of the selection rule leave their bounds; or discs slide in a direction held
  rough,        // to 1e-8, by impulses of sweeps or of step 4 that no rule has chosen
  inconsistent  // not solved: rows that contradict each other, or pivots that cycle; then the impulses of sweeps
};

struct ModeReport {
  ModeStatus status = ModeStatus::solved;
  double residual = 0;    // row_residual; where inconsistent relative to the velocities without impulses
  int class_changes = 0;  // solves of step 2 after the first
  int pivots = 0;         // Dantzig's; zero where step 2 ended
};

class ModeSolver {
 public:
  ModeReport solve(const RowProblem& problem, RowSolution& solution);

  // Of the last solve, for derivatives; where it is `solved` that of its solution.
  ModeFactor& classes() { return *factor_; }
  // The same, for a place of its own, by which another is given for the next solve.
  void exchange_classes(std::unique_ptr<ModeFactor>& other) { std::swap(factor_, other); }
  // The sizes of the problem that was solved last, for what they were before.
  void exchange_sizes(RowSizes& other) { std::swap(sizes_, other); }

 private:
  bool predict(const RowProblem& problem, RowSolution& solution);
  bool rest(const RowProblem& problem, RowSolution& solution);
  bool settle(const RowProblem& problem, const RowSizes& sizes, RowSolution& solution, ModeReport& report, int most_changes);
  bool go_on(const RowProblem& problem, const std::vector<RowClass>& classes, RowSolution& solution, ModeReport& report);
  bool turn_boxes(const RowProblem& problem, RowSolution& solution, ModeReport& report);
  double relative_residual(const RowProblem& problem, const RowSolution& solution) const;
  double own_admittance(const RowProblem& problem, int row) const;
  double least_admittance(const RowProblem& problem) const;
  double yield(const RowProblem& problem, ModeReport& report);
  bool select(const RowProblem& problem, RowSolution& solution);
  ImpulseSelection::Rows selecting(const RowProblem& problem);

  ProjectedGaussSeidel sweeps_;
  Dantzig dantzig_;
  Lemke lemke_;
  ImpulseSelection selection_;
  std::unique_ptr<ModeFactor> factor_ = std::make_unique<ModeFactor>();
  RowSizes sizes_, yielding_;  // of the problem, and of compliant_
  RowSolution trial_, swept_, nearest_;
  std::vector<RowClass> guess_, settled_;
  RowProblem compliant_, boxed_;
  std::unique_ptr<ModeSolver> boxes_, giving_;  // of the turned rows; of rows that all give a little
  bool is_giving_ = false;    // one of rows that all give: there are no others to ask
  bool is_of_boxes_ = false;  // the solution, by impulses that boxes have, and not those of its classes
  std::vector<double> angles_, speeds_;
  std::vector<RowClass> box_classes_;
  double predicted_scale_ = 0;  // row_scale of what was predicted
  std::vector<double> push_, rest_;  // impulses that the guess comes from; that count as the position of rest
};

}  // namespace robosim

// Projected Gauss-Seidel with a fixed number of sweeps from zero, and the adjoint of
// these iterations.
//
// One update solves row i for its impulse with all other impulses fixed, and clips it:
//   f_i <- clamp(f_i - w_i / (a_i + R_i), bounds),   w_i = d_i . y - t_i + R_i f_i
//   y <- y + u_i df_i,   u_i = L d_i,   a_i = d_i . L d_i
// with friction's bounds from the latest f_n. The result is not an exact solution of the rows, so
// its gradient is that of the iterations. It is computed by reverse sweeps over a tape of each
// update's old impulse and outcome (Qiao, Liang, Koltun, Lin, ICML 2021, Algorithm 1, with its
// misprints corrected, in channels). Quantities that the sweeps nearly cancel are accumulated in
// twice the precision there. A sweep costs 2 k products per row on k channels forward, and about 4
// k backward.
#pragma once

#include <cstdint>
#include <vector>

#include "contact/row_gradient.h"
#include "contact/rows.h"

namespace robosim {

class ProjectedGaussSeidel {
 public:
  // Compute the impulses after `sweeps` sweeps. A row that nothing moves (a_i + R_i = 0) keeps zero
  // impulse. The modes are those of each row's last update.
  void solve(const RowProblem& problem, int sweeps, RowSolution& solution);

  // Outcome of each update of the last solve, and true if any update was degenerate to rounding.
  const std::vector<RowClass>& outcomes() const { return outcomes_; }
  bool is_tied() const { return is_tied_; }

  // Start from zero impulses, and continue by a number of sweeps on the same problem. For
  // predictions, without an adjoint.
  void start(const RowProblem& problem, RowSolution& solution);
  void go_on(const RowProblem& problem, int sweeps, RowSolution& solution);

  // Add to `gradient` the gradient of a loss that changes by f_bar (rows) with the impulses of the
  // last solve, and by z_bar (channels) with z.
  void add_vjp(const RowProblem& problem, const RowSolution& solution, const double* f_bar,
               const double* z_bar, RowGradient& gradient);

 private:
  void prepare(const RowProblem& problem);
  static double held_still(const RowProblem& problem, const RowBlock& block, int row,
                           const RowSolution& solution);
  template <bool records>
  void sweep(const RowProblem& problem, int sweeps, RowSolution& solution);

  std::vector<double> u_;            // rows x channels
  std::vector<double> a_, inverse_;  // rows; 1 / (a + R)
  std::vector<double> y_;            // channels
  std::vector<double> old_f_;        // sweeps x rows: the tape
  std::vector<RowClass> outcomes_;   // sweeps x rows
  bool is_tied_ = false;
  std::vector<double> f_, y_then_, f_bar_, f_bar_low_, y_bar_, u_bar_;
  // Parts of y_bar that f_bar includes already, and that came since.
  std::vector<double> taken_y_bar_, taken_y_bar_low_, new_y_bar_;
  std::vector<int> pushes_;  // rows: number of nonzero impulses before the update
};

}  // namespace robosim

// Projected Gauss-Seidel with a fixed number of sweeps, from zero, and the adjoint of these
// iterations.
//
// One update solves row i for its impulse with all others as they are, and clips it:
//   f_i <- clamp(f_i - w_i / (a_i + R_i), bounds),   w_i = d_i . y - t_i + R_i f_i,   a_i = d_i . L
//                                                    d_i,   y <- y + u_i df_i,   u_i = L d_i
// with friction's bounds from the newest f_n. What is left after the sweeps is not a solution of
// the rows, so its gradient is that of the iterations themselves: reverse sweeps over the tape of
// each update's old impulse and outcome (Qiao, Liang, Koltun, Lin, ICML 2021, Algorithm 1, with its
// misprints corrected, in channels). What the sweeps have all but settled is told in twice the
// precision there. A sweep costs 2 k products per row on k channels, forward, and some 4 k
// backward.
#pragma once

#include <cstdint>
#include <vector>

#include "contact/row_gradient.h"
#include "contact/rows.h"

namespace robosim {

class ProjectedGaussSeidel {
 public:
  // Impulses after `sweeps` sweeps. A row that nothing moves (a_i + R_i = 0) keeps zero. The
  // classes are those of each row's last update.
  void solve(const RowProblem& problem, int sweeps, RowSolution& solution);

  // Of the last solve: what each update did, and whether one of them was as near to doing something
  // else as rounding tells.
  const std::vector<RowClass>& outcomes() const { return outcomes_; }
  bool is_tied() const { return is_tied_; }

  // For predictions, which no adjoint goes with: zero impulses, and as many sweeps more, from where
  // the last call ended with the same problem.
  void start(const RowProblem& problem, RowSolution& solution);
  void go_on(const RowProblem& problem, int sweeps, RowSolution& solution);

  // Adds to `gradient` the gradient of a loss that changes by f_bar (rows) with the impulses of the
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
  std::vector<double> old_f_;        // sweeps x rows, of the tape
  std::vector<RowClass> outcomes_;   // sweeps x rows
  bool is_tied_ = false;
  std::vector<double> f_, y_then_, f_bar_, f_bar_low_, y_bar_, u_bar_;
  // Of y_bar what f_bar has already, and what has come since.
  std::vector<double> taken_y_bar_, taken_y_bar_low_, new_y_bar_;
  std::vector<int> pushes_;  // rows: how often before the update
};

}  // namespace robosim

// Impulses of rows with known modes: the linear system behind every solution of the rows, and
// behind its derivatives.
//
// With C the active rows (RowClass::clamping), sg = +1 or -1 for rows at their upper or lower
// bound, and f_B = sg mu f_n for friction rows among these,
//   w_C = D_C y+ + R_C f_C - t_C = 0,   y+ = y_free + L z
//   z = D_C^T f_C + D_B^T f_B = K f_C + D_const^T f_const
// and with f_C = P b (`row_basis.h`)
//   S b = P^T (t_C - D_C (y_free + L D_const^T f_const)),   S = P^T (D_C L K + R_C) P
// where S is unsymmetric if any friction slides. The number of unknowns is that of the independent
// rows, at most six for two bodies, whatever the number of their contacts. Rows of several blocks
// may be linearly dependent as well (two links that hold each other in place in more ways than
// one). Then b is the solution of least friction, and among these the smallest one, as within a
// block. w_C = 0 requires a right-hand side in range(D_C), as for contacts in one plane with one
// normal. Of other redundant contacts of two bodies some have to separate. Those that remain may be
// dependent at this state only (add_dependence_vjp).
#pragma once

#include <cstdint>
#include <vector>

#include "contact/impulse_rates.h"
#include "base/linalg/qr.h"
#include "contact/row_basis.h"
#include "contact/row_gradient.h"
#include "contact/rows.h"

namespace robosim {

class ClassFactor {
 public:
  // Set a budget of work: from here on each system takes the cube of its unknowns from it, and
  // factor fails once the budget is spent. Null: no limit.
  void spend(double* work_left) { work_left_ = work_left; }

  // Factor the system of these modes. Friction rows whose normal is not active count as separating.
  // Return false if S is zero, or if the work is spent.
  bool factor(const RowProblem& problem, const RowClass* classes);

  // Compute f, then z, y, w and the modes. Requires factor for the same problem, except that
  // y_free, targets and bounds may have changed.
  void solve(const RowProblem& problem, RowSolution& solution);
  // Factor and solve.
  bool solve(const RowProblem& problem, const RowClass* classes, RowSolution& solution) {
    if (!factor(problem, classes)) return false;
    solve(problem, solution);
    return true;
  }

  // Add to `gradient` the gradient of a loss that changes by f_bar (rows) with the impulses and by
  // z_bar (channels) with z. Requires solve. The modes are fixed: a one-sided derivative if a row
  // is degenerate.
  void add_vjp(const RowProblem& problem, const RowSolution& solution, const double* f_bar,
               const double* z_bar, RowGradient& gradient);

  // Compute the rates of all impulses that `out` requests, with respect to rows and velocities, and
  // of the dependences below if requested. Requires solve.
  void rates(const RowProblem& problem, ImpulseRates& out);
  // Compute only the rates with respect to velocities and inactive rows, and the multipliers of the
  // dependences if requested. Requires factor.
  void push_rates(const RowProblem& problem, ImpulseRates& out);

  // Return true if combinations of active rows are unaffected by any impulse. These combinations
  // vanish at the solution, but not necessarily near it. add_dependence_vjp adds the gradient of a
  // weighted sum of all of them, with weights such that no two of them cancel.
  bool has_dependences(const RowProblem& problem) const;
  void add_dependence_vjp(const RowProblem& problem, const RowSolution& solution,
                          RowGradient& gradient);

  // Return true if the modes do not determine the velocities of the factored problem: b, and with
  // it friction at its bound, can change without effect on w_C. The rule above then selects a
  // solution. From here on add_vjp includes the derivative of that selection (rates does not).
  bool find_choice(const RowProblem& problem);
  bool has_choice() const { return has_choice_; }
  // Return false if no rule determines an unknown that moves something by friction at its
  // bound only.
  bool is_determined(const RowProblem& problem);
  // Return true if velocities are unique, or selected by the rule.
  bool is_differentiable(const RowProblem& problem) {
    find_choice(problem);
    return is_determined(problem);
  }

  const RowBasis& basis() const { return basis_; }
  const std::vector<double>& impulses() const { return b_; }  // of the basis; requires solve
  RowClass row_class(int i) const { return classes_[i]; }

 private:
  void assemble(const RowProblem& problem);
  void drop_rounding();
  void gather();
  template <class F>
  void for_each_dropped(F&& f) const;
  template <class F>
  void with_kept(double* x, F&& f);
  bool moves_nothing(const RowProblem& problem, const double* b);
  void solve_S(double* x);
  void solve_S_transposed(double* B, int width);  // B: unknowns x width, row by row
  void solve_once(double* X, int width);
  void fill_null_space();
  void choose_solution(double* x) const;
  void choose_solution_transposed(double* X, int width) const;
  void fill_dependences(const RowProblem& problem);
  void carry_to_normals(const RowProblem& problem, double* rows, int width) const;
  void add_multipliers_vjp(const RowProblem& problem, const RowSolution& solution,
                           const double* f_bar, const double* z_bar, RowGradient& gradient);
  void add_product_vjp(const RowProblem& problem, const RowSolution& moved,
                       const std::vector<double>& b, bool of_solution, const double* f_bar,
                       const double* z_bar, RowGradient& gradient);
  void add_basis_vjp(const RowProblem& problem, const std::vector<double>& b, const double* f_bar,
                     RowGradient& gradient) const;
  void add_choice_vjp(const RowProblem& problem, RowGradient& gradient);
  void add_choice_vjp_of_basis(const RowProblem& problem, bool of_friction, RowGradient& gradient);

  double* work_left_ = nullptr;
  std::vector<RowClass> classes_;
  RowBasis basis_;
  std::vector<int> kept_;  // unknowns solved for; of these are kept_S_ and its factor S_
  std::vector<int> pivots_;
  RankRevealingQr qr_;  // used if S is singular
  // Basis of the null space of a singular S, vector by vector over the kept unknowns. The
  // first vectors are orthonormal in friction, the others are without friction and orthonormal
  // in springs.
  std::vector<double> null_space_;
  int creeping_ = 0;                       // number of the first vectors
  std::vector<std::uint8_t> is_friction_;  // of the kept unknowns
  bool is_singular_ = false, has_choice_ = false;
  bool slides_ = false;  // any friction is at its bound; else S is symmetric
  int rank_ = 0;
  // Per unknown: compliance of its row, and target of its rows. Per channel: velocity while all
  // unknowns are zero.
  std::vector<double> compliance_, asked_, still_;
  // N_, KP_: for each unknown, the impulses of its block's channels without and with friction at
  // its bound.
  std::vector<double> S_, kept_S_, whole_S_, N_, KP_, pushed_, b_, scratch_, row_sizes_, compact_,
      multiplier_, f_bar_, z_bar_, unpushed_, column_;
  std::vector<double> right_side_, X_, left_, rest_, sizes_;  // for iterative refinement
  std::vector<double> b_bar_, choice_[2], seen_[2], other_b_, impulses_;  // for add_choice_vjp
  RowSolution moved_;
  std::vector<int> columns_;
};

}  // namespace robosim

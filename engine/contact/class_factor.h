// The impulses of rows whose classes are known: the linear system behind every solution of the
// rows, and behind its derivatives.
//
// With C the clamping rows, sg = +1 or -1 for rows at their upper or lower bound and f_B = sg mu
// f_n for friction rows among these,
//   w_C = D_C y+ + R_C f_C - t_C = 0,   y+ = y_free + L z,   z = D_C^T f_C + D_B^T f_B = K f_C +
//                                       D_const^T f_const,
// and with f_C = P b (`row_basis.h`)
//   S b = P^T (t_C - D_C (y_free + L D_const^T f_const)),   S = P^T (D_C L K + R_C) P
//                                                           (unsymmetric where something slides)
// has as many unknowns as the rows have independent ones, at most six for two bodies, whatever the
// number of their contacts. Rows of several blocks may depend on each other as well (two links that
// hold each other in place in more ways than one): then b is that of least friction, and of these
// the smallest one, as within a block. w_C = 0 needs a right-hand side in range(D_C), as it is for
// contacts on one plane with one normal. Of other contacts of two bodies some have to let go; and
// what is then left may be so at this state alone (add_dependence_vjp).
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
  // Systems take the cube of their unknowns from this work from here on, and there are none once it
  // is spent; null: no bound.
  void spend(double* work_left) { work_left_ = work_left; }

  // Factors the system of these classes; friction rows whose normal is not clamping count as
  // separating. False if S is zero, or work is spent.
  bool factor(const RowProblem& problem, const RowClass* classes);

  // f, then z, y, w and the classes. After factor, of the same problem but for y_free, targets and
  // bounds, which may have changed.
  void solve(const RowProblem& problem, RowSolution& solution);
  // Both.
  bool solve(const RowProblem& problem, const RowClass* classes, RowSolution& solution) {
    if (!factor(problem, classes)) return false;
    solve(problem, solution);
    return true;
  }

  // Adds to `gradient` the gradient of a loss that changes by f_bar (rows) with the impulses and by
  // z_bar (channels) with z. After solve. The classes are held: the one-sided derivative where a
  // row is tied.
  void add_vjp(const RowProblem& problem, const RowSolution& solution, const double* f_bar,
               const double* z_bar, RowGradient& gradient);

  // The same for the impulses of all channels that `out` asks for at once, in what rows and
  // velocities change by; and of the dependences below. After solve.
  void rates(const RowProblem& problem, ImpulseRates& out);
  // Of these what is of the velocities, and of rows that do not clamp; and the multipliers of
  // dependences, where asked for. After factor.
  void push_rates(const RowProblem& problem, ImpulseRates& out);

  // Whether combinations of clamping rows see no impulse at all. They hold at the solution; whether
  // they go on to hold beside it is another question: adds what a sum of all of them changes by
  // with the numbers of the rows, each with a weight of its own so that none makes up for another.
  bool has_dependences(const RowProblem& problem) const;
  void add_dependence_vjp(const RowProblem& problem, const RowSolution& solution,
                          RowGradient& gradient);

  // Returns whether these classes leave the velocities of the problem that was factored a choice: b
  // can change, and friction at its bound with it, unseen by w_C. The rule above decides then, and
  // from here on add_vjp follows its choice (rates do not).
  bool find_choice(const RowProblem& problem);
  bool has_choice() const { return has_choice_; }
  // False where b leaves a choice that no rule decides, among unknowns along which nothing moves.
  bool is_determined(const RowProblem& problem);
  // True where velocities are unique, or chosen by the rule.
  bool is_differentiable(const RowProblem& problem) {
    find_choice(problem);
    return is_determined(problem);
  }

  const RowBasis& basis() const { return basis_; }
  const std::vector<double>& impulses() const { return b_; }  // of the basis; after solve
  RowClass row_class(int i) const { return classes_[static_cast<std::size_t>(i)]; }

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
  std::vector<int> kept_;  // unknowns that are asked for; kept_S_, and S_, its factor, are of these
  std::vector<int> pivots_;
  RankRevealingQr qr_;  // where S is singular
  // Then what S takes to zero, a vector of the kept unknowns after the other: orthonormal in
  // friction the first ones, then without friction in springs.
  std::vector<double> null_space_;
  int creeping_ = 0;                       // the first ones
  std::vector<std::uint8_t> is_friction_;  // of the kept unknowns
  bool is_singular_ = false, has_choice_ = false;
  bool slides_ = false;  // friction at its bound; else S is symmetric
  int rank_ = 0;
  // Of each unknown what its row gives by itself and what the rows ask of it; the channels'
  // velocities while all unknowns are zero.
  std::vector<double> compliance_, asked_, still_;
  // N_, KP_: of each unknown what its block's channels get, without friction at its bound and with
  // it.
  std::vector<double> S_, kept_S_, whole_S_, N_, KP_, pushed_, b_, scratch_, row_sizes_, compact_,
      multiplier_, f_bar_, z_bar_, unpushed_, column_;
  std::vector<double> right_side_, X_, left_, rest_, sizes_;  // of solutions that are refined
  std::vector<double> b_bar_, choice_[2], seen_[2], other_b_, impulses_;  // of add_choice_vjp
  RowSolution moved_;
  std::vector<int> columns_;
};

}  // namespace robosim

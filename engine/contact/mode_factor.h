// The impulses of rows whose classes are known, discs included; what their directions are is found on the way.
//
// A disc that slides pushes along e = (cos a, sin a), against its velocity. With its axes turned so that the first lies along e and the second
// across it,
//   d_along = cos a d_1 + sin a d_2,   d_across = -sin a d_1 + cos a d_2,
// it is a friction row at its upper bound beside one without impulse: rows as class_factor.h solves them. The angles are those at which
//   F_j(a) = w_across,j = 0,   w_along,j <= 0
// found by Newton's method: dF/da from what the factor makes of impulses that turn (impulse_rates.h). The derivative of the solution
// takes the angles with it by the same matrix. Rows without discs are class_factor's alone.
#pragma once

#include "contact/class_factor.h"

namespace robosim {

class ModeFactor {
 public:
  static constexpr int enough_turns = 30;

  // The solution of these classes, the directions of sliding discs at first those of f (one per row); where one stands still it keeps its own. False
  // where ClassFactor has none. Newton's method ends after most_turns.
  bool solve(const RowProblem& problem, const RowClass* classes, const double* f, RowSolution& solution, int most_turns = enough_turns);

  // Bounds what solves cost, as of ClassFactor.
  void spend(double* work_left) { factor_.spend(work_left); }

  bool any_slides() const { return !discs_.empty(); }
  // Of the rows that clamp, and its impulses.
  const RowBasis& basis() const { return factor_.basis(); }
  const std::vector<double>& impulses() const { return factor_.impulses(); }

  // As of ClassFactor, after solve. Directions that are not differentiable are held.
  void add_vjp(const RowProblem& problem, const RowSolution& solution, const double* f_bar, const double* z_bar, RowGradient& gradient);

  // As of ClassFactor. False, and nothing is written, where discs slide.
  bool rates(const RowProblem& problem, ImpulseRates& out);

  // As of ClassFactor, at the directions that discs have.
  bool has_dependences(const RowProblem& problem) const { return factor_.has_dependences(problem); }
  void add_dependence_vjp(const RowProblem& problem, const RowSolution& solution, RowGradient& gradient);

  // After solve: whether the directions of discs that move can be differentiated, those that others hold at rest move nothing, and the velocities are unique or
  // chosen by the rule (class_factor.h).
  bool is_differentiable(const RowProblem& problem);
  // True where discs at their bound are at rest: what others hold, so that their directions, and impulses, are not those of their velocities.
  bool has_held() const;
  // True where velocities are chosen: then add_vjp fills gradient.L, and there are no rates.
  bool has_choice() const { return factor_.has_choice(); }

 private:
  struct Disc {
    int row;  // its first one
    double angle;
    bool is_held;
  };

  void turn(const RowProblem& problem);
  bool solve_turned(const RowProblem& problem);
  bool differentiate();
  bool differentiate_by_gradients();
  void add_across_vjp(const double* w_bar);
  void add_turning(const RowGradient& gradient, double* angle_bar) const;
  void add_turned_back(RowGradient& gradient);

  std::vector<Disc> discs_;  // that slide
  bool is_differentiated_ = false, is_regular_ = false;  // J_ is that of answer_; and not singular
  bool is_moved_by_held_ = false;                        // velocities change as a held disc turns
  ClassFactor factor_;
  std::vector<RowClass> classes_;
  RowProblem turned_;
  RowSizes sizes_;  // of the turned rows
  RowSolution answer_;  // of the turned rows
  RowGradient rates_;
  ImpulseRates push_rates_;
  std::vector<int> pivots_;
  std::vector<double> J_, F_, moved_, row_sizes_, z_bar_, f_bar_, angle_bar_, across_bar_;
};

}  // namespace robosim

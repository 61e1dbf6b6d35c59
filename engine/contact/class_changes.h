// Mode changes of rows whose impulses or velocities violate their conditions.
#pragma once

#include <vector>

#include "contact/rows.h"

namespace robosim {

// Impulse that counts as zero relative to those of the solution.
double impulse_slack(const RowSolution& solution);

// Return the next mode of row i. slack_w: a velocity that counts as zero.
RowClass class_by(const RowProblem& problem, int i, const RowSolution& solution, double slack_w);

// Return the mode of friction that slides against its velocity, as its normal becomes active.
inline RowClass sliding_class(const RowSolution& solution, int i) {
  return solution.w[i] > 0 ? RowClass::lower : RowClass::upper;
}

// Choice of the rows that change mode: all violated rows at once. If their number does not decrease
// for a while, only the last of them changes, until fewer rows are violated (Judice and Pires,
// Comput. Oper. Res. 21, 1994: it ends if the matrix is a P-matrix).
class ClassChanges {
 public:
  explicit ClassChanges(const RowProblem& problem) : problem_(problem) { begin(); }

  void begin() {
    fewest_ = problem_.size() + 1;
    left_ = patience;
  }

  // Revise the changes from `before` to `classes`. changed: their number; last: the last row
  // that changed.
  void apply(int changed, int last, const std::vector<RowClass>& before,
             std::vector<RowClass>& classes);

 private:
  // Changes of all rows at once without a decrease of the number of violated rows.
  static constexpr int patience = 5;

  const RowProblem& problem_;
  int fewest_, left_;
};

}  // namespace robosim

// The classes that rows go to from their own, by impulses and velocities that break their
// conditions.
#pragma once

#include <vector>

#include "contact/rows.h"

namespace robosim {

// An impulse that counts as none beside the solution's.
double impulse_slack(const RowSolution& solution);

// The next class of row i. slack_w: a velocity that counts as zero.
RowClass class_by(const RowProblem& problem, int i, const RowSolution& solution, double slack_w);

// The class of friction that slides against its velocity, as its normal begins to push.
inline RowClass sliding_class(const RowSolution& solution, int i) {
  return solution.w[static_cast<std::size_t>(i)] > 0 ? RowClass::lower : RowClass::upper;
}

// Which rows change class: all that are in breach at once, and where that goes in circles the last
// of them alone until fewer are (Judice and Pires, Comput. Oper. Res. 21, 1994: it ends where the
// matrix is a P-matrix).
class ClassChanges {
 public:
  explicit ClassChanges(const RowProblem& problem) : problem_(problem) { begin(); }

  void begin() { fewest_ = problem_.size() + 1, left_ = patience; }

  // `classes` are those of `before`, `changed` of them changed, the last of them that of row
  // `last`.
  void apply(int changed, int last, const std::vector<RowClass>& before,
             std::vector<RowClass>& classes);

 private:
  // Changes of all rows at once that may leave as many in breach.
  static constexpr int patience = 5;

  const RowProblem& problem_;
  int fewest_, left_;
};

}  // namespace robosim

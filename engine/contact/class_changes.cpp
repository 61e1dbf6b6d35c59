#include "contact/class_changes.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "base/linalg/small_sums.h"

namespace robosim {

namespace {

constexpr double rounding_of_impulses = 1e-13;  // relative to the largest

}  // namespace

double impulse_slack(const RowSolution& s) {
  double largest = 0;
  for (const double f : s.f) largest = std::max(largest, std::abs(f));
  return rounding_of_impulses * largest;
}

RowClass class_by(const RowProblem& problem, int i, const RowSolution& s, double slack_w) {
  const ConstraintRow& row = problem.rows[i];
  const double f = s.f[i], w = s.w[i];
  const RowBounds bounds = row_bounds(problem, i, s.f.data());
  switch (s.classes[i]) {
    case RowClass::clamping:
      if (f > bounds.upper) return RowClass::upper;
      if (f < bounds.lower)
        return row.kind == RowKind::unilateral ? RowClass::separating : RowClass::lower;
      return RowClass::clamping;
    case RowClass::upper:
      return w > slack_w ? RowClass::clamping : RowClass::upper;
    case RowClass::lower:
      return w < -slack_w ? RowClass::clamping : RowClass::lower;
    case RowClass::separating:
      break;
  }
  if (row.kind == RowKind::unilateral)
    return w < -slack_w ? RowClass::clamping : RowClass::separating;
  if (row.kind == RowKind::friction && s.classes[row.normal] != RowClass::clamping)
    return RowClass::separating;
  return RowClass::clamping;  // free to push
}

void ClassChanges::apply(int changed, int last, const std::vector<RowClass>& before,
                         std::vector<RowClass>& classes) {
  if (changed < fewest_) {
    fewest_ = changed;
    left_ = patience;
  } else if (--left_ < 0) {
    const RowClass own = classes[last];
    classes = before;
    classes[last] = own;
  }
}

}  // namespace robosim

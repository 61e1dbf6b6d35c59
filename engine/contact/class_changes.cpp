#include "contact/class_changes.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "base/linalg/small_sums.h"

namespace robosim {

namespace {

constexpr double rounding_of_impulses = 1e-13;  // relative to the largest

double disc_push(const RowSolution& s, int i) { return length(s.f[at(i)], s.f[at(i + 1)]); }

}  // namespace

double impulse_slack(const RowSolution& s) {
  double largest = 0;
  for (const double f : s.f) largest = std::max(largest, std::abs(f));
  return rounding_of_impulses * largest;
}

RowClass class_by(const RowProblem& problem, int i, const RowSolution& s, double slack_w) {
  const ConstraintRow& row = problem.rows[at(i)];
  const double f = s.f[at(i)], w = s.w[at(i)];
  const RowBounds bounds = row_bounds(problem, i, s.f.data());
  switch (s.classes[at(i)]) {
    case RowClass::clamping:
      if (f > bounds.upper) return RowClass::upper;
      if (f < bounds.lower) return row.kind == RowKind::unilateral ? RowClass::separating : RowClass::lower;
      return RowClass::clamping;
    case RowClass::upper: return w > slack_w ? RowClass::clamping : RowClass::upper;
    case RowClass::lower: return w < -slack_w ? RowClass::clamping : RowClass::lower;
    case RowClass::separating: break;
  }
  if (row.kind == RowKind::unilateral) return w < -slack_w ? RowClass::clamping : RowClass::separating;
  if (row.kind == RowKind::friction && s.classes[at(row.normal)] != RowClass::clamping) return RowClass::separating;
  return RowClass::clamping;  // free to push
}

void put_disc_classes(const RowProblem& problem, int i, const RowSolution& s, double slack_w, double slack_f, RowClass* classes) {
  RowClass first = s.classes[at(i)];
  if (first == RowClass::clamping) {
    if (disc_push(s, i) > row_bounds(problem, i, s.f.data()).upper + slack_f) first = RowClass::upper;
  } else if (first == RowClass::upper) {
    if (s.f[at(i)] * s.w[at(i)] + s.f[at(i + 1)] * s.w[at(i + 1)] > slack_w * disc_push(s, i)) first = RowClass::clamping;
  } else if (s.classes[at(problem.rows[at(i)].normal)] == RowClass::clamping) {
    first = RowClass::clamping;
  }
  classes[i] = first;
  classes[i + 1] = first == RowClass::clamping ? RowClass::clamping : RowClass::separating;
}

void put_sliding(const RowProblem& problem, int i, const RowSolution& s, RowClass* classes, double* push) {
  const bool is_disc = problem.rows[at(i)].is_disc;
  classes[i] = is_disc || !(s.w[at(i)] > 0) ? RowClass::upper : RowClass::lower;
  for (int k = i; is_disc && k < i + 2; ++k) push[k] = -s.w[at(k)];
}

void ClassChanges::apply(int changed, int last, const std::vector<RowClass>& before, std::vector<RowClass>& classes) {
  if (changed < fewest_) {
    fewest_ = changed, left_ = patience;
  } else if (--left_ < 0) {
    const RowClass own = classes[at(last)], second = problem_.rows[at(last)].is_disc ? classes[at(last + 1)] : own;
    classes = before;
    classes[at(last)] = own;
    if (problem_.rows[at(last)].is_disc) classes[at(last + 1)] = second;
  }
}

}  // namespace robosim

#include "contact/box_lcp.h"

#include <algorithm>
#include <cmath>

namespace robosim {

namespace {

constexpr int predicting_sweeps = 12;
constexpr int most_class_changes = 12;
constexpr double solved_residual = 1e-12;  // relative to the velocities at play, as row_residual is
constexpr double tied_velocity = 1e-11;    // below which a row counts as at rest: above what rounding leaves of a row that others imply

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// The class that row i goes to from its own by (f, w). slack_w: a velocity that counts as none.
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

}  // namespace

// Step 2: from the classes in guess_. True where the conditions hold.
bool BoxLcp::settle(const RowProblem& problem, RowSolution& s, BoxLcpReport& report) {
  for (int round = 0; round <= most_class_changes; ++round) {
    if (!factor_.factor(problem, guess_.data())) return false;
    factor_.solve(problem, s);
    if (row_residual(problem, s) <= solved_residual) return true;
    before_ = s.classes;
    const double slack = solved_residual * row_scale(problem, s);
    bool changed = false;
    for (int i = 0; i < problem.size(); ++i) {
      guess_[at(i)] = class_by(problem, i, s, slack);
      changed = changed || guess_[at(i)] != before_[at(i)];
    }
    if (!changed) return false;
    ++report.class_changes;
  }
  return false;
}

// Step 4, from a solution. False where it leaves the solution as it is, with its own classes factored.
bool BoxLcp::select(const RowProblem& problem, RowSolution& s) {
  const int m = problem.size();
  const double rest = tied_velocity * row_scale(problem, s);
  guess_ = s.classes;
  bool tied = false;
  for (int i = 0; i < m; ++i) {
    const ConstraintRow& row = problem.rows[at(i)];
    if (s.classes[at(i)] == RowClass::clamping || std::abs(s.w[at(i)]) > rest) continue;
    if (row.kind == RowKind::friction && (guess_[at(row.normal)] != RowClass::clamping || !(row.mu > 0))) continue;
    if (row.compliance > 0) continue;  // its impulse says how far it gives: it is at its bound by right
    guess_[at(i)] = RowClass::clamping;
    tied = true;
  }
  if (!tied) return true;
  for (int round = 0; round <= m; ++round) {
    if (!factor_.factor(problem, guess_.data())) break;
    factor_.solve(problem, trial_);
    if (row_residual(problem, trial_) <= solved_residual) {
      std::swap(s, trial_);
      return true;
    }
    // The clamping row whose impulse is farthest outside its bounds, as a velocity.
    int worst = -1;
    double most = 0;
    for (const RowBlock& block : problem.blocks) {
      for (int i = block.first_row; i < block.last_row; ++i) {
        if (trial_.classes[at(i)] != RowClass::clamping) continue;
        const RowBounds bounds = row_bounds(problem, i, trial_.f.data());
        const double out = std::max(trial_.f[at(i)] - bounds.upper, bounds.lower - trial_.f[at(i)]) * row_admittance(problem, block, problem.rows[at(i)]);
        if (out > most) most = out, worst = i;
      }
    }
    if (worst < 0) break;
    guess_ = trial_.classes;
    guess_[at(worst)] = class_by(problem, worst, trial_, 0.0);
  }
  factor_.factor(problem, s.classes.data());
  return false;
}

BoxLcpReport BoxLcp::solve(const RowProblem& problem, RowSolution& s) {
  BoxLcpReport report;
  // From classes that a pivoting method has found, whose own impulses carry the rounding of its pivots.
  const auto sharpen = [&] {
    guess_ = s.classes;
    return settle(problem, s, report);
  };
  sweeps_.solve(problem, predicting_sweeps, s);
  bool solved = sharpen();
  if (!solved) {
    const Dantzig::Outcome outcome = dantzig_.solve(problem, s);
    report.pivots += dantzig_.pivots();
    solved = outcome == Dantzig::Outcome::solved && sharpen();
  }
  if (!solved) {
    const bool ended = lemke_.solve(problem, s);
    report.pivots += lemke_.pivots();
    solved = ended && sharpen();
  }
  if (!solved)
    report.status = BoxLcpStatus::inconsistent;
  else if (!select(problem, s))
    report.status = BoxLcpStatus::basic;
  report.residual = row_residual(problem, s);
  return report;
}

}  // namespace robosim

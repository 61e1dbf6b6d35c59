#include "contact/box_lcp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace robosim {

namespace {

constexpr int predicting_sweeps[] = {12, 88};  // each after the ones before
constexpr int nearest_sweeps = 400;            // after these, where nothing solves the rows
// Compliances that rows are given are parts of their own admittance: less after each solution, more again where none is found.
constexpr double most_yielding = 1, least_yielding = 1e-8, less = 0.2, more = 25;
constexpr int most_solutions = 30;
constexpr double rough_residual = 1e-8;
// Pivots take the time of rows^3 and more.
constexpr int most_pivoted_rows = 80;
constexpr int most_class_changes = 12, most_changes_yielding = 30;
constexpr int patience = 5;  // changes of all rows at once that may leave as many in breach
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

// Step 2: from the classes in guess_. True where the conditions hold. All rows in breach change class at once, and where that goes in circles
// the last of them alone until fewer are (Judice and Pires, Comput. Oper. Res. 21, 1994: it ends where the matrix is a P-matrix).
bool BoxLcp::settle(const RowProblem& problem, RowSolution& s, BoxLcpReport& report, int most_changes) {
  int fewest = problem.size() + 1, left = patience;
  for (int round = 0; round <= most_changes; ++round) {
    if (!factor_.factor(problem, guess_.data())) return false;
    factor_.solve(problem, s);
    if (row_residual(problem, s) <= solved_residual) return true;
    before_ = s.classes;
    const double slack = solved_residual * row_scale(problem, s);
    int changed = 0, last = -1;
    for (int i = 0; i < problem.size(); ++i) {
      guess_[at(i)] = class_by(problem, i, s, slack);
      if (guess_[at(i)] != before_[at(i)]) ++changed, last = i;
    }
    if (changed == 0) return false;
    if (changed < fewest) {
      fewest = changed, left = patience;
    } else if (--left < 0) {
      const RowClass own = guess_[at(last)];
      guess_ = before_;
      guess_[at(last)] = own;
    }
    ++report.class_changes;
  }
  return false;
}

// Step 4. Rows that give a little have one solution, which changes of class find where rows that depend on each other send them in
// circles. With the impulses of the last one as the position of rest, t + R f, the next is nearer to rows that do not give (the proximal point
// method: Rockafellar, SIAM J. Control Optim. 14, 1976). Leaves what came nearest in nearest_; returns its residual, relative to what the sweeps
// have found: of rows that contradict each other impulses grow without end, and would hide it.
double BoxLcp::yield(const RowProblem& problem, BoxLcpReport& report) {
  compliant_ = problem;
  nearest_ = swept_;
  settled_ = swept_.classes;
  rest_ = swept_.f;
  const double scale = row_scale(problem, swept_);
  double mean = 0;
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i) mean += row_admittance(problem, block, problem.rows[at(i)]) / problem.size();
  const double least = 1e-3 * mean;
  double part = most_yielding, nearest = row_residual(problem, swept_);
  for (int n = 0; n < most_solutions && nearest > solved_residual; ++n) {
    for (const RowBlock& block : problem.blocks) {
      for (int i = block.first_row; i < block.last_row; ++i) {
        const double R = part * std::max(row_admittance(problem, block, problem.rows[at(i)]), least);
        compliant_.rows[at(i)].compliance = problem.rows[at(i)].compliance + R;
        compliant_.rows[at(i)].target = problem.rows[at(i)].target + R * rest_[at(i)];
      }
    }
    guess_ = settled_;
    if (!settle(compliant_, trial_, report, most_changes_yielding)) {
      if (part >= most_yielding) break;
      part = std::min(part * more, most_yielding);
      continue;
    }
    rest_ = trial_.f, settled_ = trial_.classes;
    apply_impulses(problem, trial_);
    const double residual = scale > 0 ? row_residual(problem, trial_) * row_scale(problem, trial_) / scale : 0;
    if (residual < nearest) nearest = residual, std::swap(nearest_, trial_);
    part = std::max(part * less, least_yielding);
  }
  return nearest;
}

// Step 5, from a solution. False where it leaves the solution as it is, with its own classes factored.
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
    return settle(problem, s, report, most_class_changes);
  };
  bool solved = false;
  for (const int sweeps : predicting_sweeps) {
    if (solved) break;
    if (sweeps == predicting_sweeps[0]) sweeps_.solve(problem, sweeps, swept_);
    else sweeps_.go_on(problem, sweeps, swept_);
    s = swept_;
    solved = sharpen();
  }
  if (!solved && problem.size() <= most_pivoted_rows) {
    const Dantzig::Outcome outcome = dantzig_.solve(problem, s);
    report.pivots += dantzig_.pivots();
    solved = outcome == Dantzig::Outcome::solved && sharpen();
  }
  if (!solved && problem.size() <= most_pivoted_rows) {
    const bool ended = lemke_.solve(problem, s);
    report.pivots += lemke_.pivots();
    solved = ended && sharpen();
  }
  if (!solved) {
    // Impulses that no rule has chosen, unless those of the classes hold as well.
    const double residual = yield(problem, report);
    guess_ = nearest_.classes;
    if (residual <= rough_residual && settle(problem, s, report, most_class_changes)) {
      solved = true;
    } else {
      s = nearest_;
      report.status = residual <= rough_residual ? BoxLcpStatus::rough : BoxLcpStatus::inconsistent;
      if (report.status == BoxLcpStatus::inconsistent) {
        sweeps_.go_on(problem, nearest_sweeps, swept_);
        s = swept_;
      }
      factor_.factor(problem, s.classes.data());
    }
  }
  if (solved && !select(problem, s)) report.status = BoxLcpStatus::basic;
  report.residual = row_residual(problem, s);
  if (report.status == BoxLcpStatus::inconsistent) {
    // Relative to the velocities without impulses, which grow here without end.
    trial_.f.assign(s.f.size(), 0.0);
    const double scale = row_scale(problem, trial_);
    if (scale > 0) report.residual *= row_scale(problem, s) / scale;
  }
  return report;
}

}  // namespace robosim

#include "contact/impulse_selection.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "contact/class_changes.h"
#include "base/linalg/small_sums.h"

namespace robosim {

namespace {

constexpr int most_rounds = 100, most_ties = 12;

}  // namespace

// Find the rows at zero velocity, and set guess_ to modes in which all of these are active. Return
// false if they are active already.
bool ImpulseSelection::tie(const Rows& rows, const RowSolution& s) {
  const RowProblem& problem = rows.problem;
  const double rest = tied_velocity * row_scale(rows.sizes, s);
  guess_ = s.classes;
  tied_.assign(problem.rows.size(), false);
  bool any = false;
  for (int i = 0; i < problem.size(); ++i) {
    const ConstraintRow& row = problem.rows[i];
    // A compliant row at its bound is not degenerate.
    const bool is_friction = row.kind == RowKind::friction, gives = row.compliance > 0;
    if (is_friction && (guess_[row.normal] != RowClass::clamping || !(row.mu > 0))) continue;
    const bool is_tied = !gives && std::abs(s.w[i]) <= rest,
               clamps = s.classes[i] == RowClass::clamping;
    tied_[i] = is_tied;
    if (!clamps && is_tied) {
      guess_[i] = RowClass::clamping;
      any = true;
    } else if (is_friction && !clamps && s.classes[row.normal] != RowClass::clamping)
      guess_[i] = sliding_class(s, i);
  }
  return any;
}

// Compute the spans of the active rows in trial_: springs with their impulses, and all rows with
// those of friction, for which springs count as zero.
void ImpulseSelection::span_clamping(const Rows& rows) {
  const RowProblem& problem = rows.problem;
  springs_.clear(problem.channels);
  all_.clear(problem.channels);
  for (const bool of_friction : {false, true})
    for (const RowBlock& block : problem.blocks)
      for (int i = block.first_row; i < block.last_row; ++i) {
        const ConstraintRow& row = problem.rows[i];
        if (trial_.classes[i] != RowClass::clamping || row.compliance > 0 ||
            creeps(row) != of_friction)
          continue;
        const double admittance = rows.sizes.admittance[i];
        all_.rest(problem, block, row);
        all_.add(admittance, of_friction ? trial_.f[i] : 0);
        if (!of_friction) {
          springs_.rest(problem, block, row);
          springs_.add(admittance, trial_.f[i]);
        }
      }
}

// Return true if row i depends on active rows, first of its block and then of all blocks, and set
// the impulse that it would have.
bool ImpulseSelection::is_implied(const Rows& rows, const RowBlock& block, int i, double& f) {
  const RowProblem& problem = rows.problem;
  const ConstraintRow& row = problem.rows[i];
  const RowBasis& basis = rows.factor.basis();
  const RowBasis::Block& own = basis.blocks()[static_cast<int>(&block - problem.blocks.data())];
  if (basis.implies(own, block.width, row, rows.factor.impulses().data() + own.first_unknown, f))
    return true;
  if (!is_spanned_) {
    span_clamping(rows);
    is_spanned_ = true;
  }
  const auto depends_on = [&](RowSpan& span) {
    const double rest = span.rest(problem, block, row);
    f = span.value();
    return !RowSpan::is_new(rest, rows.sizes.admittance[i]);
  };
  return (!creeps(row) && depends_on(springs_)) || depends_on(all_);
}

// Set guess_ to modes that agree better with the impulses in trial_ that degenerate rows have or
// would have. Return the number of changes, and the last changed row.
int ImpulseSelection::choose_again(const Rows& rows, int& last) {
  const RowProblem& problem = rows.problem;
  const std::vector<RowClass>& classes = trial_.classes;
  guess_ = classes;
  const double slack = impulse_slack(trial_);
  is_spanned_ = false;
  int changed = 0;
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[i];
      if (row.kind == RowKind::friction && classes[row.normal] != RowClass::clamping) {
        if (guess_[row.normal] != RowClass::clamping) continue;
        guess_[i] = tied_[i] ? RowClass::clamping : sliding_class(trial_, i);
      } else if (classes[i] == RowClass::clamping) {
        const RowBounds bounds = row_bounds(problem, i, trial_.f.data());
        if (trial_.f[i] > bounds.upper + slack || trial_.f[i] < bounds.lower - slack)
          guess_[i] = class_by(problem, i, trial_, 0.0);
      } else if (tied_[i]) {
        double f = 0;
        if (is_implied(rows, block, i, f)) {
          const RowBounds bounds = row_bounds(problem, i, trial_.f.data());
          if (classes[i] == RowClass::upper ? f < bounds.upper - slack : f > bounds.lower + slack)
            guess_[i] = RowClass::clamping;
        }
      }
      if (guess_[i] != classes[i]) {
        ++changed;
        last = i;
      }
    }
  return changed;
}

// Update the degenerate rows from the impulses in trial_, with which the previous degenerate rows
// agree. Other rows may disagree, as friction that slides at many points depends on which of them
// push. Find the rows at rest, and set guess_ to modes that agree better with the moving rows.
// Return true if anything changed.
bool ImpulseSelection::tie_again(const Rows& rows) {
  const RowProblem& problem = rows.problem;
  const double scale = row_scale(rows.sizes, trial_), rest = tied_velocity * scale,
               slack = solved_residual * scale;
  guess_ = trial_.classes;
  bool any = false;
  for (int i = 0; i < problem.size(); ++i) {
    const ConstraintRow& row = problem.rows[i];
    if (row.kind == RowKind::friction && trial_.classes[row.normal] != RowClass::clamping) {
      if (guess_[row.normal] == RowClass::clamping) guess_[i] = sliding_class(trial_, i);
      continue;
    }
    if (trial_.classes[i] == RowClass::clamping) continue;
    guess_[i] = class_by(problem, i, trial_, slack);
    const bool clamps = guess_[i] == RowClass::clamping,
               is_tied = clamps || (!(row.compliance > 0) && std::abs(trial_.w[i]) <= rest);
    any |= clamps || is_tied != (tied_[i] != 0);
    tied_[i] = is_tied;
  }
  return any;
}

// Compute in trial_ the impulses in the limit of vanishing compliance, beginning with guess_, in
// which all degenerate rows are active. as_tied: the set of rows at rest is a guess, too.
bool ImpulseSelection::choose(const Rows& rows, bool as_tied) {
  const RowProblem& problem = rows.problem;
  ClassChanges changes(problem);
  int last = -1, ties = most_ties;
  for (int round = 0; round <= most_rounds; ++round) {
    if (!rows.factor.solve(problem, guess_.data(), trial_) || (as_tied && !are_tied_at_rest(rows)))
      return false;
    const int changed = choose_again(rows, last);
    if (changed == 0) {
      const bool holds = row_residual(problem, rows.sizes, trial_) <= solved_residual;
      if (as_tied || !tie_again(rows))
        return holds && row_scale(rows.sizes, trial_) <= rows.most_scale;
      if (--ties < 0) return false;
      changes.begin();
      continue;
    }
    changes.apply(changed, last, trial_.classes, guess_);
  }
  return false;
}

// Return true if the degenerate rows are exactly the rows at rest in trial_.
bool ImpulseSelection::are_tied_at_rest(const Rows& rows) const {
  const RowProblem& problem = rows.problem;
  const double rest = tied_velocity * row_scale(rows.sizes, trial_);
  for (int i = 0; i < problem.size(); ++i) {
    const ConstraintRow& row = problem.rows[i];
    const bool is_free = row.kind == RowKind::friction && guess_[row.normal] != RowClass::clamping;
    if (!is_free && (std::abs(trial_.w[i]) <= rest) != (tied_[i] != 0)) return false;
  }
  return true;
}

Selected ImpulseSelection::select(const Rows& rows, RowSolution& s) {
  return tie(rows, s) ? chosen(rows, s) : Selected::unchanged;
}

Selected ImpulseSelection::select(const Rows& rows, const RowSolution& guess, RowSolution& s) {
  tie(rows, s);
  guess_ = guess.classes;
  return chosen(rows, s);
}

Selected ImpulseSelection::chosen(const Rows& rows, RowSolution& s) {
  if (choose(rows, false)) {
    std::swap(s, trial_);
    return Selected::chosen;
  }
  rows.factor.solve(rows.problem, s.classes.data(), trial_);
  return Selected::none;
}

bool ImpulseSelection::guess(const Rows& rows, const std::vector<RowClass>& classes,
                             RowSolution& s) {
  guess_ = classes;
  tied_.resize(classes.size());
  for (std::size_t i = 0; i < tied_.size(); ++i) tied_[i] = classes[i] == RowClass::clamping;
  if (!choose(rows, true)) return false;
  std::swap(s, trial_);
  return true;
}

}  // namespace robosim

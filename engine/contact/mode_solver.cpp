#include "contact/mode_solver.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "base/linalg/small_sums.h"
#include "base/linalg/zeros.h"
#include "contact/class_changes.h"

namespace robosim {

// Attempts in order; the first one that finds a solution ends the solve.
const ModeSolver::Attempt ModeSolver::attempts[n_attempts] = {
    {"prediction", &ModeSolver::predict},
    {"sweeps", &ModeSolver::settle_sweeps},
    {"Dantzig", &ModeSolver::pivot_by_dantzig},
    {"Lemke", &ModeSolver::pivot_by_lemke},
};

// Return true if pivoting is fast enough for the problem.
bool ModeSolver::is_small(const RowProblem& problem) const {
  const double k = problem.channels;
  return problem.size() <= parameters_.max_pivoted_rows ||
         problem.size() * k * k * k <= parameters_.max_pivoting;
}

// Change modes, beginning with guess_. Return true if all conditions are satisfied.
bool ModeSolver::settle(const RowProblem& problem, RowSolution& s, SolverReport& report) {
  ClassChanges changes(problem);
  for (int round = 0; round <= parameters_.max_class_changes; ++round) {
    if (!factor_->solve(problem, guess_.data(), s)) return false;
    if (row_residual(problem, sizes_, s) <= solved_residual)
      return row_scale(sizes_, s) <= parameters_.max_scale * predicted_scale_;
    const double slack = solved_residual * row_scale(sizes_, s);
    int changed = 0, last = -1;
    for (int i = 0; i < problem.size(); ++i) {
      guess_[i] = class_by(problem, i, s, slack);
      if (guess_[i] != s.classes[i]) {
        ++changed;
        last = i;
      }
    }
    if (changed == 0) return false;
    changes.apply(changed, last, s.classes, guess_);
    ++report.class_changes;
  }
  return false;
}

// Predict the modes without sweeps. Bodies that approach, or separate no faster than other rows
// push, are likely to touch at every point. They are likely to stick unless they slip much faster.
// A joint that would not reach its limit by itself is likely to stay off it. Fails if a friction
// row has mu = 0, since its mode would not follow this rule.
bool ModeSolver::predict(const RowProblem& problem, RowSolution& s, SolverReport&) {
  // Impulse that each row requires by itself.
  guess_.assign(problem.rows.size(), RowClass::clamping);
  asked_.resize(problem.rows.size());
  predicted_scale_ = sizes_.still;
  double push = 0;  // largest impulse that a unilateral row requires by itself
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[i];
      const double a = sizes_.admittance[i];
      asked_[i] =
          a > 0 ? (row.target - dot(row.d, &problem.y_free[block.first_channel], block.width)) / a
                : 0;
      if (row.kind == RowKind::unilateral) push = std::max(push, asked_[i]);
    }
  // Modes, block by block.
  for (const RowBlock& block : problem.blocks) {
    bool touches = false;
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[i];
      const bool has_room =
          block.width == 1 && row.target < -parameters_.min_limit_speed * sizes_.still;
      touches |= row.kind == RowKind::unilateral && asked_[i] > (has_room ? 0 : -push);
    }
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[i];
      const bool is_of_contact = row.kind == RowKind::unilateral || row.kind == RowKind::friction;
      const double bound =
          row.kind == RowKind::box ? std::min(-row.lower, row.upper) : row.mu * push;
      if (is_of_contact && !touches) {
        guess_[i] = RowClass::separating;
      } else if (row.kind == RowKind::friction || row.kind == RowKind::box) {
        if (row.kind == RowKind::friction && !(row.mu > 0)) return false;
        if (std::abs(asked_[i]) <= parameters_.max_slip_ratio * bound) continue;
        guess_[i] = asked_[i] > 0 ? RowClass::upper : RowClass::lower;
      }
    }
  }
  return is_foreseen_ = selection_.guess(selecting(problem), guess_, s);
}

// Try the swept modes with more rows active: those that the sweeps left at a bound, but no faster
// than the rows that they brought to rest. The selection would find the same in the end, by
// factorizations of its own.
bool ModeSolver::rest(const RowProblem& problem, RowSolution& s) {
  guess_ = swept_.classes;
  double slowest = 0;  // of the rows that the sweeps brought to rest
  for (int i = 0; i < problem.size(); ++i)
    if (swept_.classes[i] == RowClass::clamping) slowest = std::max(slowest, std::abs(swept_.w[i]));
  bool any = false;
  for (int i = 0; i < problem.size(); ++i) {
    const ConstraintRow& row = problem.rows[i];
    const bool cannot = row.kind == RowKind::friction &&
                        (guess_[row.normal] != RowClass::clamping || !(row.mu > 0));
    if (guess_[i] == RowClass::clamping || cannot || row.compliance > 0) continue;
    if (std::abs(swept_.w[i]) <= slowest) {
      guess_[i] = RowClass::clamping;
      any = true;
    } else if (row.kind == RowKind::friction && guess_[i] == RowClass::separating)
      guess_[i] = sliding_class(swept_, i);
  }
  return any && factor_->solve(problem, guess_.data(), s) &&
         row_residual(problem, sizes_, s) <= solved_residual &&
         row_scale(sizes_, s) <= parameters_.max_scale * predicted_scale_;
}

// Lower limit of the admittances used as scales, for rows that can hardly move.
double ModeSolver::least_admittance(const RowProblem& problem) const {
  double mean = 0;
  for (const double a : sizes_.admittance) mean += a / problem.size();
  return 1e-3 * mean;
}

ImpulseSelection::Rows ModeSolver::selecting(const RowProblem& problem) {
  return {problem, sizes_, parameters_.max_scale * predicted_scale_, *factor_};
}

// Select impulses. If that does not end, start from the modes that all rows have if they are
// slightly compliant. These rows have one solution, and its limit is the selection rule.
bool ModeSolver::select(const RowProblem& problem, RowSolution& s) {
  if (selection_.select(selecting(problem), s) != Selected::none) return true;
  if (is_giving_ || std::all_of(problem.rows.begin(), problem.rows.end(),
                                [](const ConstraintRow& row) { return row.compliance > 0; }))
    return false;
  compliant_ = problem;
  if (!giving_) {
    giving_ = std::make_unique<ModeSolver>();
    giving_->is_giving_ = true;
  }
  const double least = least_admittance(problem);
  for (const double part : parameters_.selecting_compliances) {
    for (int i = 0; i < problem.size(); ++i)
      if (!(problem.rows[i].compliance > 0))
        compliant_.rows[i].compliance = part * std::max(sizes_.admittance[i], least);
    const SolverReport given = giving_->solve(compliant_, trial_, *work_left_);
    if (given.status != SolverStatus::solved) continue;
    if (selection_.select(selecting(problem), trial_, s) != Selected::none) return true;
  }
  return false;
}

// Solve for the modes of a method whose impulses carry accumulated rounding errors.
bool ModeSolver::sharpen(const RowProblem& problem, RowSolution& s, SolverReport& report) {
  guess_ = s.classes;
  return settle(problem, s, report);
}

// Run a few sweeps from zero, and solve for their modes: first with all rows active that the sweeps
// brought to rest.
bool ModeSolver::settle_sweeps(const RowProblem& problem, RowSolution& s, SolverReport& report) {
  sweeps_.start(problem, swept_);
  for (const int sweeps : parameters_.predicting_sweeps) {
    sweeps_.go_on(problem, sweeps, swept_);
    predicted_scale_ = row_scale(sizes_, swept_);
    if (rest(problem, s)) return true;
    s = swept_;
    if (sharpen(problem, s, report)) return true;
  }
  return false;
}

bool ModeSolver::pivot_by_dantzig(const RowProblem& problem, RowSolution& s, SolverReport& report) {
  if (!is_small(problem)) return false;
  const Dantzig::Outcome outcome = dantzig_.solve(problem, s);
  report.pivots += dantzig_.pivots();
  return outcome == Dantzig::Outcome::solved && sharpen(problem, s, report);
}

bool ModeSolver::pivot_by_lemke(const RowProblem& problem, RowSolution& s, SolverReport& report) {
  if (!is_small(problem)) return false;
  const bool ended = lemke_.solve(problem, s, *work_left_);
  report.pivots += lemke_.pivots();
  return ended && sharpen(problem, s, report);
}

SolverReport ModeSolver::solve(const RowProblem& problem, RowSolution& s) {
  double work_left = parameters_.max_work;
  return solve(problem, s, work_left);
}

SolverReport ModeSolver::solve(const RowProblem& problem, RowSolution& s, double& work_left) {
  SolverReport report;
  is_foreseen_ = false;
  sizes_.measure(problem);
  work_left_ = &work_left;
  factor_->spend(&work_left);

  // Run the attempts up to the first that has a solution. Without work left no modes can be
  // solved for.
  bool solved = false;
  for (const Attempt& attempt : attempts) {
    report.attempt = static_cast<int>(&attempt - attempts);
    solved = (this->*attempt.find)(problem, s, report);
    if (solved || work_left < 0) break;
  }

  // Select among equivalent impulses. A prediction satisfies the selection rule already.
  if (!solved)
    report.status = SolverStatus::rough;
  else if (!is_foreseen_ && !select(problem, s))
    report.status = SolverStatus::basic;
  work_left_ = nullptr;
  factor_->spend(nullptr);
  if (solved) report.residual = row_residual(problem, sizes_, s);
  return report;
}

}  // namespace robosim

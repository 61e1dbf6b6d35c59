#include "contact/mode_solver.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "base/linalg/small_sums.h"
#include "base/linalg/zeros.h"
#include "contact/class_changes.h"

namespace robosim {

// One after the other, until one has a solution.
const ModeSolver::Attempt ModeSolver::attempts[n_attempts] = {
    {"prediction", &ModeSolver::predict},
    {"sweeps", &ModeSolver::settle_sweeps},
    {"Dantzig", &ModeSolver::pivot_by_dantzig},
    {"Lemke", &ModeSolver::pivot_by_lemke},
    {"turned boxes", &ModeSolver::turn_boxes},
    {"more sweeps", &ModeSolver::settle_more_sweeps},
    {"proximal points", &ModeSolver::approach_by_proximal_points},
};

// Whether pivots are quick enough, for these or a number of rows.
bool ModeSolver::is_small(const RowProblem& problem, int rows) const {
  const double k = problem.channels;
  return problem.size() <= rows || problem.size() * k * k * k <= parameters_.max_pivoting;
}

// Changes of class, from the classes in guess_. True where the conditions hold.
bool ModeSolver::settle(const RowProblem& problem, const RowSizes& sizes, RowSolution& s, SolverReport& report, int max_changes) {
  ClassChanges changes(problem);
  int turns = ModeFactor::enough_turns;  // of sliding discs; as long as classes change their directions need not be exact
  for (int round = 0; round <= max_changes; ++round) {
    if (!factor_->solve(problem, guess_.data(), push_.data(), s, turns)) return false;
    if (row_residual(problem, sizes, s) <= solved_residual) {
      if (!(row_scale(sizes, s) <= parameters_.max_scale * predicted_scale_)) return false;
      if (turns == ModeFactor::enough_turns || !factor_->any_slides()) return true;
      push_ = s.f, guess_ = s.classes, turns = ModeFactor::enough_turns;
      continue;
    }
    push_ = s.f;
    const double slack = solved_residual * row_scale(sizes, s), slack_f = impulse_slack(s);
    int changed = 0, last = -1;
    for (int i = 0; i < problem.size(); ++i) {
      const int first = i;
      if (problem.rows[at(i)].is_disc) put_disc_classes(problem, i++, s, slack, slack_f, guess_.data());
      else guess_[at(i)] = class_by(problem, i, s, slack);
      if (guess_[at(first)] != s.classes[at(first)]) ++changed, last = first;
    }
    if (changed == 0 && turns == ModeFactor::enough_turns) return false;
    turns = changed == 0 ? ModeFactor::enough_turns : 1;
    if (changed == 0) continue;
    changes.apply(changed, last, s.classes, guess_);
    ++report.class_changes;
  }
  return false;
}

// What comes closer, or goes apart no faster than others push, is likely to touch in every point, and to stick unless it goes across much faster: whether all
// of it does. A joint that has room, and would not use it by itself, is likely to stay off its limit. Needs no sweeps. Not asked where something has no friction:
// its class would be another one than theirs.
bool ModeSolver::predict(const RowProblem& problem, RowSolution& s, SolverReport&) {
  guess_.assign(problem.rows.size(), RowClass::clamping), push_.resize(problem.rows.size());
  predicted_scale_ = sizes_.still;
  double push = 0;  // the most that a row would need by itself
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[at(i)];
      const double a = sizes_.admittance[at(i)];
      push_[at(i)] = a > 0 ? (row.target - dot(row.d, &problem.y_free[at(block.first_channel)], block.width)) / a : 0;
      if (row.kind == RowKind::unilateral) push = std::max(push, push_[at(i)]);
    }
  for (const RowBlock& block : problem.blocks) {
    bool touches = false;
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[at(i)];
      const bool has_room = block.width == 1 && row.target < -parameters_.min_limit_speed * sizes_.still;
      touches |= row.kind == RowKind::unilateral && push_[at(i)] > (has_room ? 0 : -push);
    }
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[at(i)];
      const int first = i;
      i += row.is_disc;
      const bool is_of_contact = row.kind == RowKind::unilateral || row.kind == RowKind::friction;
      const double bound = row.kind == RowKind::box ? std::min(-row.lower, row.upper) : row.mu * push;
      if (is_of_contact && !touches) {
        guess_[at(first)] = guess_[at(i)] = RowClass::separating;
      } else if (row.kind == RowKind::friction || row.kind == RowKind::box) {
        if (row.kind == RowKind::friction && !(row.mu > 0)) return false;
        const double asked = row.is_disc ? length(push_[at(first)], push_[at(i)]) : std::abs(push_[at(i)]);
        if (asked <= parameters_.max_slip_ratio * bound) continue;
        if (row.is_disc) guess_[at(first)] = RowClass::upper, guess_[at(i)] = RowClass::separating;
        else guess_[at(i)] = push_[at(i)] > 0 ? RowClass::upper : RowClass::lower;
      }
    }
  }
  return is_foreseen_ = selection_.guess(selecting(problem), guess_, push_, s);
}

// What the sweeps have left at a bound, though no faster than what they hold still, is likely to rest: whether all of it does, from the swept
// classes with these rows clamping. The selection would ask for the same in the end, by factors of its own.
bool ModeSolver::rest(const RowProblem& problem, RowSolution& s) {
  guess_ = swept_.classes, push_ = swept_.f;
  const auto speed = [&](int i) { return problem.rows[at(i)].is_disc ? length(swept_.w[at(i)], swept_.w[at(i + 1)]) : std::abs(swept_.w[at(i)]); };
  double slowest = 0;  // of the sweeps, where they are to be at rest
  for (int i = 0; i < problem.size(); ++i)
    if (swept_.classes[at(i)] == RowClass::clamping) slowest = std::max(slowest, std::abs(swept_.w[at(i)]));
  bool any = false;
  for (int i = 0; i < problem.size(); ++i) {
    const ConstraintRow& row = problem.rows[at(i)];
    const int first = i;
    i += row.is_disc;
    const bool cannot = row.kind == RowKind::friction && (guess_[at(row.normal)] != RowClass::clamping || !(row.mu > 0));
    if (guess_[at(first)] == RowClass::clamping || cannot || row.compliance > 0) continue;
    if (speed(first) <= slowest) guess_[at(first)] = guess_[at(i)] = RowClass::clamping, any = true;
    else if (row.kind == RowKind::friction && guess_[at(first)] == RowClass::separating) put_sliding(problem, first, swept_, guess_.data(), push_.data());
  }
  return any && factor_->solve(problem, guess_.data(), push_.data(), s) && row_residual(problem, sizes_, s) <= solved_residual &&
         row_scale(sizes_, s) <= parameters_.max_scale * predicted_scale_;
}

// Changes of class for rows that have changed a little since they were solved, from the classes that they had.
bool ModeSolver::resume(const RowProblem& problem, const std::vector<RowClass>& classes,
                        RowSolution& s, SolverReport& report, double& work_left) {
  sizes_.measure(problem);
  guess_ = classes, push_ = s.f;
  factor_->spend(&work_left);
  const bool solved = settle(problem, sizes_, s, report, parameters_.max_class_changes);
  factor_->spend(nullptr);
  return solved;
}

// Turned boxes: discs, by Newton's method for complementarity problems (Josephy, MRC report 1965, University of Wisconsin, 1979). With its axes turned
// along its impulse a disc is a box, but that a small impulse f across turns it, and what slides against it at the speed s moves across by
// s f / (mu f_n): a compliance. Pivots solve such boxes, whatever the rows are; there the axes are turned again.
bool ModeSolver::turn_boxes(const RowProblem& problem, RowSolution& s, SolverReport& report) {
  if (!has_discs_ || !is_small(problem, parameters_.max_turned_rows)) return false;
  if (!boxes_) boxes_ = std::make_unique<ModeSolver>();
  boxed_ = problem;
  for (ConstraintRow& row : boxed_.rows) row.is_disc = false;
  trial_ = swept_;
  make_zeros(angles_, problem.rows.size()), make_zeros(speeds_, problem.rows.size());
  // Along the impulse; at first, and at a corner of the box, against the velocity.
  const auto turn = [&](int i, bool by_velocity) {
    by_velocity = by_velocity && length(trial_.w[at(i)], trial_.w[at(i + 1)]) > tied_velocity * row_scale(sizes_, trial_);
    angles_[at(i)] = by_velocity ? std::atan2(-trial_.w[at(i + 1)], -trial_.w[at(i)]) : std::atan2(trial_.f[at(i + 1)], trial_.f[at(i)]);
  };
  const auto speed = [](const RowSolution& x, int i) { return length(x.w[at(i)], x.w[at(i + 1)]); };
  for (int i = 0; i < problem.size(); ++i)
    if (problem.rows[at(i)].is_disc) turn(i, true), speeds_[at(i)] = swept_.classes[at(i)] == RowClass::upper ? speed(swept_, i) : 0;
  for (int round = 0; round < parameters_.max_turns; ++round) {
    for (int i = 0; i < problem.size(); ++i) {
      if (!problem.rows[at(i)].is_disc) continue;
      turn_disc(&problem.rows[at(i)], angles_[at(i)], &boxed_.rows[at(i)]);
      const double push = row_bounds(problem, i, trial_.f.data()).upper;
      boxed_.rows[at(i + 1)].compliance = problem.rows[at(i + 1)].compliance + (push > 0 ? speeds_[at(i)] / push : 0);
    }
    // After the first time mostly by the classes of the last.
    if (round == 0 || !boxes_->resume(boxed_, box_classes_, trial_, report, *work_left_)) {
      const SolverReport boxed = boxes_->solve(boxed_, trial_, *work_left_);
      report.class_changes += boxed.class_changes, report.pivots += boxed.pivots;
      if (boxed.status == SolverStatus::inconsistent) return false;
    }
    guess_ = box_classes_ = trial_.classes;
    for (int i = 0; i < problem.size(); ++i) {
      if (!problem.rows[at(i)].is_disc) continue;
      turn_disc_back(angles_[at(i)], trial_.f[at(i)], trial_.f[at(i + 1)]);
      RowClass &first = guess_[at(i)], &second = guess_[at(i + 1)];
      const bool pushes = guess_[at(problem.rows[at(i)].normal)] == RowClass::clamping, sticks = first == RowClass::clamping && second == RowClass::clamping;
      first = !pushes ? RowClass::separating : sticks ? RowClass::clamping : RowClass::upper;
      second = first == RowClass::clamping ? first : RowClass::separating;
    }
    apply_impulses(problem, trial_);
    push_ = trial_.f;
    for (int i = 0; i < problem.size(); ++i) {
      if (!problem.rows[at(i)].is_disc) continue;
      turn(i, box_classes_[at(i)] != RowClass::clamping && box_classes_[at(i + 1)] != RowClass::clamping);
      speeds_[at(i)] = box_classes_[at(i)] == RowClass::clamping ? 0 : speed(trial_, i);
      push_[at(i)] = std::cos(angles_[at(i)]), push_[at(i + 1)] = std::sin(angles_[at(i)]);
    }
    if (row_residual(problem, sizes_, trial_) <= solved_residual && row_scale(sizes_, trial_) <= parameters_.max_scale * predicted_scale_) {
      const bool has_own = factor_->solve(problem, guess_.data(), push_.data(), s) && row_residual(problem, sizes_, s) <= solved_residual;
      if (!has_own) s = trial_, s.classes = guess_, is_of_boxes_ = true;
      return true;
    }
    if (settle(problem, sizes_, s, report, parameters_.max_class_changes)) return true;
  }
  return false;
}

// row_residual, but relative to what the first sweeps have found.
double ModeSolver::relative_residual(const RowProblem& problem, const RowSolution& s) const {
  return predicted_scale_ > 0 ? row_residual(problem, sizes_, s) * row_scale(sizes_, s) / predicted_scale_ : 0;
}

// Of the row, or of the disc that it is of: its rows have like compliance.
double ModeSolver::own_admittance(const RowProblem& problem, int i) const {
  const double own = sizes_.admittance[at(i)];
  if (problem.rows[at(i)].is_disc) return std::max(own, sizes_.admittance[at(i + 1)]);
  return is_of_disc(problem, i) ? std::max(own, sizes_.admittance[at(i - 1)]) : own;
}

// What rows of what can hardly move, or not at all, count as having.
double ModeSolver::least_admittance(const RowProblem& problem) const {
  double mean = 0;
  for (const double a : sizes_.admittance) mean += a / problem.size();
  return 1e-3 * mean;
}

// Proximal points. Rows that give a little have one solution, which changes of class find where rows that depend on each other send them in
// circles. With the impulses of the last one as the position of rest, t + R f, the next is nearer to rows that do not give (the proximal point
// method: Rockafellar, SIAM J. Control Optim. 14, 1976). Leaves what came nearest in nearest_; returns its residual, or that relative to what the first
// sweeps have found, if larger: of rows that contradict each other impulses grow without end, and would hide it.
double ModeSolver::proximal_points(const RowProblem& problem, SolverReport& report) {
  compliant_ = problem;
  nearest_ = swept_;
  settled_ = swept_.classes;
  rest_ = swept_.f;
  const double least = least_admittance(problem);
  const auto residual_of = [&](const RowSolution& s) { return std::max(relative_residual(problem, s), row_residual(problem, sizes_, s)); };
  double part = parameters_.max_compliance, nearest = residual_of(swept_);
  const auto most = [&] {
    const bool is_far = nearest > parameters_.near_residual;
    return is_far ? parameters_.max_solutions : parameters_.max_close_solutions;
  };
  for (int n = 0; n < most() && nearest > solved_residual; ++n) {
    for (int i = 0; i < problem.size(); ++i) {
      const double R = part * std::max(own_admittance(problem, i), least);
      compliant_.rows[at(i)].compliance = problem.rows[at(i)].compliance + R;
      compliant_.rows[at(i)].target = problem.rows[at(i)].target + R * rest_[at(i)];
    }
    yielding_.measure(compliant_);
    guess_ = settled_, push_ = rest_;
    if (!settle(compliant_, yielding_, trial_, report, parameters_.max_class_changes_compliant)) {
      if (part >= parameters_.max_compliance) break;
      part = std::min(part * parameters_.compliance_increase, parameters_.max_compliance);
      continue;
    }
    rest_ = trial_.f, settled_ = trial_.classes;
    apply_impulses(problem, trial_);
    const double residual = residual_of(trial_);
    if (residual < nearest) nearest = residual, std::swap(nearest_, trial_);
    part = std::max(part * parameters_.compliance_decrease, parameters_.min_compliance);
  }
  return nearest;
}

ImpulseSelection::Rows ModeSolver::selecting(const RowProblem& problem) { return {problem, sizes_, parameters_.max_scale * predicted_scale_, *factor_}; }

// The selection. Where it does not end, from the classes that all rows have if they give a little, which has one solution: the rule is its limit.
bool ModeSolver::select(const RowProblem& problem, RowSolution& s) {
  const auto is_rule = [&](Selected selected) { return selected == Selected::chosen || (selected == Selected::unchanged && !is_of_boxes_); };
  const Selected selected = selection_.select(selecting(problem), s);
  if (is_rule(selected)) return true;
  if (is_giving_ || std::all_of(problem.rows.begin(), problem.rows.end(), [](const ConstraintRow& row) { return row.compliance > 0; })) return false;
  compliant_ = problem;
  if (!giving_) giving_ = std::make_unique<ModeSolver>(), giving_->is_giving_ = true;
  const double least = least_admittance(problem);
  is_of_boxes_ = false;
  for (const double part : parameters_.selecting_compliances) {
    for (int i = 0; i < problem.size(); ++i)
      if (!(problem.rows[at(i)].compliance > 0)) compliant_.rows[at(i)].compliance = part * std::max(own_admittance(problem, i), least);
    const SolverReport given = giving_->solve(compliant_, trial_, *work_left_);
    if (given.status != SolverStatus::solved) continue;
    if (is_rule(selection_.select(selecting(problem), trial_, s))) return true;
  }
  return false;
}

// From classes that a method has found whose own impulses carry the rounding of its way there.
bool ModeSolver::sharpen(const RowProblem& problem, RowSolution& s, SolverReport& report) {
  guess_ = s.classes, push_ = s.f;
  return settle(problem, sizes_, s, report, parameters_.max_class_changes);
}

// A few sweeps from zero: at first with all clamping that they have brought to rest as well as they could.
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
  if (has_discs_ || !is_small(problem, parameters_.max_pivoted_rows)) return false;
  const Dantzig::Outcome outcome = dantzig_.solve(problem, s);
  report.pivots += dantzig_.pivots();
  return outcome == Dantzig::Outcome::solved && sharpen(problem, s, report);
}

bool ModeSolver::pivot_by_lemke(const RowProblem& problem, RowSolution& s, SolverReport& report) {
  if (has_discs_ || !is_small(problem, parameters_.max_pivoted_rows)) return false;
  const bool ended = lemke_.solve(problem, s, *work_left_);
  report.pivots += lemke_.pivots();
  return ended && sharpen(problem, s, report);
}

// Sweeps come near in the end, if slowly; of rows that contradict each other their impulses grow without end.
bool ModeSolver::settle_more_sweeps(const RowProblem& problem, RowSolution& s, SolverReport& report) {
  for (int sweeps = parameters_.more_sweeps; sweeps * problem.size() <= parameters_.max_updates; sweeps *= parameters_.sweeps_growth) {
    sweeps_.go_on(problem, sweeps, swept_);
    if (row_scale(sizes_, swept_) > parameters_.max_growth * predicted_scale_) break;
    s = swept_;
    if (sharpen(problem, s, report)) return true;
  }
  return false;
}

// Leaves the nearest impulses if those of the classes do not hold.
bool ModeSolver::approach_by_proximal_points(const RowProblem& problem, RowSolution& s, SolverReport& report) {
  is_near_ = proximal_points(problem, report) <= parameters_.near_residual;
  s = nearest_;
  if (is_near_ && sharpen(problem, s, report)) return true;
  s = nearest_;
  return false;
}

SolverReport ModeSolver::solve(const RowProblem& problem, RowSolution& s) {
  double work_left = parameters_.max_work;
  return solve(problem, s, work_left);
}

SolverReport ModeSolver::solve(const RowProblem& problem, RowSolution& s, double& work_left) {
  SolverReport report;
  is_of_boxes_ = is_foreseen_ = is_near_ = false;
  has_discs_ = std::any_of(problem.rows.begin(), problem.rows.end(), [](const ConstraintRow& row) { return row.is_disc; });
  sizes_.measure(problem);
  work_left_ = &work_left, factor_->spend(&work_left);

  // The first attempt that has a solution. Once all work is spent no classes are left to find;
  // sweeps have to have been, for what came nearest.
  bool solved = false;
  for (const Attempt& attempt : attempts) {
    report.attempt = static_cast<int>(&attempt - attempts);
    solved = (this->*attempt.find)(problem, s, report);
    if (solved || (work_left < 0 && &attempt != attempts)) break;
  }

  // Select among equivalent impulses; a prediction already has those of the selection rule.
  if (solved && !is_foreseen_ && !select(problem, s)) report.status = SolverStatus::basic;
  work_left_ = nullptr, factor_->spend(nullptr);
  const bool is_handed_over = !solved && (is_near_ || work_left < 0);
  if (!solved && !is_handed_over) {
    sweeps_.go_on(problem, parameters_.nearest_sweeps, swept_);
    s = swept_;
    report.status = SolverStatus::inconsistent;
  }
  report.residual = row_residual(problem, sizes_, s);
  // The nearest impulses may hold although those of their classes do not.
  const bool is_solved = is_near_ && report.residual <= solved_residual;
  if (is_handed_over) report.status = is_solved ? SolverStatus::basic : SolverStatus::rough;
  if (report.status == SolverStatus::inconsistent) {
    // Relative to the velocities without impulses, which grow here without end.
    make_zeros(trial_.f, s.f.size());
    const double scale = row_scale(sizes_, trial_);
    if (scale > 0) report.residual *= row_scale(sizes_, s) / scale;
  }
  return report;
}

}  // namespace robosim

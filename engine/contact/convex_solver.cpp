#include "contact/convex_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/index.h"
#include "base/linalg/small_sums.h"
#include "base/linalg/zeros.h"

namespace robosim {

namespace {

using State = RowPush::State;

// Numbers of problems: of a search from no friction, of a search from all friction sticking, of a
// stage with increased compliance, and of the last search.
constexpr int direct_problems = 12, problems_from_holding = 6;
constexpr int problems_of_stage = 2, last_problems = 12;
constexpr int most_holding = 4;  // problems in which all friction sticks
// The search for bounds. Errors of bounds are relative to the largest bound.
constexpr double least_gain = 0.1;                  // decrease of the error, per length of the step
constexpr double shorter = 0.4, least_share = 0.1;  // reduction of other steps; least step reduced
// Excess of sticking friction over mu f_n up to which few contacts are likely to slide.
constexpr double near_holding = 0.3;
// Newton's method with bounds that follow the normals is tried again below this part of the error
// at which it failed.
constexpr double nearer = 0.1;
constexpr double cone_error = 1e-8;           // largest error of bounds that counts as none
constexpr double rounding_of_bounds = 1e-15;  // relative to the velocities at play
// Largest residual of a solved problem: nearly dependent rows remain slightly compliant.
constexpr double most_residual = 1e-6;
// Residual above which rows contradict each other, if all bounds are found.
constexpr double contradiction = 1e-3;
// Largest row_scale, relative to all velocities at play. Larger impulses come from rows that
// contradict each other.
constexpr double most_scale = 1e7;
constexpr double held_by_all = std::numeric_limits<double>::max();

}  // namespace

// Collect the friction rows that stick with more than mu f_n. Return the largest distance of a
// bound from mu f_n, relative to the largest mu f_n. Distances that move nothing but by rounding
// count as none.
double ConvexSolver::bounds_lack(const RowProblem& problem) {
  overheld_.clear();
  double off = 0, most = 0;
  const std::vector<double>& f = rows_.f();
  rows_.for_each_push([&](const RowBlock&, int i, int rows) {
    const ConstraintRow& row = problem.rows[i];
    if (row.kind != RowKind::friction) return;
    const double asked = row.mu * std::max(f[row.normal], 0.0), bound = rows_.bound[i];
    most = std::max(most, asked);
    const double held = rows == 2 ? length(f[i], f[i + 1]) : std::abs(f[i]);
    const double slack = rounding_of_bounds * rows_.scale() / rows_.admittance(i);
    const auto lacks = [&](double lack) {
      if (std::abs(lack) > slack) off = std::max(off, std::abs(lack));
    };
    const State state = rows_.push(i).state;
    if (state == State::off)
      lacks(asked);
    else if (is_at_bound(row, rows_.push(i)))
      lacks(asked - bound);
    else if (held > asked + slack) {
      overheld_.push_back(i);
      lacks(held - asked);
    }
  });
  return most > 0 ? off / most : off > 0 ? 1 : 0;
}

// Compute the target of the bounds of the last problem: mu f_n, at the normals that Newton's method
// predicts where it can.
void ConvexSolver::aim(const RowProblem& problem) {
  rows_.aim_at_normals(overheld_, change_);
  base_ = aim_ = rows_.bound;
  rows_.for_each_push([&](const RowBlock&, int i, int rows) {
    const ConstraintRow& row = problem.rows[i];
    if (row.kind != RowKind::friction) return;
    double normal = rows_.f()[row.normal];
    if (is_at_bound(row, rows_.push(i))) normal += change_[row.normal];
    for (int k = i; k < i + rows; ++k) aim_[k] = row.mu * std::max(normal, 0.0);
  });
}

void ConvexSolver::hold_friction(const RowProblem& problem) {
  for (std::size_t i = 0; i < problem.rows.size(); ++i)
    if (problem.rows[i].kind == RowKind::friction)
      rows_.bound[i] = problem.rows[i].mu > 0 ? held_by_all : 0;
}

// Solve the first pass with all loaded friction sticking. Return false if that is not a solution.
bool ConvexSolver::solve_holding(const RowProblem& problem) {
  hold_friction(problem);
  rows_.start_holding(nullptr);
  for (int n = 0; n < most_holding; ++n) {
    if (!rows_.minimize()) return false;
    bool is_open = false;  // friction of contacts that do not push is released
    for (std::size_t i = 0; i < problem.rows.size(); ++i) {
      const ConstraintRow& row = problem.rows[i];
      if (row.kind != RowKind::friction || !(rows_.bound[i] > 0) || rows_.f()[row.normal] > 0)
        continue;
      rows_.bound[i] = 0;
      is_open = true;
    }
    if (!is_open) return bounds_lack(problem) <= 0;
  }
  return false;
}

// Begin a search at the bounds mu f_n of the normals without friction.
void ConvexSolver::begin_sliding(const RowProblem& problem) {
  make_zeros(rows_.bound, problem.rows.size());
  rows_.start_holding(nullptr);
  rows_.minimize(true);
  overheld_.clear();
  aim(problem);
  held_ = rows_.pushes();
  rows_.bound = aim_;
  rows_.start_holding(&held_);
}

// Begin a search at the bounds mu f_n of the normals with all friction sticking.
void ConvexSolver::begin_holding(const RowProblem& problem) {
  hold_friction(problem);
  held_ = rows_.pushes();
  rows_.start_holding(&held_);
  rows_.minimize(true);
  overheld_.clear();
  aim(problem);
  rows_.bound = aim_;
}

// Search for bounds that agree with the normals, in the current pass, from the present bounds and
// by at most most_problems problems. off: error of the nearest bounds.
bool ConvexSolver::agree(const RowProblem& problem, int most_problems, double& off) {
  base_ = aim_ = best_ = rows_.bound;
  off = std::numeric_limits<double>::infinity();
  double off_base = 1, share = 1, near = off;
  for (int n = 0; n < most_problems; ++n) {
    // Solve the problem with bounds part of the way to the target.
    for (std::size_t i = 0; i < base_.size(); ++i)
      rows_.bound[i] = share == 1 ? aim_[i] : base_[i] + share * (aim_[i] - base_[i]);
    rows_.minimize(true);
    const double own = bounds_lack(problem);
    if (own <= near) {
      if (rows_.follow_normals()) return off = 0, true;
      near = nearer * own;
    }
    if (own < off) {
      off = own;
      best_ = rows_.bound;
    }

    // Next: compute a new target, or take a shorter step.
    if (own <= (1 - least_gain * share) * off_base || share < least_share) {
      aim(problem);
      share = 1;
      off_base = own;
    } else {
      share *= shorter;
    }
  }
  return false;
}

// Solve the first pass with sliding friction: near the sticking solution, from no friction, from
// all friction sticking, by stages of decreasing compliance, or else with the nearest bounds.
bool ConvexSolver::solve_sliding(const RowProblem& problem, double& off) {
  if (bounds_lack(problem) <= near_holding && rows_.follow_normals()) return off = 0, true;
  begin_sliding(problem);
  if (agree(problem, direct_problems, off)) return true;
  begin_holding(problem);
  if (agree(problem, problems_from_holding, off)) return true;
  for (double share = BoundedRows::most_given; share > 1; share *= BoundedRows::less_in_stage) {
    rows_.let_give(share);
    if (share == BoundedRows::most_given) begin_sliding(problem);
    if (share == BoundedRows::most_given || !rows_.follow_normals())
      agree(problem, problems_of_stage, off);
  }
  rows_.let_give(1);
  if (rows_.follow_normals()) return off = 0, true;
  if (agree(problem, last_problems, off)) return true;
  rows_.bound = best_;
  return rows_.minimize_by_stages();
}

// Solve all passes. off: largest error of the bounds.
bool ConvexSolver::solve_passes(const RowProblem& problem, double& off) {
  off = 0;
  if (!solve_holding(problem) && !solve_sliding(problem, off)) return false;
  while (rows_.begin_pass()) {
    const bool is_found = off <= cone_error;
    if (is_found && (rows_.follow_normals() || agree(problem, last_problems, off))) continue;
    if (is_found) rows_.bound = best_;
    if (!rows_.minimize()) return false;
  }
  return true;
}

SolverReport ConvexSolver::solve(const RowProblem& problem, RowSolution& s, RowSizes& sizes) {
  SolverReport report;
  sizes.measure(problem);
  rows_.begin(problem, sizes);
  double off = 0;
  const bool is_solved = solve_passes(problem, off);
  report.class_changes = rows_.iterations();
  // Copy impulses and modes to the solution.

  s.resize(problem);
  s.f = rows_.f();
  apply_impulses(problem, s);
  rows_.for_each_push([&](const RowBlock&, int i, int rows) {
    static constexpr RowClass classes[] = {RowClass::separating, RowClass::clamping,
                                           RowClass::lower, RowClass::upper, RowClass::upper};
    s.classes[i] = classes[static_cast<int>(rows_.push(i).state)];
    if (rows == 2)
      s.classes[i + 1] =
          s.classes[i] == RowClass::clamping ? RowClass::clamping : RowClass::separating;
  });
  // Compute the residual and the status.
  report.residual = row_residual(problem, sizes, s);
  const double scale = row_scale(sizes, s);
  const bool is_contradiction = off <= cone_error && !(report.residual <= contradiction);
  if (!is_solved || !(scale <= most_scale * sizes.still) || is_contradiction) {
    report.status = SolverStatus::inconsistent;
    if (sizes.still > 0) report.residual *= scale / sizes.still;
  } else if (off > cone_error || !(report.residual <= most_residual)) {
    report.status = SolverStatus::rough;
  }
  is_rough_ = report.status == SolverStatus::inconsistent || off > cone_error;
  return report;
}

OneSided ConvexSolver::differentiate(const RowProblem& problem, const RowSizes& sizes,
                                     const RowSolution& s) {
  rows_.look_at(problem);
  const bool is_regular = rows_.linearize(!is_rough_);
  return one_sided_if(ties_.any(problem, sizes, s), OneSided::tie) |
         one_sided_if(!is_regular, OneSided::undetermined) |
         one_sided_if(is_rough_, OneSided::unsolved);
}

void ConvexSolver::add_vjp(const RowProblem& problem, const RowSolution&, const double* f_bar,
                           const double* z_bar, RowGradient& g) {
  rows_.look_at(problem);
  f_hat_.assign(f_bar, f_bar + problem.size());
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i)
      f_hat_[i] += dot(problem.rows[i].d, z_bar + block.first_channel, block.width);
  adjoint_.set_zero(problem.rows.size());
  rows_.add_adjoint(f_hat_, adjoint_);
  for (std::size_t i = 0; i < problem.rows.size(); ++i) g.mu[i] += adjoint_.friction_bar[i];
  rows_.for_each_push([&](const RowBlock&, int i, int) {
    if (problem.rows[i].kind != RowKind::box) return;
    if (rows_.push(i).state == State::upper) g.upper[i] += adjoint_.bound_bar[i];
    if (rows_.push(i).state == State::lower) g.lower[i] -= adjoint_.bound_bar[i];
  });
  add_to(problem, z_bar, g);
}

// Add the gradient with respect to compliances, velocities of rows (-mu each, at fixed impulses)
// and z. moved_: L y_bar_.
void ConvexSolver::add_to(const RowProblem& problem, const double* z_bar, RowGradient& g) {
  const int k = problem.channels;
  // Gradient through the compliance that is relative to admittances.
  for (const RowBlock& block : problem.blocks)
    rows_.for_each_alike(block, [&](const int* alike, int count) {
      double by = 0;
      for (int n = 0; n < count; ++n) {
        g.compliance[alike[n]] += adjoint_.compliance_bar[alike[n]];
        by += adjoint_.own_bar[alike[n]];
      }
      by *= rows_.part(alike[0]) / count;
      for (int n = 0; n < count && by != 0; ++n) {
        const double* const d = problem.rows[alike[n]].d;
        for (int c = 0; c < block.width; ++c) {
          const int place = (block.first_channel + c) * k + block.first_channel;
          for (int e = 0; e < block.width; ++e) {
            g.L[place + e] += by * d[c] * d[e];
            g.d[alike[n] * most_block_channels + c] += 2 * by * problem.L[place + e] * d[e];
          }
        }
      }
    });
  // Gradient of each pass: by y = y_free + L z, and by the rows' coefficients and targets.
  for (int pass = 0; pass < rows_.n_passes(); ++pass) {
    const std::vector<double>&f = rows_.f_of_pass(pass), &mu = adjoint_.mu[pass];
    const bool is_last = pass == rows_.n_passes() - 1;
    for (std::vector<double>* each : {&y_bar_, &z_, &moved_}) make_zeros(*each, at(k));
    for (const RowBlock& block : problem.blocks)
      for (int i = block.first_row; i < block.last_row; ++i) {
        add_scaled(-mu[i], problem.rows[i].d, block.width, &y_bar_[block.first_channel]);
        add_scaled(f[i], problem.rows[i].d, block.width, &z_[block.first_channel]);
      }
    Ly_ = problem.y_free;
    for (int c = 0; c < k; ++c) {
      add_scaled(z_[c], &problem.L[c * k], k, Ly_.data());
      g.y_free[c] += y_bar_[c];
      for (int e = 0; e < k; ++e) g.L[c * k + e] += y_bar_[c] * z_[e];
      add_scaled(y_bar_[c], &problem.L[c * k], k, moved_.data());
    }
    for (const RowBlock& block : problem.blocks)
      for (int i = block.first_row; i < block.last_row; ++i) {
        g.target[i] += mu[i];
        for (int c = 0; c < block.width; ++c) {
          const std::size_t channel = at(block.first_channel + c);
          const double pushed_bar = moved_[channel] + (is_last ? z_bar[channel] : 0);
          g.d[i * most_block_channels + c] += f[i] * pushed_bar - mu[i] * Ly_[channel];
        }
      }
  }
}

}  // namespace robosim

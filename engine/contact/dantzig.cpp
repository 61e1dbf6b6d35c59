#include "contact/dantzig.h"

#include <algorithm>
#include <cmath>

#include "base/linalg/lu.h"
#include "base/linalg/zeros.h"

namespace robosim {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double pivot_tolerance = 1e-12;  // of the system of active rows
// Velocity that counts as zero, relative to the terms of its sum.
constexpr double still_rate = 1e-11;

}  // namespace

// Return true if row i violates its condition by more than rounding.
bool Dantzig::violated(const RowProblem& problem, int i, const RowSolution& s) const {
  const std::size_t at = static_cast<std::size_t>(i);
  const ConstraintRow& row = problem.rows[at];
  const double w = s.w[at];
  switch (s.classes[at]) {
    case RowClass::clamping:
      return false;
    case RowClass::upper:
      return w > tolerance_;
    case RowClass::lower:
      return w < -tolerance_;
    case RowClass::separating:
      break;
  }
  switch (row.kind) {
    case RowKind::unilateral:
      return w < -tolerance_;
    case RowKind::friction:
      return row.mu > 0 && s.classes[row.normal] == RowClass::clamping && std::abs(w) > tolerance_;
    case RowKind::box:
      return (w < -tolerance_ && row.upper > 0) || (w > tolerance_ && row.lower < 0) ||
             row.lower > 0 || row.upper < 0;
    case RowKind::equality:
      return std::abs(w) > tolerance_;
  }
  return false;
}

// Compute the rates of all impulses and velocities as the impulse of row i changes with the given
// sign. Return false if the system of active rows is singular.
bool Dantzig::directions(const RowProblem& problem, int i, double sign, const RowSolution& s) {
  const int k = problem.channels, m = problem.size(), n = static_cast<int>(clamping_.size());
  const auto at = [](int j) { return static_cast<std::size_t>(j); };
  make_zeros(columns_, at((n + 1) * k));
  make_zeros(pushed_, at((n + 1) * k));
  S_.resize(at(n * n));
  make_zeros(df_, m);

  // Column of each active row and of the driven row, with the friction that follows it.
  column_of_.assign(m, -1);
  for (int c = 0; c < n; ++c) column_of_[clamping_[c]] = c;
  column_of_[i] = n;
  for (const RowBlock& block : problem.blocks) {
    for (int j = block.first_row; j < block.last_row; ++j) {
      const ConstraintRow& row = problem.rows[j];
      const bool follows = row.kind == RowKind::friction && j != i && at_bound(s.classes[j]);
      const int c = column_of_[follows ? row.normal : j];
      if (c < 0) continue;
      const double factor = follows ? bound_sign(s.classes[j]) * row.mu : 1.0;
      for (int e = 0; e < block.width; ++e)
        columns_[c * k + block.first_channel + e] += factor * row.d[e];
    }
  }
  for (int c = 0; c <= n; ++c) {
    const double* column = columns_.data() + static_cast<std::ptrdiff_t>(c) * k;
    for (int r = 0; r < k; ++r) {
      double sum = 0;
      for (int e = 0; e < k; ++e) sum += problem.L[r * k + e] * column[e];
      pushed_[c * k + r] = sum;
    }
  }
  // Solve for impulses at which the velocities of active rows do not change.
  make_zeros(dw_, std::max(m, n));
  int a = 0;
  for (const RowBlock& block : problem.blocks) {
    for (int j = block.first_row; j < block.last_row; ++j) {
      const ConstraintRow& row = problem.rows[j];
      if (j == i || s.classes[j] != RowClass::clamping) continue;
      for (int c = 0; c <= n; ++c) {
        double sum = 0;
        for (int e = 0; e < block.width; ++e)
          sum += row.d[e] * pushed_[c * k + block.first_channel + e];
        if (c == n)
          dw_[a] = -sign * sum;
        else
          S_[a * n + c] = sum + (clamping_[c] == j ? row.compliance : 0.0);
      }
      ++a;
    }
  }
  // Factor and solve.
  lu_pivots_.resize(n);
  row_sizes_.resize(n);
  if (!(lu_factor(S_.data(), n, lu_pivots_.data(), row_sizes_.data()) > pivot_tolerance))
    return false;
  lu_solve(S_.data(), n, lu_pivots_.data(), dw_.data());

  // Rates of the impulses and of the channels' velocities.
  make_zeros(dy_, k);
  make_zeros(dy_size_, k);
  for (int c = 0; c <= n; ++c) {
    const double rate = c == n ? sign : dw_[c];
    df_[c == n ? i : clamping_[c]] = rate;
    for (int r = 0; r < k; ++r) {
      dy_[r] += rate * pushed_[c * k + r];
      dy_size_[r] += std::abs(rate * pushed_[c * k + r]);
    }
  }
  for (int j = 0; j < m; ++j) {
    const ConstraintRow& row = problem.rows[j];
    if (row.kind == RowKind::friction && j != i && at_bound(s.classes[j]))
      df_[j] = bound_sign(s.classes[j]) * row.mu * df_[row.normal];
  }
  for (const RowBlock& block : problem.blocks) {
    for (int j = block.first_row; j < block.last_row; ++j) {
      const ConstraintRow& row = problem.rows[j];
      double sum = row.compliance * df_[j], size = std::abs(sum);
      for (int e = 0; e < block.width; ++e) {
        sum += row.d[e] * dy_[block.first_channel + e];
        size += std::abs(row.d[e]) * dy_size_[block.first_channel + e];
      }
      // a row that active rows imply does not move.
      dw_[j] = std::abs(sum) > still_rate * size ? sum : 0.0;
    }
  }
  return true;
}

Dantzig::Drive Dantzig::drive(const RowProblem& problem, int i, RowSolution& s) {
  const int m = problem.size(), limit = 5 * m + 20;
  const auto friction_of = [&](int n, auto&& f) {
    for (int j = n + 1; j < m; ++j) {
      if (problem.rows[j].kind == RowKind::friction && problem.rows[j].normal == n) f(j);
    }
  };
  const auto leave = [&](int j) {
    clamping_.erase(std::find(clamping_.begin(), clamping_.end(), j));
  };
  // Friction of a normal that becomes active opposes the slip; that of a normal that
  // separates vanishes.
  const auto wake_friction = [&](int n) {
    friction_of(n, [&](int j) {
      if (in_[j] && j != i) s.classes[j] = s.w[j] < 0 ? RowClass::upper : RowClass::lower;
    });
  };
  const auto rest_friction = [&](int n) {
    friction_of(n, [&](int j) {
      if (s.classes[j] == RowClass::clamping && j != i) leave(j);
      s.classes[j] = RowClass::separating;
      s.f[j] = 0;
    });
  };

  const ConstraintRow& driven = problem.rows[i];
  s.classes[i] = RowClass::separating;  // neither active nor at a bound while it is driven
  if (driven.kind == RowKind::box && (driven.lower > 0 || driven.upper < 0)) {
    s.f[i] = driven.lower > 0 ? driven.lower : driven.upper;
    apply_impulses(problem, s);
  }
  if (driven.kind == RowKind::unilateral) wake_friction(i);
  for (;;) {
    const double w = s.w[i];
    if (std::abs(w) <= tolerance_ && driven.kind != RowKind::equality && s.f[i] == 0) {
      if (driven.kind == RowKind::unilateral) rest_friction(i);
      return Drive::done;
    }
    if (++pivots_ > limit) return Drive::pivot_limit;
    const double sign = w < 0 ? 1 : -1;
    if (!directions(problem, i, sign, s)) return Drive::unbounded;

    // Find the first event: its step, its row, and the mode that this row takes.
    double step = inf;
    int who = -1;
    RowClass to = RowClass::clamping;
    const auto event = [&](int j, double after, RowClass becomes) {
      after = std::max(after, 0.0);
      if (after < step || (after == step && j == i)) {
        step = after;
        who = j;
        to = becomes;
      }
    };
    const double own = dw_[i] * sign;
    if (own > 0) event(i, std::abs(w) / own, RowClass::clamping);
    for (int j = 0; j < m; ++j) {
      if (!in_[j] && j != i) continue;
      const ConstraintRow& row = problem.rows[j];
      const RowClass c = s.classes[j];
      if (j == i || c == RowClass::clamping) {  // to a bound
        const RowBounds bounds = row_bounds(problem, j, s.f.data());
        const double grows = row.kind == RowKind::friction ? row.mu * df_[row.normal] : 0;
        if (df_[j] > grows) event(j, (bounds.upper - s.f[j]) / (df_[j] - grows), RowClass::upper);
        if (df_[j] < -grows)
          event(j, (s.f[j] - bounds.lower) / (-grows - df_[j]),
                row.kind == RowKind::unilateral ? RowClass::separating : RowClass::lower);
      } else if (c == RowClass::separating) {
        if (row.kind == RowKind::unilateral && dw_[j] < 0)
          event(j, s.w[j] / -dw_[j], RowClass::clamping);
      } else if (bound_sign(c) * dw_[j] > 0) {
        event(j, -s.w[j] / dw_[j], RowClass::clamping);
      }
    }
    if (!(step < inf)) return Drive::unbounded;

    // Move to the event and change the mode.
    for (int j = 0; j < m; ++j) s.f[j] += step * df_[j];
    const bool left = who != i && s.classes[who] == RowClass::clamping;
    if (left) leave(who);
    s.classes[who] = to;
    if (to == RowClass::clamping) {
      clamping_.push_back(who);
      std::sort(clamping_.begin(), clamping_.end());
    } else if (problem.rows[who].kind == RowKind::unilateral) {
      s.f[who] = 0;
      rest_friction(who);
    } else {
      const RowBounds bounds = row_bounds(problem, who, s.f.data());
      s.f[who] = to == RowClass::upper ? bounds.upper : bounds.lower;
    }
    apply_impulses(problem, s);
    if (to == RowClass::clamping && who != i && problem.rows[who].kind == RowKind::unilateral)
      wake_friction(who);
    if (who == i) return Drive::done;
    if (driven.kind == RowKind::friction && s.classes[driven.normal] != RowClass::clamping) {
      s.f[i] = 0;
      apply_impulses(problem, s);
      return Drive::done;
    }
  }
}

Dantzig::Outcome Dantzig::solve(const RowProblem& problem, RowSolution& s) {
  const int m = problem.size();
  s.resize(problem);
  std::fill(s.f.begin(), s.f.end(), 0.0);
  std::fill(s.classes.begin(), s.classes.end(), RowClass::separating);
  in_.assign(m, 0);
  clamping_.clear();
  pivots_ = 0;
  apply_impulses(problem, s);
  sizes_.measure(problem);
  tolerance_ = 1e-12 * row_scale(sizes_, s);

  // Add the rows by kind.
  Outcome outcome = Outcome::solved;
  const auto take = [&](int i) {
    in_[i] = 1;
    if (!violated(problem, i, s)) return true;
    const Drive end = drive(problem, i, s);
    if (end == Drive::pivot_limit) outcome = Outcome::pivot_limit;
    if (end == Drive::unbounded) outcome = Outcome::unbounded;
    return end == Drive::done;
  };
  for (const RowKind kind :
       {RowKind::equality, RowKind::unilateral, RowKind::box, RowKind::friction}) {
    for (int i = 0; i < m; ++i) {
      if (problem.rows[i].kind == kind && !take(i)) return outcome;
    }
  }
  // Friction that follows its normal was not driven while others changed: drive violated
  // rows again.
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < m; ++i) {
      if (!violated(problem, i, s)) continue;
      again = true;
      if (!take(i)) return outcome;
    }
  }
  return outcome;
}

}  // namespace robosim

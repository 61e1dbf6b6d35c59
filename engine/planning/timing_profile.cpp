#include "planning/timing_profile.h"

#include <algorithm>
#include <cmath>

#include "base/constants.h"

namespace robosim {

namespace {

// Relative rounding allowed where lines should intersect.
constexpr double slack = 1e-9;
// Segments shorter than least_split of their interval, over which x changes by at most this
// fraction, are not split off. Segments shorter than least_length would be lost in rounding.
constexpr double least_split = 1e-6, least_length = 1e-14;

}  // namespace

// Range of u that all rows allow at x and that keeps x >= 0 at the right end; empty (lower > upper)
// if there is none.
ProfileSolver::Range ProfileSolver::control_range(const ProfileProblem& p,
                                                  const ProfileInterval& interval, double x) const {
  Range range{-x / (2 * interval.length), infinity};
  for (std::size_t k = interval.first_row; k < interval.first_row + interval.n_rows; ++k) {
    const ProfileRow& row = p.rows[k];
    if (row.alpha == 0) continue;
    const double a = (row.lower - row.beta * x) / row.alpha,
                 b = (row.upper - row.beta * x) / row.alpha;
    range.lower = std::max(range.lower, std::min(a, b));
    range.upper = std::min(range.upper, std::max(a, b));
  }
  return range;
}

// Find the largest x for which the rows allow a u with x + 2 u length in [0, next], and the largest
// such u. The lower bound of u is convex and the upper bound concave in x. Newton's method on their
// difference from the right (the crossing of the two active lines) decreases monotonically to the
// root and ends after finitely many lines.
bool ProfileSolver::largest_x(const ProfileProblem& p, const ProfileInterval& interval, double next,
                              Line& line) const {
  double x = infinity;
  const ProfileRow step{2 * interval.length, 1, 0, next};
  const auto row_at = [&](std::size_t k) -> const ProfileRow& {
    return k < interval.n_rows ? p.rows[interval.first_row + k] : step;
  };
  // Rows without u bound x directly.
  for (std::size_t k = 0; k < interval.n_rows; ++k) {
    const ProfileRow& row = row_at(k);
    if (row.alpha != 0) continue;
    if (row.lower > 0 || row.upper < 0) return false;
    if (row.beta != 0) x = std::min(x, (row.beta > 0 ? row.upper : row.lower) / row.beta);
  }
  if (x == infinity) x = 1e18;
  // Newton's method: the active lines at x, then their crossing.
  for (int iteration = 0; iteration < 100; ++iteration) {
    double lower = -infinity, upper = infinity;
    double lower_slope = 0, lower_offset = -infinity, upper_slope = 0, upper_offset = infinity;
    for (std::size_t k = 0; k <= interval.n_rows; ++k) {
      const ProfileRow& row = row_at(k);
      if (row.alpha == 0) continue;
      const double slope = -row.beta / row.alpha;
      double a = row.lower / row.alpha, b = row.upper / row.alpha;
      if (a > b) std::swap(a, b);
      if (slope * x + a > lower) {
        lower = slope * x + a;
        lower_slope = slope;
        lower_offset = a;
      }
      if (slope * x + b < upper) {
        upper = slope * x + b;
        upper_slope = slope;
        upper_offset = b;
      }
    }
    if (lower <= upper) {
      line = {x, upper};
      return true;
    }
    const double crossing = (upper_offset - lower_offset) / (lower_slope - upper_slope);
    if (!(crossing >= 0)) {
      // Standing still is feasible to within rounding, or not at all.
      const double scale = std::abs(lower_offset) + std::abs(upper_offset);
      line = {0, 0};
      return lower_offset <= upper_offset + slack * scale;
    }
    if (!(crossing < x)) {  // rounding: already at the root
      line = {x, 0.5 * (lower + upper)};
      return true;
    }
    x = crossing;
  }
  line = {0, 0};
  return true;
}

bool ProfileSolver::backward(const ProfileProblem& p) {
  const std::size_t n = p.intervals.size();
  // Bounds of x at the grid points, from both neighbors.
  bound_.assign(n + 1, infinity);
  for (std::size_t i = 0; i < n; ++i) {
    bound_[i] = std::min(bound_[i], p.intervals[i].x_left);
    bound_[i + 1] = std::min(bound_[i + 1], p.intervals[i].x_right);
  }
  for (std::size_t i = 0; i <= n; ++i)
    if (p.stop[i]) bound_[i] = 0;

  // Controllable sets [0, K_i], from the last interval to the first.
  controllable_.assign(n + 1, 0);
  boundary_.assign(n, {});
  controllable_[n] = p.x_end;
  for (std::size_t i = n; i-- > 0;) {
    const ProfileInterval& interval = p.intervals[i];
    const double delta = interval.length, next = controllable_[i + 1];
    Boundary& boundary = boundary_[i];
    where_ = static_cast<int>(i);
    if (!largest_x(p, interval, next, boundary.brake)) return false;
    const auto reaches_end = [&] {
      return boundary.brake.at(delta) >= next - slack * (next + boundary.brake.x0);
    };
    boundary.reaches_end = reaches_end();
    double top = boundary.brake.x0;
    if (top > interval.x_left) {
      // The bound on x is active first. Follow it if the rows allow that, else go straight to the
      // end of the interval.
      top = interval.x_left;
      const Line cap{interval.x_left, (interval.x_right - interval.x_left) / (2 * delta)};
      const Range range = control_range(p, interval, cap.x0);
      if (boundary.reaches_end && cap.u >= range.lower && cap.u <= range.upper) {
        boundary.cap = cap;
        boundary.has_cap = true;
      } else {
        boundary.brake = {cap.x0, std::min(range.upper, (next - cap.x0) / (2 * delta))};
        boundary.reaches_end = reaches_end();
      }
    }
    controllable_[i] = std::min(bound_[i], top);
  }
  return true;
}

bool ProfileSolver::forward(const ProfileProblem& p) {
  const std::size_t n = p.intervals.size();
  double x = std::min(p.x_start, controllable_[0]);
  for (std::size_t i = 0; i < n; ++i) {
    const ProfileInterval& interval = p.intervals[i];
    const Boundary& boundary = boundary_[i];
    const double delta = interval.length, next = controllable_[i + 1];
    const int index = static_cast<int>(i);
    where_ = index;
    // Accelerate as much as possible, unless that leads above the controllable set.
    const Range range = control_range(p, interval, x);
    const Line rise{x, std::max(range.lower, range.upper)};
    double x_next = rise.at(delta);
    if (x_next <= next) {
      emit(index, 0, x, delta, x_next);
    } else if (!boundary.reaches_end) {
      x_next = next;
      emit(index, 0, x, delta, x_next);
    } else {
      x_next = next;
      // Rise to the boundary, follow it, descend to the end. `crossing` is the distance at which a
      // rising line reaches a line above it.
      const auto crossing = [&](const Line& below, const Line& above) {
        const double closing = 2 * (below.u - above.u);
        return closing > 0 ? std::clamp((above.x0 - below.x0) / closing, 0.0, delta) : delta;
      };
      double sigma = 0, sigma_x = x;
      const auto go_to = [&](double to, double x_to) {
        const auto negligible = [&](double length, double change) {
          return length <= least_length * delta ||
                 (length < least_split * delta && std::abs(change) <= least_split * x_to);
        };
        if (negligible(to - sigma, x_to - sigma_x) || negligible(delta - to, next - x_to)) return;
        emit(index, sigma, sigma_x, to, x_to);
        sigma = to;
        sigma_x = x_to;
      };
      const double to_brake = crossing(rise, boundary.brake);
      const double to_cap = boundary.has_cap ? crossing(rise, boundary.cap) : delta;
      if (to_cap < to_brake) {
        go_to(to_cap, rise.at(to_cap));
        const double to_fall = crossing(boundary.cap, boundary.brake);
        go_to(to_fall, boundary.cap.at(to_fall));
      } else {
        go_to(to_brake, rise.at(to_brake));
      }
      emit(index, sigma, sigma_x, delta, next);
    }
    x = std::max(0.0, x_next);
  }
  return true;
}

void ProfileSolver::emit(int interval, double sigma0, double x0, double sigma1, double x1) {
  segments_.push_back(
      {interval, sigma0, sigma1, std::sqrt(std::max(0.0, x0)), std::sqrt(std::max(0.0, x1))});
}

ProfileStatus ProfileSolver::solve(const ProfileProblem& p) {
  segments_.clear();
  if (!backward(p)) return ProfileStatus::infeasible;
  if (p.x_end > bound_.back() * (1 + slack)) return ProfileStatus::end_too_fast;
  if (p.x_start > controllable_[0] * (1 + slack)) return ProfileStatus::start_too_fast;
  forward(p);
  for (const ProfileSegment& segment : segments_) {
    where_ = segment.interval;
    if (!(segment.v0 + segment.v1 > 0)) return ProfileStatus::stuck;
  }
  return ProfileStatus::solved;
}

double ProfileSolver::largest_start() const { return std::sqrt(controllable_[0]); }

}  // namespace robosim

#include "planning/timing_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/constants.h"
#include "base/index.h"

namespace robosim {

namespace {

// Jump of q' that counts as a corner, relative to its size.
constexpr double corner_tolerance = 1e-6;
// Part of the square of a link's speed that may stem from the bound's slack.
constexpr double close_speed = 0.01;
constexpr int most_halvings = 12;  // of an interval, to make the bound that tight
// Value of x that counts as unbounded, to decide how tight another bound has to be.
constexpr double fast = 1e6;
// Motion relative to the size of q that may be rounding alone.
constexpr double negligible = 1e-13;

// Bound x by a linear function below v^2 / l^2, where l is linear from l0 to l1 on an interval.
// x_left and x_right are values at its ends. Where l varies little, the function is the tangent in
// the middle (v^2 / l^2 is convex). Otherwise it is the tangent at the end where v^2 / l^2 is
// least. Where l changes sign, it is that least value.
void velocity_bound(double l0, double l1, double v, double& x_left, double& x_right) {
  const double least = std::min(std::abs(l0), std::abs(l1)),
               most = std::max(std::abs(l0), std::abs(l1));
  if (most == 0) return;
  double left = 1, right = 1, l = most;
  if (l0 * l1 > 0) {
    const double change = l1 - l0;
    if (most < 1.5 * least) {
      l = 0.5 * (l0 + l1);
      left = 1 + change / l;
      right = 1 - change / l;
    } else if (most == std::abs(l0)) {
      right = 1 - 2 * change / l0;
    } else {
      left = 1 + 2 * change / l1;
    }
  }
  const double bound = v / l * (v / l);
  x_left = std::min(x_left, bound * left);
  x_right = std::min(x_right, bound * right);
}

}  // namespace

TidyPath tidy(const QuadraticPath& given) {
  TidyPath out;
  const int n = given.n;
  out.path.n = n;
  out.path.breaks.push_back(0);
  for (int i = 0; i < given.pieces(); ++i) {
    const double* c = given.coefficients.data() + at(3 * n * i);
    const double h = given.breaks[at(i) + 1] - given.breaks[i];
    bool moves = false;
    for (int j = 0; j < n; ++j)
      moves = moves || std::abs(c[n + j]) * h + std::abs(c[2 * n + j]) * h * h >
                           negligible * (1 + std::abs(c[j]));
    if (!moves) continue;
    out.s.push_back(given.breaks[i]);
    out.path.breaks.push_back(out.path.breaks.back() + h);
    out.path.coefficients.insert(out.path.coefficients.end(), c, c + 3 * n);
  }
  // Corners: breaks at which q' jumps.
  const int k = out.path.pieces();
  out.corner.assign(at(k) + 1, 0);
  for (int i = 1; i < k; ++i) {
    const double* before = out.path.coefficients.data() + at(3 * n * (i - 1));
    const double* after = before + 3 * n;
    const double h = out.path.breaks[i] - out.path.breaks[at(i) - 1];
    double size = 0, jump = 0;
    for (int j = 0; j < n; ++j) {
      const double end = before[n + j] + 2 * before[2 * n + j] * h;
      size = std::max({size, std::abs(end), std::abs(after[n + j])});
      jump = std::max(jump, std::abs(end - after[n + j]));
    }
    out.corner[i] = jump > corner_tolerance * size;
  }
  return out;
}

namespace {

// Bound x by 1 / g for a linear g > 0 with the values left and right at the ends: the tangent in
// the middle, or the least value where g varies much.
void reciprocal_bound(double left, double right, double& x_left, double& x_right) {
  const double most = std::max(left, right);
  if (!(most > 0)) return;
  double bound = 1 / most, tilt = 0;
  if (most < 1.5 * std::min(left, right)) {
    const double middle = 0.5 * (left + right);
    bound = 1 / middle;
    tilt = (right - left) / (2 * middle);
  }
  x_left = std::min(x_left, bound * (1 + tilt));
  x_right = std::min(x_right, bound * (1 - tilt));
}

// Append the interval (r0, r0 + delta) of a piece, with the bounds and rows of velocity and
// acceleration limits.
void append_rates(Grid& grid, const TidyPath& tidy, const RateLimits& limits, int piece, double r0,
                  double delta) {
  const int n = tidy.path.n;
  const double* c1 = tidy.path.coefficients.data() + at(3 * n * piece + n);
  const double* c2 = c1 + n;
  ProfileProblem& problem = grid.problem;
  ProfileInterval interval;
  interval.length = delta;
  interval.first_row = problem.rows.size();
  double size = 0;
  for (int j = 0; j < n; ++j)
    size = std::max(
        {size, std::abs(c1[j] + 2 * c2[j] * r0), std::abs(c1[j] + 2 * c2[j] * (r0 + delta))});
  for (int j = 0; j < n; ++j) {
    const double left = c1[j] + 2 * c2[j] * r0, right = left + 2 * c2[j] * delta,
                 second = 2 * c2[j];
    // Skip columns that move by rounding only.
    if (std::max({std::abs(left), std::abs(right), std::abs(second) * delta}) <= 1e-12 * size)
      continue;
    velocity_bound(left, right, limits.velocity[j], interval.x_left, interval.x_right);
    const double a = limits.acceleration[j];
    problem.rows.push_back({left, second, -a, a});
    if (second != 0) problem.rows.push_back({left + 3 * delta * second, second, -a, a});
  }
  interval.n_rows = problem.rows.size() - interval.first_row;
  problem.intervals.push_back(interval);
  problem.stop.push_back(r0 == 0 ? tidy.corner[piece] : 0);
  grid.intervals.push_back({piece, r0});
}

void remove_last(Grid& grid) {
  grid.problem.rows.resize(grid.problem.intervals.back().first_row);
  grid.problem.intervals.pop_back();
  grid.problem.stop.pop_back();
  grid.intervals.pop_back();
}

// Append an interval with the bound of the link speeds as well. Where that bound is not tight,
// divide the interval into up to 2^halvings parts.
void append_interval(Grid& grid, const TidyPath& tidy, const RateLimits& limits, PathSpeed* speed,
                     int piece, double r0, double delta, int halvings) {
  append_rates(grid, tidy, limits, piece, r0, delta);
  if (speed == nullptr) return;
  const PathSpeed::Bound g =
      speed->bound(tidy.path.coefficients.data() + at(3 * tidy.path.n * piece), 3, r0, delta);
  ProfileInterval& interval = grid.problem.intervals.back();
  const double most = std::max(g.left, g.right);
  const bool counts = most * std::min(std::max(interval.x_left, interval.x_right), fast) > 1;
  if (counts && halvings > 0 && g.slack > close_speed * most) {
    remove_last(grid);
    append_interval(grid, tidy, limits, speed, piece, r0, delta / 2, halvings - 1);
    append_interval(grid, tidy, limits, speed, piece, r0 + delta / 2, delta / 2, halvings - 1);
    return;
  }
  reciprocal_bound(g.left, g.right, interval.x_left, interval.x_right);
}

}  // namespace

Grid make_grid(const TidyPath& tidy, const RateLimits& limits, double step, PathSpeed* speed) {
  const QuadraticPath& path = tidy.path;
  const int n = path.n;
  Grid grid;
  for (int i = 0; i < path.pieces(); ++i) {
    const double* c1 = path.coefficients.data() + at(3 * n * i + n);
    const double* c2 = c1 + n;
    const double h = path.breaks[at(i) + 1] - path.breaks[i];
    // Number of intervals: by the change of q' relative to its size, and by the displacement of the
    // fastest column.
    double size = 0, change = 0;
    for (int j = 0; j < n; ++j) {
      size = std::max({size, std::abs(c1[j]), std::abs(c1[j] + 2 * c2[j] * h)});
      change = std::max(change, std::abs(2 * c2[j] * h));
    }
    const double curved =
        change > 1e-9 * size ? std::clamp(std::ceil(12 * change / size), 3.0, 24.0) : 1.0;
    const int count = static_cast<int>(std::clamp(std::ceil(size * h / step), curved, 1000.0));
    for (int m = 0; m < count; ++m)
      append_interval(grid, tidy, limits, speed, i, h * m / count, h / count, most_halvings);
  }
  grid.problem.stop.push_back(0);
  return grid;
}

Grid refine_grid(const TidyPath& tidy, const RateLimits& limits, const Grid& grid,
                 const std::vector<int>& parts, PathSpeed* speed) {
  Grid fine;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double delta = grid.problem.intervals[i].length / parts[i];
    for (int m = 0; m < parts[i]; ++m)
      append_interval(fine, tidy, limits, speed, grid.intervals[i].piece,
                      grid.intervals[i].r0 + m * delta, delta, 0);
  }
  fine.problem.stop.push_back(0);
  fine.problem.x_start = grid.problem.x_start;
  fine.problem.x_end = grid.problem.x_end;
  return fine;
}

PathTorque::Friction interval_friction(const PathTorque& torque, int k,
                                       const PathTorque::Coefficients& left,
                                       const PathTorque::Coefficients& right) {
  const double l = left.rate[k], r = right.rate[k];
  return torque.friction(k, std::min(l, r), std::max(l, r));
}

ProfileProblem with_torque_rows(const ProfileProblem& base, const PathTorque& torque,
                                const std::vector<PathTorque::Coefficients>& left,
                                const std::vector<PathTorque::Coefficients>& right,
                                const std::vector<double>& reserve,
                                const std::vector<double>& speed, Resistance resistance) {
  ProfileProblem problem = base;
  problem.rows.clear();
  const int m = torque.size();
  for (std::size_t i = 0; i < base.intervals.size(); ++i) {
    ProfileInterval& interval = problem.intervals[i];
    const auto first = base.rows.begin() + static_cast<std::ptrdiff_t>(interval.first_row);
    interval.first_row = problem.rows.size();
    problem.rows.insert(problem.rows.end(), first,
                        first + static_cast<std::ptrdiff_t>(interval.n_rows));
    // Rows of each limited torque, at both ends of the interval.
    for (int k = 0; k < m; ++k) {
      const double limit = torque.limit(k) - reserve[i * at(m) + at(k)];
      PathTorque::Friction friction;
      if (resistance != Resistance::none)
        friction = interval_friction(torque, k, left[i], right[i]);
      // Friction in one direction: the torque that it costs at one limit it saves at the other.
      if (resistance == Resistance::stated && (friction.up == 0 || friction.down == 0))
        friction = {friction.up - friction.down, friction.down - friction.up};
      for (const bool at_right : {false, true}) {
        const PathTorque::Coefficients& t = at_right ? right[i] : left[i];
        // x at the right end is x + 2 u delta, so its factor there applies to u, too.
        const double lever = at_right ? 2 * interval.length : 0;
        const double a = t.a[k], b = t.b[k], c = t.c[k],
                     d = resistance == Resistance::none ? 0 : t.d[k];
        const double lower = -limit - c + friction.down, upper = limit - c - friction.up;
        if (d == 0) {
          problem.rows.push_back({a + lever * b, b, lower, upper});
          continue;
        }
        // sqrt(x) <= (x + v^2) / (2 v) for any v > 0, where damping costs torque. Damping that
        // would save torque is ignored or, if it is certain, bounded by sqrt(x) >= x / v, valid for
        // x <= v^2.
        const double v = speed[i + (at_right ? 1 : 0)], slope = b + d / (2 * v), offset = d * v / 2;
        const double spared = resistance == Resistance::stated ? b + d / v : b;
        problem.rows.push_back({a + lever * slope, slope, d > 0 ? -infinity : lower - offset,
                                d > 0 ? upper - offset : infinity});
        problem.rows.push_back(
            {a + lever * spared, spared, d > 0 ? lower : -infinity, d > 0 ? infinity : upper});
      }
    }
    interval.n_rows = problem.rows.size() - interval.first_row;
  }
  return problem;
}

}  // namespace robosim

#include "planning/timing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "planning/timing_grid.h"

namespace robosim {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_acceleration_limit = 1e5;  // stands for an infinite one
constexpr double torque_step = 0.1;            // a column's way between grid points when torques are limited [rad, m]
constexpr double torque_excess_allowed = 1e-7; // relative
constexpr int tightenings = 8;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

PolynomialMotion rest(const QuadraticPath& path) {
  PolynomialMotion motion;
  motion.n = path.n;
  motion.breaks = {0, 1e-3};
  motion.coefficients.assign(at(6 * path.n), 0);
  std::copy_n(path.coefficients.begin(), path.n, motion.coefficients.begin());
  return motion;
}

class Timing {
 public:
  Timing(const QuadraticPath& path, const TimingOptions& options, PathTorque* torque)
      : options_(options), torque_(torque != nullptr && torque->size() > 0 ? torque : nullptr), tidy_(tidy(path)) {
    acceleration_ = options.acceleration;
    for (double& a : acceleration_) a = std::min(a, no_acceleration_limit);
  }

  TimingResult run() {
    if (limits_allow_motion() && end_speeds() && solve()) {
      if (!options_.jerk.empty() && result_.status == TimingStatus::solved) smooth();
    }
    if (result_.status != TimingStatus::solved) result_.motion = {};
    return std::move(result_);
  }

 private:
  std::string name(int column) const {
    return options_.names.empty() ? "column " + std::to_string(column) : options_.names[at(column)];
  }
  bool fail(TimingStatus status, int column, double s, const std::string& reason) {
    result_.status = status;
    result_.column = column;
    result_.s = s;
    result_.reason = reason;
    return false;
  }
  // Position on the given path of the left or right end of an interval.
  double path_s(std::size_t interval, bool right_end) const {
    const PathInterval& where = grid_.intervals[interval];
    return tidy_.s[at(where.piece)] + where.r0 + (right_end ? grid_.problem.intervals[interval].length : 0);
  }

  bool limits_allow_motion() {
    const QuadraticPath& path = tidy_.path;
    for (int i = 0; i < path.pieces(); ++i) {
      const double* c1 = path.coefficients.data() + at(3 * path.n * i + path.n);
      const double h = path.breaks[at(i) + 1] - path.breaks[at(i)];
      for (int j = 0; j < path.n; ++j) {
        const bool moves = std::abs(c1[j]) * h + std::abs(c1[path.n + j]) * h * h > 1e-12;
        const bool zero_velocity = options_.velocity[at(j)] == 0;
        if (moves && (zero_velocity || acceleration_[at(j)] == 0))
          return fail(TimingStatus::zero_limit, j, tidy_.s[at(i)],
                      name(j) + " has to move, but its " + (zero_velocity ? "velocity" : "acceleration") + " limit is zero");
      }
    }
    return true;
  }

  // ds/dt from the velocity asked for at one end; it has to lie along the path.
  bool end_speed(const std::vector<double>& velocity, bool at_end, double& speed) {
    const TimingStatus status = at_end ? TimingStatus::end_velocity : TimingStatus::start_velocity;
    const QuadraticPath& path = tidy_.path;
    const int n = path.n, i = at_end ? path.pieces() - 1 : 0;
    const double* c1 = path.coefficients.data() + at(3 * n * i + n);
    const double r = at_end ? path.breaks[at(i) + 1] - path.breaks[at(i)] : 0;
    double along = 0, size = 0, asked = 0;
    for (int j = 0; j < n; ++j) {
      const double tangent = c1[j] + 2 * c1[n + j] * r;
      along += tangent * velocity[at(j)];
      size += tangent * tangent;
      asked = std::max(asked, std::abs(velocity[at(j)]));
    }
    if (asked == 0) return true;
    speed = size > 0 ? along / size : 0;
    for (int j = 0; j < n; ++j) {
      const double off = velocity[at(j)] - (c1[j] + 2 * c1[n + j] * r) * speed;
      if (!(speed > 0) || std::abs(off) > 1e-6 * asked)
        return fail(status, j, tidy_.s[at(i)] + r,
                    std::string("the ") + (at_end ? "end" : "start") + " velocity is not along the path, by that of " + name(j));
    }
    return true;
  }

  bool end_speeds() {
    if (tidy_.path.pieces() == 0) {
      for (const double v : options_.start_velocity)
        if (v != 0) return fail(TimingStatus::start_velocity, -1, 0, "the path does not move, but the start velocity is not zero");
      return true;
    }
    if (!options_.start_velocity.empty() && !end_speed(options_.start_velocity, false, start_speed_)) return false;
    if (!options_.end_velocity.empty() && !end_speed(options_.end_velocity, true, end_speed_)) return false;
    if (!options_.jerk.empty() && (start_speed_ > 0 || end_speed_ > 0))
      return fail(TimingStatus::jerk_start_velocity, -1, 0, "with a jerk limit the motion has to start and end at rest");
    return true;
  }

  bool solve_profile(const ProfileProblem& problem) {
    const ProfileStatus status = solver_.solve(problem);
    std::ostringstream text;
    text.precision(4);
    switch (status) {
      case ProfileStatus::solved:
        result_.motion = to_motion(tidy_.path, grid_.intervals, solver_.segments());
        return true;
      case ProfileStatus::start_too_fast:
        text << "the start velocity is too high to follow the path within the limits, by a factor of "
             << start_speed_ / solver_.largest_start();
        return fail(TimingStatus::start_velocity, -1, 0, text.str());
      case ProfileStatus::end_too_fast:
        return fail(TimingStatus::end_velocity, -1, path_s(problem.intervals.size() - 1, true),
                    "the end velocity exceeds what the limits allow at the end of the path");
      case ProfileStatus::infeasible:
      case ProfileStatus::stuck:
        break;
    }
    const double s = path_s(static_cast<std::size_t>(solver_.where()), false);
    text << "the torque limits leave no way to move on at s = " << s;
    return fail(TimingStatus::torque_limit, -1, s, text.str());
  }

  bool solve() {
    if (tidy_.path.pieces() == 0) return true;
    make_problem(infinity);
    if (!solve_profile(grid_.problem)) return false;
    result_.intervals = static_cast<int>(grid_.intervals.size());
    if (torque_ != nullptr && !torque_excess(result_.motion, *torque_, 1 + torque_excess_allowed).empty()) {
      result_.torque_limited = true;
      if (!solve_with_torque()) return false;
    }
    // Rounding in the profile, seen in polynomials: slow down by it. (With a given speed at an end there is no such freedom.)
    const double factor = needed_stretch(result_.motion, options_.velocity, acceleration_);
    if (factor > 1 && start_speed_ == 0 && end_speed_ == 0) stretch(result_.motion, factor);
    return true;
  }

  void make_problem(double step) {
    grid_ = make_grid(tidy_, options_.velocity, acceleration_, step);
    grid_.problem.x_start = start_speed_ * start_speed_;
    grid_.problem.x_end = end_speed_ * end_speed_;
  }

  // The grid made fine; ds/dt at its points under velocity and acceleration limits alone is the estimate that viscous damping starts
  // from, and no motion is faster.
  bool solve_with_torque() {
    make_problem(torque_step);
    result_.intervals = static_cast<int>(grid_.intervals.size());
    if (!torque_coefficients() || !solve_profile(grid_.problem)) return false;
    const std::size_t m = at(torque_->size());
    std::vector<double> reserve(grid_.intervals.size() * m, 0);
    PolynomialMotion last;
    for (int pass = 0; pass < tightenings; ++pass) {
      const ProfileProblem problem = with_torque_rows(grid_.problem, *torque_, left_, right_, reserve, grid_speeds());
      if (!solve_profile(problem)) {
        // Tightening left no room: the motion before it, slowed down, has to do.
        if (last.breaks.empty()) return false;
        result_.status = TimingStatus::solved;
        result_.reason.clear();
        result_.motion = std::move(last);
        break;
      }
      const std::vector<TorqueExcess> excess = torque_excess(result_.motion, *torque_, 1 + torque_excess_allowed);
      if (excess.empty() && !(damped_ && pass < 2)) return true;
      for (const TorqueExcess& e : excess) {
        const std::size_t interval = at(solver_.segments()[at(e.piece)].interval);
        double& kept = reserve[interval * m + at(e.index)];
        kept += (1.05 * (e.ratio - 1) + 2e-7) * torque_->limit(e.index);
      }
      last = result_.motion;
    }
    return slow_down_for_torque();
  }

  bool torque_coefficients() {
    const QuadraticPath& path = tidy_.path;
    const int n = path.n;
    std::vector<double> q(at(n)), dq(at(n)), ddq(at(n));
    const std::size_t count = grid_.intervals.size();
    left_.resize(count);
    right_.resize(count);
    const auto evaluate = [&](std::size_t i, bool right_end, PathTorque::Coefficients& out) {
      const PathInterval& where = grid_.intervals[i];
      const double* c = path.coefficients.data() + at(3 * n * where.piece);
      const double r = where.r0 + (right_end ? grid_.problem.intervals[i].length : 0);
      for (int j = 0; j < n; ++j) {
        q[at(j)] = c[j] + (c[n + j] + c[2 * n + j] * r) * r;
        dq[at(j)] = c[n + j] + 2 * c[2 * n + j] * r;
        ddq[at(j)] = 2 * c[2 * n + j];
      }
      torque_->coefficients(q.data(), dq.data(), ddq.data(), out);
      for (int k = 0; k < torque_->size(); ++k) {
        damped_ = damped_ || out.d[at(k)] != 0;
        if (std::abs(out.c[at(k)]) < torque_->limit(k)) continue;
        std::ostringstream text;
        text.precision(4);
        const double s = path_s(i, right_end);
        text << torque_->name(k) << " needs " << std::abs(out.c[at(k)]) << " against gravity and friction at s = " << s
             << ", its effort limit is " << torque_->limit(k);
        return fail(TimingStatus::static_torque, torque_->dof(k), s, text.str());
      }
      return true;
    };
    for (std::size_t i = 0; i < count; ++i) {
      // Inside a piece the end of one interval is the start of the next.
      if (i > 0 && grid_.intervals[i].piece == grid_.intervals[i - 1].piece)
        left_[i] = right_[i - 1];
      else if (!evaluate(i, false, left_[i]))
        return false;
      if (!evaluate(i, true, right_[i])) return false;
    }
    return true;
  }

  // ds/dt at the grid points in the last profile, kept off zero.
  std::vector<double> grid_speeds() const {
    std::vector<double> speed(grid_.intervals.size() + 1, 0);
    double top = 0;
    for (const ProfileSegment& segment : solver_.segments()) {
      if (segment.sigma0 == 0) speed[at(segment.interval)] = segment.v0;
      speed[at(segment.interval) + 1] = segment.v1;
      top = std::max({top, segment.v0, segment.v1});
    }
    for (double& v : speed) v = std::max(v, 1e-3 * top);
    return speed;
  }

  // tau = tau_0 + tau_1 / f^2 (but for damping) when time stretches by f: of the excess entries, the f that brings each to its limit.
  bool slow_down_for_torque() {
    const int n = tidy_.path.n;
    std::vector<double> q(at(n)), zero(at(n), 0.0), still(at(torque_->size()));
    for (int pass = 0; pass < 40; ++pass) {
      const std::vector<TorqueExcess> excess = torque_excess(result_.motion, *torque_, 1 + torque_excess_allowed);
      if (excess.empty()) return true;
      if (start_speed_ > 0 || end_speed_ > 0) break;
      double factor = 1;
      for (const TorqueExcess& e : excess) {
        const double* c = result_.motion.piece(e.piece);
        for (int j = 0; j < n; ++j) {
          double value = 0;
          for (int power = 5; power >= 0; --power) value = value * e.t + c[power * n + j];
          q[at(j)] = value;
        }
        torque_->torque(q.data(), zero.data(), zero.data(), still.data());
        const double limit = torque_->limit(e.index), held = std::min(std::abs(still[at(e.index)]), limit);
        const double square = (e.ratio * limit - held) / std::max(limit * (1 - 1e-7) - held, 1e-3 * limit);
        factor = std::max(factor, std::sqrt(std::max(1.0, square)) * (1 + 1e-8));
      }
      stretch(result_.motion, std::min(factor, 4.0));
      result_.slowdown *= std::min(factor, 4.0);
    }
    return fail(TimingStatus::torque_limit, -1, 0, "the torque limits cannot be kept by slowing down");
  }

  // Jerk limits: average over the window that the peak accelerations ask for, then torques again.
  void smooth() {
    if (tidy_.path.pieces() == 0) return;
    const std::vector<double> peaks = peak_acceleration(result_.motion);
    double window = 0, deviation = 0;
    for (std::size_t j = 0; j < peaks.size(); ++j)
      if (std::isfinite(options_.jerk[j])) window = std::max(window, 2 * peaks[j] / options_.jerk[j]);
    if (!(window > 0)) return;
    window *= 1 + 1e-9;
    for (const double a : peaks) deviation = std::max(deviation, a * window * window / 24);
    if (!std::isfinite(window)) {
      fail(TimingStatus::zero_limit, -1, 0, "a joint has to move whose jerk limit is zero");
      return;
    }
    result_.motion = moving_average(result_.motion, window);
    result_.window = window;
    result_.deviation = deviation;
    if (torque_ != nullptr) slow_down_for_torque();
  }

  const TimingOptions& options_;
  PathTorque* torque_;
  TidyPath tidy_;
  std::vector<double> acceleration_;
  double start_speed_ = 0, end_speed_ = 0;
  bool damped_ = false;
  Grid grid_;
  ProfileSolver solver_;
  std::vector<PathTorque::Coefficients> left_, right_;
  TimingResult result_;
};

}  // namespace

const char* to_string(TimingStatus status) {
  switch (status) {
    case TimingStatus::zero_limit:
      return "zero_limit";
    case TimingStatus::static_torque:
      return "static_torque";
    case TimingStatus::start_velocity:
      return "start_velocity";
    case TimingStatus::end_velocity:
      return "end_velocity";
    case TimingStatus::torque_limit:
      return "torque_limit";
    case TimingStatus::jerk_start_velocity:
      return "jerk_start_velocity";
    case TimingStatus::solved:
      break;
  }
  return "solved";
}

TimingResult time_path(const QuadraticPath& path, const TimingOptions& options, PathTorque* torque) {
  Timing timing(path, options, torque);
  TimingResult result = timing.run();
  if (result.status == TimingStatus::solved && result.motion.breaks.empty()) result.motion = rest(path);
  return result;
}

PolynomialMotion brake(const std::vector<double>& q0, const std::vector<double>& v0, const std::vector<double>& acceleration,
                       const std::vector<double>& jerk, double fraction) {
  // All along the direction v0: q = q0 + v0 p(t) with dp/dt from 1 to 0. In p the limits are a and j:
  const int n = static_cast<int>(q0.size());
  double a = infinity, j = infinity;
  for (std::size_t k = 0; k < q0.size(); ++k) {
    if (v0[k] == 0) continue;
    a = std::min(a, fraction * std::min(acceleration[k], no_acceleration_limit) / std::abs(v0[k]));
    if (!jerk.empty()) j = std::min(j, jerk[k] / std::abs(v0[k]));
  }
  // Phases (duration, jerk) of the deceleration: one of constant a, or ramps of a/j around it, which meet if 1 < a^2 / j.
  std::vector<std::pair<double, double>> phases;
  double start = 0;
  if (a == infinity) {
    phases = {{1e-3, 0}};  // at rest already
  } else if (j == infinity) {
    phases = {{1 / a, 0}};
    start = -a;
  } else {
    const double peak = std::min(a, std::sqrt(j)), ramp = peak / j, flat = 1 / peak - ramp;
    phases = {{ramp, -j}, {flat, 0}, {ramp, j}};
    if (!(flat > 1e-9 * ramp)) phases.erase(phases.begin() + 1);
  }
  PolynomialMotion motion;
  motion.n = n;
  motion.breaks = {0};
  double p = 0, dp = a == infinity ? 0 : 1, ddp = start;
  for (const auto& [duration, dddp] : phases) {
    const double c[6] = {p, dp, ddp / 2, dddp / 6, 0, 0};
    for (int power = 0; power < 6; ++power)
      for (int k = 0; k < n; ++k) motion.coefficients.push_back((power == 0 ? q0[at(k)] : 0) + c[power] * v0[at(k)]);
    p += duration * (dp + duration * (ddp / 2 + duration * dddp / 6));
    dp += duration * (ddp + duration * dddp / 2);
    ddp += duration * dddp;
    motion.breaks.push_back(motion.breaks.back() + duration);
  }
  return motion;
}

}  // namespace robosim

#include "planning/timing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/constants.h"
#include "base/index.h"
#include "planning/timing_grid.h"

namespace robosim {

namespace {

constexpr double no_acceleration_limit = 1e5;  // replaces an infinite limit
// Largest acceleration of interest, in squares of the top speed per path length.
constexpr double most_acceleration = 1e8;
// Shortest window, relative to the duration: a shorter average would be lost in rounding.
constexpr double least_window = 1e-5;
// Displacement of a column between grid points if torques are limited [rad, m].
constexpr double torque_step = 0.1;
constexpr double torque_excess_allowed = 1e-7;  // relative
// Relative rounding of positions: nine roundings, where an end of an edge takes about four.
constexpr double path_rounding = 1e-15;
constexpr int tightenings = 8, damping_passes = 3;
constexpr int refined_parts = 4;  // of an interval with a torque near its limit

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
  Timing(const QuadraticPath& path, const TimingOptions& options, PathTorque* torque,
         PathSpeed* speed)
      : options_(options),
        torque_(torque != nullptr && torque->size() > 0 ? torque : nullptr),
        link_speed_(speed),
        tidy_(tidy(path)) {
    limits_ = {options.velocity, options.acceleration};
    for (double& a : limits_.acceleration) a = std::min(a, no_acceleration_limit);
  }

  TimingResult run() {
    if (limits_allow_motion() && end_speeds() && (calm(), solve())) {
      if (!options_.jerk.empty() && result_.status == TimingStatus::solved) smooth();
    }
    if (result_.status != TimingStatus::solved) result_.motion = {};
    return std::move(result_);
  }

 private:
  std::string name(int column) const {
    return options_.names.empty() ? "column " + std::to_string(column) : options_.names[column];
  }
  bool fail(TimingStatus status, int column, double s, const std::string& reason) {
    result_.status = status;
    result_.column = column;
    result_.s = s;
    result_.reason = reason;
    return false;
  }
  // Position on the original path of the left or right end of an interval.
  double path_s(std::size_t interval, bool right_end) const {
    const PathInterval& where = grid_.intervals[interval];
    return tidy_.s[where.piece] + where.r0 +
           (right_end ? grid_.problem.intervals[interval].length : 0);
  }

  bool limits_allow_motion() {
    const QuadraticPath& path = tidy_.path;
    for (int i = 0; i < path.pieces(); ++i) {
      const double* c1 = path.coefficients.data() + at(3 * path.n * i + path.n);
      const double h = path.breaks[at(i) + 1] - path.breaks[i];
      for (int j = 0; j < path.n; ++j) {
        const bool moves = std::abs(c1[j]) * h + std::abs(c1[path.n + j]) * h * h > 1e-12;
        const bool zero_velocity = options_.velocity[j] == 0;
        if (moves && (zero_velocity || limits_.acceleration[j] == 0))
          return fail(TimingStatus::zero_limit, j, tidy_.s[i],
                      name(j) + " has to move, but its " +
                          (zero_velocity ? "velocity" : "acceleration") + " limit is zero");
      }
    }
    return true;
  }

  // Compute ds/dt from the required velocity at one end, which has to lie along the path.
  bool end_speed(const std::vector<double>& velocity, bool at_end, double& speed) {
    const TimingStatus status = at_end ? TimingStatus::end_velocity : TimingStatus::start_velocity;
    const QuadraticPath& path = tidy_.path;
    const int n = path.n, i = at_end ? path.pieces() - 1 : 0;
    const double* c1 = path.coefficients.data() + at(3 * n * i + n);
    const double r = at_end ? path.breaks[at(i) + 1] - path.breaks[i] : 0;
    double along = 0, size = 0, asked = 0;
    for (int j = 0; j < n; ++j) {
      const double tangent = c1[j] + 2 * c1[n + j] * r;
      along += tangent * velocity[j];
      size += tangent * tangent;
      asked = std::max(asked, std::abs(velocity[j]));
    }
    if (asked == 0) return true;
    speed = size > 0 ? along / size : 0;
    for (int j = 0; j < n; ++j) {
      const double off = velocity[j] - (c1[j] + 2 * c1[n + j] * r) * speed;
      if (!(speed > 0) || std::abs(off) > 1e-6 * asked)
        return fail(status, j, tidy_.s[i] + r,
                    std::string("the ") + (at_end ? "end" : "start") +
                        " velocity is not along the path, by that of " + name(j));
    }
    // The tangent is a difference of rounded positions over a length that may be tiny. Where it is
    // off by no more than that rounding, it is set to the velocity's direction, so that the
    // trajectory has exactly the required velocity at this end.
    const double h = path.breaks[at(i) + 1] - path.breaks[i];
    for (int j = 0; j < n; ++j) {
      double* c = tidy_.path.coefficients.data() + at(3 * n * i + j);
      const double off = velocity[j] / speed - (c[n] + 2 * c[2 * n] * r);
      const double end = c[0] + (c[n] + c[2 * n] * h) * h;
      if (std::abs(off) * h <= path_rounding * std::max(std::abs(c[0]), std::abs(end))) c[n] += off;
    }
    return true;
  }

  bool end_speeds() {
    if (tidy_.path.pieces() == 0) {
      for (const double v : options_.start_velocity)
        if (v != 0)
          return fail(TimingStatus::start_velocity, -1, 0,
                      "the path does not move, but the start velocity is not zero");
      return true;
    }
    if (!options_.start_velocity.empty() &&
        !end_speed(options_.start_velocity, false, start_speed_))
      return false;
    if (!options_.end_velocity.empty() && !end_speed(options_.end_velocity, true, end_speed_))
      return false;
    if (!options_.jerk.empty() && (start_speed_ > 0 || end_speed_ > 0))
      return fail(TimingStatus::jerk_start_velocity, -1, 0,
                  "with a jerk limit the motion has to start and end at rest");
    return true;
  }

  // Lower the accelerations. With very low velocity limits, the displacement while accelerating is
  // lost in rounding compared with the path. With lower accelerations it is a hundred-millionth of
  // the path, at as small a cost in time.
  void calm() {
    if (tidy_.path.pieces() == 0 || start_speed_ > 0 || end_speed_ > 0) return;
    const QuadraticPath& path = tidy_.path;
    const int n = path.n;
    // Upper bounds of ds/dt, and of d2s/dt2 on straight parts, by the least |q'| at which the
    // limits are active.
    double speed = 0, acceleration = infinity;
    for (int i = 0; i < path.pieces(); ++i) {
      const double* c1 = path.coefficients.data() + at(3 * n * i + n);
      const double h = path.breaks[at(i) + 1] - path.breaks[i];
      double v = infinity, a = infinity;
      for (int j = 0; j < n; ++j) {
        const double slope = std::max(std::abs(c1[j]), std::abs(c1[j] + 2 * c1[n + j] * h));
        if (slope == 0) continue;
        v = std::min(v, limits_.velocity[j] / slope);
        a = std::min(a, limits_.acceleration[j] / slope);
      }
      speed = std::max(speed, v);
      acceleration = std::min(acceleration, a);
    }
    const double most = most_acceleration * speed * (speed / path.breaks.back());
    if (!(acceleration > most)) return;
    for (double& a : limits_.acceleration) a *= most / acceleration;
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
        text << "the start velocity is too high to follow the path within the limits, by a factor "
                "of "
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
    text << "the " << (torque_ != nullptr ? "torque " : "")
         << "limits leave no way to move on at s = " << s;
    return fail(TimingStatus::torque_limit, -1, s, text.str());
  }

  bool solve() {
    if (tidy_.path.pieces() == 0) return true;
    make_problem(infinity);
    if (!solve_profile(grid_.problem)) return false;
    result_.intervals = static_cast<int>(grid_.intervals.size());
    if (torque_ != nullptr &&
        !torque_excess(result_.motion, *torque_, 1 + torque_excess_allowed, false).empty()) {
      result_.torque_limited = true;
      if (!solve_with_torque()) return false;
    }
    // Slow down by the rounding errors in the profile that show in the polynomials. A given speed
    // at an end leaves no such freedom.
    const double factor = needed_stretch(result_.motion, limits_.velocity, limits_.acceleration);
    if (factor > 1 && start_speed_ == 0 && end_speed_ == 0) stretch(result_.motion, factor);
    return true;
  }

  void make_problem(double step) {
    grid_ = make_grid(tidy_, limits_, step, link_speed_);
    grid_.problem.x_start = start_speed_ * start_speed_;
    grid_.problem.x_end = end_speed_ * end_speed_;
  }

  // Solve first on an even grid, then with the intervals divided in which a torque is near its
  // limit. A constant u that satisfies the torque limit at both ends of an interval falls short of
  // the optimum by the torque's change along the interval.
  bool solve_with_torque() {
    make_problem(torque_step);
    if (!torque_coefficients() || !solve_profile(grid_.problem)) return false;
    estimate_speeds();
    reserve_.assign(grid_.intervals.size() * at(torque_->size()), 0);
    if (!solve_profile(with_torque_rows(grid_.problem, *torque_, left_, right_, reserve_, speed_)))
      return false;
    refine();
    if (!torque_coefficients()) return false;
    result_.intervals = static_cast<int>(grid_.intervals.size());
    reserve_.assign(grid_.intervals.size() * at(torque_->size()), 0);

    // Tighten the limits until no torque exceeds its own between grid points.
    PolynomialMotion last;
    for (int pass = 0; pass < tightenings; ++pass) {
      if (!solve_profile(
              with_torque_rows(grid_.problem, *torque_, left_, right_, reserve_, speed_))) {
        // Tightening made the problem infeasible: slow down the trajectory before it instead.
        if (last.breaks.empty()) return false;
        result_.status = TimingStatus::solved;
        result_.reason.clear();
        result_.s = 0;
        result_.motion = std::move(last);
        break;
      }
      const std::vector<TorqueExcess> excess =
          torque_excess(result_.motion, *torque_, 1 + torque_excess_allowed);
      if (excess.empty() && !(damped_ && pass < damping_passes)) {
        compare_resistances();
        return true;
      }
      for (const TorqueExcess& e : excess) {
        const std::size_t interval = at(solver_.segments()[e.piece].interval);
        reserve_[interval * at(torque_->size()) + at(e.index)] +=
            (1.02 * (e.ratio - 1) + 2e-7) * torque_->limit(e.index);
      }
      if (damped_) speed_ = grid_speeds();
      last = result_.motion;
    }
    compare_resistances();
    return slow_down_for_torque();
  }

  // Cost of satisfying the limits both with and without damping and dry friction: compare with the
  // profiles for either alone, on the same grid.
  void compare_resistances() {
    result_.resisted = torque_->resisted();
    if (!result_.resisted) return;
    const auto sooner_with = [&](Resistance resistance) {
      ProfileSolver other;
      if (other.solve(with_torque_rows(grid_.problem, *torque_, left_, right_, reserve_, speed_,
                                       resistance)) != ProfileStatus::solved)
        return 0.0;
      return std::max(0.0, duration(solver_.segments()) - duration(other.segments()));
    };
    result_.sooner_as_stated = sooner_with(Resistance::stated);
    result_.sooner_without = sooner_with(Resistance::none);
  }

  static double duration(const std::vector<ProfileSegment>& segments) {
    double sum = 0;
    for (const ProfileSegment& s : segments) sum += 2 * (s.sigma1 - s.sigma0) / (s.v0 + s.v1);
    return sum;
  }

  // Divide the intervals in which a torque is near its limit.
  void refine() {
    std::vector<int> parts(grid_.intervals.size(), 1);
    for (const TorqueExcess& e : torque_excess(result_.motion, *torque_, 0.9, false))
      parts[solver_.segments()[e.piece].interval] = refined_parts;
    const std::vector<double> coarse =
        damped_ ? grid_speeds() : std::vector<double>(parts.size() + 1, 1.0);
    speed_.clear();
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (int m = 0; m < parts[i]; ++m)
        speed_.push_back(coarse[i] + (coarse[i + 1] - coarse[i]) * m / parts[i]);
    speed_.push_back(coarse.back());
    grid_ = refine_grid(tidy_, limits_, grid_, parts, link_speed_);
  }

  bool torque_coefficients() {
    const QuadraticPath& path = tidy_.path;
    const int n = path.n;
    std::vector<double> q(at(n)), dq(at(n)), ddq(at(n));
    const std::size_t count = grid_.intervals.size();
    left_.resize(count);
    right_.resize(count);
    const auto evaluate = [&](int piece, double r, PathTorque::Coefficients& out) {
      const double* c = path.coefficients.data() + at(3 * n * piece);
      for (int j = 0; j < n; ++j) {
        q[j] = c[j] + (c[n + j] + c[2 * n + j] * r) * r;
        dq[j] = c[n + j] + 2 * c[2 * n + j] * r;
        ddq[j] = 2 * c[2 * n + j];
      }
      torque_->coefficients(q.data(), dq.data(), ddq.data(), out);
      for (const double d : out.d) damped_ = damped_ || d != 0;
    };
    for (std::size_t i = 0; i < count; ++i) {
      const int piece = grid_.intervals[i].piece;
      // Inside a piece the end of one interval is the start of the next.
      if (i > 0 && piece == grid_.intervals[i - 1].piece)
        left_[i] = right_[i - 1];
      else
        evaluate(piece, grid_.intervals[i].r0, left_[i]);
      evaluate(piece, grid_.right(i), right_[i]);
      if (!can_stand_still(i)) return false;
    }
    return true;
  }

  // Return true if gravity and friction alone leave every joint within its effort at both ends of
  // an interval.
  bool can_stand_still(std::size_t i) {
    for (int k = 0; k < torque_->size(); ++k) {
      const PathTorque::Friction friction = interval_friction(*torque_, k, left_[i], right_[i]);
      for (const bool right_end : {false, true}) {
        const double c = (right_end ? right_ : left_)[i].c[k];
        const double needed = std::max(c + friction.up, friction.down - c);
        if (needed < torque_->limit(k)) continue;
        std::ostringstream text;
        text.precision(4);
        const double s = path_s(i, right_end);
        text << torque_->name(k) << " needs " << needed
             << " against gravity and friction at s = " << s << ", its effort limit is "
             << torque_->limit(k);
        return fail(TimingStatus::static_torque, torque_->dof(k), s, text.str());
      }
    }
    return true;
  }

  // Speeds ds/dt at the grid points about which viscous damping is linearized. They are those of
  // the profile without torque limits, which no other exceeds, but at most the speed at which
  // damping takes all torque left for it. The linearized damping at rest is then at most half of
  // that torque, so standing still is feasible. After linearization at one solution the next is at
  // least as fast.
  void estimate_speeds() {
    speed_ = grid_speeds();
    if (!damped_) return;
    for (std::size_t i = 0; i < left_.size(); ++i)
      for (int k = 0; k < torque_->size(); ++k)
        for (const bool right_end : {false, true}) {
          const PathTorque::Coefficients& t = right_end ? right_[i] : left_[i];
          const double f = torque_->friction(k, -1, 1).up,
                       room = torque_->limit(k) - std::abs(t.c[k]) - f;
          double& v = speed_[i + (right_end ? 1 : 0)];
          if (t.d[k] != 0 && room > 0) v = std::min(v, room / std::abs(t.d[k]));
        }
  }

  // ds/dt at the grid points in the last profile, bounded away from zero.
  std::vector<double> grid_speeds() const {
    std::vector<double> speed(grid_.intervals.size() + 1, 0);
    double top = 0;
    for (const ProfileSegment& segment : solver_.segments()) {
      if (segment.sigma0 == 0) speed[segment.interval] = segment.v0;
      speed[at(segment.interval) + 1] = segment.v1;
      top = std::max({top, segment.v0, segment.v1});
    }
    for (double& v : speed) v = std::max(v, 1e-3 * top);
    return speed;
  }

  // Slow down until no torque exceeds its limit. Stretching time by f changes tau to tau_0 + tau_1
  // / f^2, apart from damping; f is chosen to bring every excess to its limit.
  bool slow_down_for_torque() {
    const int n = tidy_.path.n;
    std::vector<double> q(at(n)), zero(at(n), 0.0), still(at(torque_->size())), damping(still),
        rate(still);
    for (int pass = 0; pass < 40; ++pass) {
      const std::vector<TorqueExcess> excess =
          torque_excess(result_.motion, *torque_, 1 + torque_excess_allowed);
      if (excess.empty()) return true;
      if (start_speed_ > 0 || end_speed_ > 0) break;
      double factor = 1;
      for (const TorqueExcess& e : excess) {
        const double* c = result_.motion.piece(e.piece);
        for (int j = 0; j < n; ++j) {
          double value = 0;
          for (int power = 5; power >= 0; --power) value = value * e.t + c[power * n + j];
          q[j] = value;
        }
        torque_->smooth_torque(q.data(), zero.data(), zero.data(), still.data(), damping.data(),
                               rate.data());
        const double limit = torque_->limit(e.index);
        const double held =
            std::min(std::abs(still[e.index]) + torque_->friction(e.index, -1, 1).up, limit);
        const double square =
            (e.ratio * limit - held) / std::max(limit * (1 - 1e-7) - held, 1e-3 * limit);
        factor = std::max(factor, std::sqrt(std::max(1.0, square)) * (1 + 1e-8));
      }
      factor = std::min(factor, 4.0);
      stretch(result_.motion, factor);
      result_.slowdown *= factor;
    }
    return fail(TimingStatus::torque_limit, -1, 0,
                "the torque limits cannot be kept by slowing down");
  }

  // Apply jerk limits: average over the window that the peak accelerations require, then check
  // torques and link speeds again.
  void smooth() {
    if (tidy_.path.pieces() == 0) return;
    const std::vector<double> peaks = peak_acceleration(result_.motion);
    double window = 0, deviation = 0;
    for (std::size_t j = 0; j < peaks.size(); ++j)
      if (std::isfinite(options_.jerk[j]))
        window = std::max(window, 2 * peaks[j] / options_.jerk[j]);
    if (!(window > 0)) return;
    window = std::max(window * (1 + 1e-9), least_window * result_.motion.breaks.back());
    for (const double a : peaks) deviation = std::max(deviation, a * window * window / 24);
    if (!std::isfinite(window)) {
      fail(TimingStatus::zero_limit, -1, 0, "a joint has to move whose jerk limit is zero");
      return;
    }
    result_.motion = moving_average(result_.motion, window);
    result_.window = window;
    result_.deviation = deviation;
    if (torque_ != nullptr) slow_down_for_torque();
    if (link_speed_ == nullptr || result_.status != TimingStatus::solved) return;
    if (const double factor = link_speed_->peak(result_.motion); factor > 1)
      stretch(result_.motion, factor);
  }

  const TimingOptions& options_;
  PathTorque* torque_;
  PathSpeed* link_speed_;
  TidyPath tidy_;
  RateLimits limits_;
  double start_speed_ = 0, end_speed_ = 0;
  bool damped_ = false;
  Grid grid_;
  ProfileSolver solver_;
  std::vector<PathTorque::Coefficients> left_, right_;  // torques at both ends of each interval
  // Reductions of the torque limits, per interval and entry.
  std::vector<double> reserve_;
  std::vector<double> speed_;  // see estimate_speeds
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

TimingResult time_path(const QuadraticPath& path, const TimingOptions& options, PathTorque* torque,
                       PathSpeed* speed) {
  Timing timing(path, options, torque, speed);
  TimingResult result = timing.run();
  if (result.status == TimingStatus::solved && result.motion.breaks.empty())
    result.motion = rest(path);
  return result;
}

PolynomialMotion brake(const std::vector<double>& q0, const std::vector<double>& v0,
                       const std::vector<double>& acceleration, const std::vector<double>& jerk,
                       double fraction) {
  // All joints move along v0: q = q0 + v0 p(t), with dp/dt from 1 to 0. a and j are the limits of
  // p.
  const int n = static_cast<int>(q0.size());
  double a = infinity, j = infinity;
  for (std::size_t k = 0; k < q0.size(); ++k) {
    if (v0[k] == 0) continue;
    a = std::min(a, fraction * std::min(acceleration[k], no_acceleration_limit) / std::abs(v0[k]));
    if (!jerk.empty()) j = std::min(j, jerk[k] / std::abs(v0[k]));
  }
  // Phases (duration, jerk) of the deceleration: one of constant a, or with ramps of duration a/j
  // around it, which are adjacent if 1 < a^2 / j.
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
  // Integrate the phases.
  PolynomialMotion motion;
  motion.n = n;
  motion.breaks = {0};
  double p = 0, dp = a == infinity ? 0 : 1, ddp = start;
  for (const auto& [duration, dddp] : phases) {
    const double c[6] = {p, dp, ddp / 2, dddp / 6, 0, 0};
    for (int power = 0; power < 6; ++power)
      for (int k = 0; k < n; ++k)
        motion.coefficients.push_back((power == 0 ? q0[k] : 0) + c[power] * v0[k]);
    p += duration * (dp + duration * (ddp / 2 + duration * dddp / 6));
    dp += duration * (ddp + duration * dddp / 2);
    ddp += duration * dddp;
    motion.breaks.push_back(motion.breaks.back() + duration);
  }
  return motion;
}

}  // namespace robosim

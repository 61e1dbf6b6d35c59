// Time parameterization: from a path q(s) to the fastest trajectory q(t) along it within velocity,
// acceleration, torque and link speed limits.
//
// The path is piecewise quadratic, q_j(s) = c0 + c1 r + c2 r^2 with r = s - breaks[i]. With u =
// d2s/dt2 and x = (ds/dt)^2
//
//   velocity      |q'_j| sqrt(x) <= v_j
//   acceleration  |q'_j u + q''_j x| <= a_j
//   torque        |a_j u + b_j x + c_j + k (damping_j q'_j sqrt(x) + friction_j sign(q'_j))| <=
//                 effort_j for all 0 <= k <= 1,
//                 a = M q', b = M q'' + C(q, q') q', c = gravity(q)
//   link speed    |dp/ds| sqrt(x) <= cap, p the link's origin in the world
//
// u is constant in each interval of a grid in s, so s(t) is piecewise quadratic and q(t) *exactly*
// piecewise quartic. In an interval the acceleration is linear in s, so limits satisfied at its
// ends are satisfied between them. So are velocity limits, since x is kept below a tangent of the
// convex bound v^2 / q'^2. Torques are checked between grid points, and their limits are tightened
// where torques exceed them. Torque limits enter the problem only if the trajectory without them
// violates one. At a corner of the path (q' jumps), the trajectory stops. timing_profile.h has the
// optimization, timing_torque.h the dynamics, timing_speed.h the link speeds.
//
// With jerk limits q(t) is replaced by its moving average over a window T = max_j 2 max|ddq_j| /
// jerk_j. Averages of velocities and accelerations stay within the limits, and d3q(t) = (ddq(t) -
// ddq(t - T)) / T is at most the jerk limit. The result is exactly piecewise quintic with
// continuous acceleration, takes T longer, and deviates from the path by at most max|ddq| T^2 / 24.
//
// Cost for a 6-DoF path of ten corners and 40 rad: 0.1 ms; 0.4 ms more to verify torques; 6 ms
// where torque limits are active.
#pragma once

#include <string>
#include <vector>

#include "planning/timing_speed.h"
#include "planning/timing_torque.h"

namespace robosim {

enum class TimingStatus : unsigned char {
  solved,
  zero_limit,  // a joint with zero velocity or acceleration limit has to move
  // A joint cannot support the robot at rest against gravity at some point of the path.
  static_torque,
  start_velocity,      // not along the path, or too fast to follow it
  end_velocity,        // not along the path, or too fast
  torque_limit,        // torque limits cannot be satisfied, at any speed
  jerk_start_velocity  // jerk limits require rest at both ends: put a brake() before
};

const char* to_string(TimingStatus status);

// Piecewise quadratic path: breaks (k + 1), coefficients (k, 3, n) in row-major order.
struct QuadraticPath {
  int n = 0;
  std::vector<double> breaks, coefficients;
  int pieces() const { return static_cast<int>(breaks.size()) - 1; }
};

// Piecewise polynomial trajectory: breaks (k + 1) [s], coefficients (k, 6, n) in powers of (t -
// breaks[i]).
struct PolynomialMotion {
  int n = 0;
  std::vector<double> breaks, coefficients;
  int pieces() const { return static_cast<int>(breaks.size()) - 1; }
  double* piece(int i) { return coefficients.data() + static_cast<std::size_t>(6 * n * i); }
  const double* piece(int i) const {
    return coefficients.data() + static_cast<std::size_t>(6 * n * i);
  }
};

struct TimingOptions {
  // Limits per column; infinite where unlimited.
  std::vector<double> velocity, acceleration;
  std::vector<double> jerk;                          // limits per column, or empty: unlimited
  std::vector<double> start_velocity, end_velocity;  // per column, or empty: at rest
  std::vector<std::string> names;                    // of the columns, for `reason`; may be empty
};

struct TimingResult {
  TimingStatus status = TimingStatus::solved;
  std::string reason;  // empty when solved
  PolynomialMotion motion;
  // Column, or for torques the degree of freedom, that `reason` is about.
  int column = -1;
  double s = 0;                 // position on the path that `reason` is about
  int intervals = 0;            // of the grid
  bool torque_limited = false;  // true if torque limits shape the trajectory
  // Factor of a final uniform slowdown to satisfy torque limits; 1 if the optimization satisfied
  // them.
  double slowdown = 1;
  // True if damping or dry friction tighten the torque limits, and the time saved if these were
  // certain: as stated, or none [s].
  bool resisted = false;
  double sooner_as_stated = 0, sooner_without = 0;
  double window = 0;  // T of the moving average [s]
  // Bound on the deviation of the averaged trajectory from the path, max over columns [rad, m].
  double deviation = 0;
};

// Compute the time-optimal trajectory of a path. torque: null if no torque is limited. speed: null
// if no link speed is limited. Infinite acceleration limits count as 1e5, since the profile needs a
// bound. A path without motion results in one piece of a millisecond at rest.
TimingResult time_path(const QuadraticPath& path, const TimingOptions& options, PathTorque* torque,
                       PathSpeed* speed = nullptr);

// Brake from q0 with velocity v0 straight to rest, all joints together. The result is the shortest
// trajectory with |ddq_j| <= fraction * acceleration_j and, where jerk is given, |d3q_j| <= jerk_j
// (starting and ending with zero acceleration). One to three pieces.
PolynomialMotion brake(const std::vector<double>& q0, const std::vector<double>& v0,
                       const std::vector<double>& acceleration, const std::vector<double>& jerk,
                       double fraction);

}  // namespace robosim

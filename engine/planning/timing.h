// Time parameterization: from a path q(s) to the fastest motion q(t) along it within velocity,
// acceleration and torque limits.
//
// The path is piecewise quadratic, q_j(s) = c0 + c1 r + c2 r^2 with r = s - breaks[i]. With u =
// d2s/dt2 and x = (ds/dt)^2
//
//   velocity      |q'_j| sqrt(x) <= v_j
//   acceleration  |q'_j u + q''_j x| <= a_j
//   torque        |a_j u + b_j x + c_j + k (damping_j q'_j sqrt(x) + friction_j sign(q'_j))| <=
//                 effort_j for all 0 <= k <= 1,
//                 a = M q', b = M q'' + C(q, q') q', c = gravity(q)
//   link's speed  |dp/ds| sqrt(x) <= cap, p its origin in the world
//
// u is constant in each interval of a grid in s, so s(t) is piecewise quadratic and q(t) *exactly*
// piecewise quartic. In an interval the acceleration is linear in s: limits that hold at its ends
// hold between. So do velocities, since x is kept below a tangent of the convex bound v^2 / q'^2.
// Torques are checked between grid points and their limits tightened where they exceed; they enter
// the problem only when the motion without them breaks one. Where the path has a corner (q' jumps),
// the motion stops. timing_profile.h has the optimization, timing_torque.h the dynamics,
// timing_speed.h the links' speeds.
//
// With jerk limits q(t) is replaced by its moving average over a window T = max_j 2 max|ddq_j| /
// jerk_j: velocities and accelerations are averages of ones within their limits, and d3q(t) =
// (ddq(t) - ddq(t - T)) / T is at most the jerk limit. It is exactly piecewise quintic with
// continuous acceleration, T longer, and leaves the path by at most max|ddq| T^2 / 24.
//
// Cost for a 6-DoF path of ten corners and 40 rad: 0.1 ms; 0.4 ms more to see that no torque
// exceeds; 6 ms where torques bind.
#pragma once

#include <string>
#include <vector>

#include "planning/timing_speed.h"
#include "planning/timing_torque.h"

namespace robosim {

enum class TimingStatus : unsigned char {
  solved,
  zero_limit,  // a joint has to move whose velocity or acceleration limit is zero
  // a joint cannot hold the robot still against gravity at some point of the path.
  static_torque,
  start_velocity,      // not along the path, or too fast to follow it
  end_velocity,        // not along the path, or too fast
  torque_limit,        // torque limits cannot be kept, not even slowly
  jerk_start_velocity  // a jerk limit needs a start and an end at rest: put a brake() before
};

const char* to_string(TimingStatus status);

// Piecewise quadratic path: breaks (k + 1), coefficients (k, 3, n) in row-major order.
struct QuadraticPath {
  int n = 0;
  std::vector<double> breaks, coefficients;
  int pieces() const { return static_cast<int>(breaks.size()) - 1; }
};

// Piecewise polynomial motion: breaks (k + 1) [s], coefficients (k, 6, n) in powers of (t -
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
  // Limits per column; infinite where there is none.
  std::vector<double> velocity, acceleration;
  std::vector<double> jerk;                          // limits per column, or empty: unlimited
  std::vector<double> start_velocity, end_velocity;  // per column, or empty: at rest
  std::vector<std::string> names;                    // of the columns, for the reason; may be empty
};

struct TimingResult {
  TimingStatus status = TimingStatus::solved;
  std::string reason;  // empty when solved
  PolynomialMotion motion;
  // The column, or for torques the degree of freedom, that the reason is about.
  int column = -1;
  double s = 0;                 // and where on the path
  int intervals = 0;            // of the grid
  bool torque_limited = false;  // whether torque limits shape the motion
  // Factor of a last uniform slowing down to keep torques; 1 when the optimization kept them.
  double slowdown = 1;
  // Whether they do so in spite of damping or dry friction; how much sooner it could end if these
  // were certain: as stated, or none [s].
  bool resisted = false;
  double sooner_as_stated = 0, sooner_without = 0;
  double window = 0;  // T of the moving average [s]
  // Bound of how far the averaged motion leaves the path, max over columns [rad, m].
  double deviation = 0;
};

// torque: null when no torque is limited; speed: null when no link's speed is. Infinite
// acceleration limits count as 1e5: the profile needs some bound. A path without motion gives one
// piece of a millisecond at rest.
TimingResult time_path(const QuadraticPath& path, const TimingOptions& options, PathTorque* torque,
                       PathSpeed* speed = nullptr);

// From q0 with velocity v0 straight to rest, all joints together: the shortest that keeps |ddq_j|
// <= fraction * acceleration_j and, where jerk is given, |d3q_j| <= jerk_j (then starting and
// ending with zero acceleration). One to three pieces.
PolynomialMotion brake(const std::vector<double>& q0, const std::vector<double>& v0,
                       const std::vector<double>& acceleration, const std::vector<double>& jerk,
                       double fraction);

}  // namespace robosim

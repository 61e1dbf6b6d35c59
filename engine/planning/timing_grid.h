// The grid of a path: its pieces tidied, cut into intervals, and the rows and bounds that limits
// put on each.
#pragma once

#include "planning/timing_motion.h"
#include "planning/timing_speed.h"

namespace robosim {

// A path without pieces that do not move, and where it has corners.
struct TidyPath {
  QuadraticPath path;
  std::vector<double> s;     // where each piece starts on the path that was given
  std::vector<char> corner;  // per break: whether q' jumps, so that the motion must stop
};

TidyPath tidy(const QuadraticPath& path);

struct Grid {
  ProfileProblem problem;
  std::vector<PathInterval> intervals;

  double right(std::size_t i) const { return intervals[i].r0 + problem.intervals[i].length; }
};

// Limits per column.
struct RateLimits {
  std::vector<double> velocity, acceleration;
};

// Cuts each piece: curved ones so that q' changes by at most a twelfth of its size, all so that no
// column moves more than `step` and that the bound of a link's speed, where it counts, is close.
// Fills in the bounds that velocities and links' speeds and the rows that accelerations give.
// speed: null when no link's is limited.
Grid make_grid(const TidyPath& tidy, const RateLimits& limits, double step, PathSpeed* speed);

// The same with some intervals cut into equal parts.
Grid refine_grid(const TidyPath& tidy, const RateLimits& limits, const Grid& grid,
                 const std::vector<int>& parts, PathSpeed* speed);

// Dry friction of limited entry k in an interval, from its rates at both ends.
PathTorque::Friction interval_friction(const PathTorque& torque, int k,
                                       const PathTorque::Coefficients& left,
                                       const PathTorque::Coefficients& right);

// What is known of damping and dry friction: anything from none to what is stated, just that, or
// that there is none.
enum class Resistance : unsigned char { uncertain, stated, none };

// The problem with the rows of the torque limits added: those of (interval, limited entry) reduced
// by reserve[interval * size + entry]. left, right: coefficients at both ends of each interval.
// speed: an estimate of ds/dt per grid point, positive, about which the square root in viscous
// damping is replaced by a line that is never kinder than it.
ProfileProblem with_torque_rows(const ProfileProblem& base, const PathTorque& torque,
                                const std::vector<PathTorque::Coefficients>& left,
                                const std::vector<PathTorque::Coefficients>& right,
                                const std::vector<double>& reserve,
                                const std::vector<double>& speed,
                                Resistance resistance = Resistance::uncertain);

}  // namespace robosim

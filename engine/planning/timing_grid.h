// Grid of a path: intervals of its pieces, and the rows and bounds that limits impose on each
// interval.
#pragma once

#include "planning/timing_motion.h"
#include "planning/timing_speed.h"

namespace robosim {

// Path without pieces that do not move, and its corners.
struct TidyPath {
  QuadraticPath path;
  std::vector<double> s;     // start of each piece on the original path
  std::vector<char> corner;  // per break, true if q' jumps, so that the trajectory must stop
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

// Divide each piece into intervals. In curved pieces q' changes by at most a twelfth of its size
// per interval. In all pieces no column moves more than `step` per interval, and the bound of an
// active link speed limit is tight. Adds the bounds from velocity and link speed limits and the
// rows from acceleration limits. speed: null if no link speed is limited.
Grid make_grid(const TidyPath& tidy, const RateLimits& limits, double step, PathSpeed* speed);

// Refine a grid: divide interval i into parts[i] equal parts.
Grid refine_grid(const TidyPath& tidy, const RateLimits& limits, const Grid& grid,
                 const std::vector<int>& parts, PathSpeed* speed);

// Dry friction of limited entry k in an interval, from its rates at both ends.
PathTorque::Friction interval_friction(const PathTorque& torque, int k,
                                       const PathTorque::Coefficients& left,
                                       const PathTorque::Coefficients& right);

// Knowledge of damping and dry friction: anything from none to the stated values, exactly the
// stated values, or exactly none.
enum class Resistance : unsigned char { uncertain, stated, none };

// Add the rows of the torque limits to a problem. The limit of entry k in interval i is reduced by
// reserve[i * size + k]. left, right: coefficients at both ends of each interval. speed: positive
// estimate of ds/dt per grid point, about which the square root in viscous damping is replaced by a
// line that never underestimates the torque.
ProfileProblem with_torque_rows(const ProfileProblem& base, const PathTorque& torque,
                                const std::vector<PathTorque::Coefficients>& left,
                                const std::vector<PathTorque::Coefficients>& right,
                                const std::vector<double>& reserve,
                                const std::vector<double>& speed,
                                Resistance resistance = Resistance::uncertain);

}  // namespace robosim

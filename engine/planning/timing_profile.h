// Fastest speed profile x(s) = (ds/dt)^2 along a path under linear constraints on (u, x), u =
// d2s/dt2.
//
// The path is divided into intervals with constant u, on which x(s) = x_i + 2 u (s - s_i) is
// linear. Constraints are rows  lower <= alpha u + beta x <= upper  on the control u and on x at
// the left end of an interval. Since x at the right end is x + 2 u delta, a row can constrain
// either end. A bound on x itself is given at both ends.
//
//   backward: K_i = the largest x_i from which a feasible u leads into [0, K_{i+1}]
//             (a linear program in two variables)
//   forward:  the largest feasible u, as long as x stays below K
//
// Pham, Pham: "A new approach to time-optimal path parameterization based on reachability analysis"
// (IEEE T-RO 2018). One addition: where forward and backward profiles cross inside an interval, or
// reach the bound on x, the interval is split at the crossing. The split is feasible since every
// constraint is linear. So on a straight segment, where the constraints do not change, the profile
// is exactly bang-coast-bang without any grid. Requires that standing still, (u, x) = (0, 0),
// satisfies all rows. Cost: about 0.2 us per interval with a dozen rows.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace robosim {

struct ProfileRow {
  double alpha, beta, lower, upper;
};

struct ProfileInterval {
  double length = 0;                                        // delta, in s
  double x_left = std::numeric_limits<double>::infinity();  // bound on x at the left end
  // Bound on x at the right end; x is linear, so it is bounded between the ends, too.
  double x_right = std::numeric_limits<double>::infinity();
  std::size_t first_row = 0, n_rows = 0;
};

struct ProfileProblem {
  std::vector<ProfileInterval> intervals;
  std::vector<char> stop;  // per grid point, one more than intervals: true if x has to be 0
  std::vector<ProfileRow> rows;
  double x_start = 0, x_end = 0;
};

// Segment of constant u inside an interval: distances sigma from the interval's left end and speeds
// v = ds/dt at both ends.
struct ProfileSegment {
  int interval = 0;
  double sigma0 = 0, sigma1 = 0, v0 = 0, v1 = 0;
};

enum class ProfileStatus : unsigned char {
  solved,
  infeasible,
  start_too_fast,
  end_too_fast,
  stuck
};

class ProfileSolver {
 public:
  // Solve the problem. On failure `where()` is the interval at which it failed.
  ProfileStatus solve(const ProfileProblem& problem);
  const std::vector<ProfileSegment>& segments() const { return segments_; }
  int where() const { return where_; }
  // Largest start speed ds/dt from which the path can be followed, after start_too_fast.
  double largest_start() const;

 private:
  struct Line {  // x = x0 + 2 u sigma
    double x0 = 0, u = 0;
    double at(double sigma) const { return x0 + 2 * u * sigma; }
  };
  // Upper boundary of the controllable set inside an interval: the lower of the two lines. A line
  // that cannot be followed is a bound only at the ends of the interval.
  struct Boundary {
    Line cap, brake;
    bool has_cap = false, reaches_end = false;
  };
  struct Range {
    double lower, upper;
  };

  Range control_range(const ProfileProblem& p, const ProfileInterval& interval, double x) const;
  bool largest_x(const ProfileProblem& p, const ProfileInterval& interval, double next,
                 Line& line) const;
  bool backward(const ProfileProblem& p);
  bool forward(const ProfileProblem& p);
  void emit(int interval, double sigma0, double x0, double sigma1, double x1);

  std::vector<double> bound_, controllable_;
  std::vector<Boundary> boundary_;
  std::vector<ProfileSegment> segments_;
  int where_ = -1;
};

}  // namespace robosim

// Inverse kinematics: configurations in which a frame E of the robot is at a goal pose, or in a
// region about it.
//
// With X_GE(q) = X_WG^-1 X_WE(q) the region is a box: lower <= (p, phi) <= upper, with p = p_GE in
// meters. For the rotation, R_GE = R_k(alpha) exp(phi'), where k is the axis of G with the widest
// range. phi_k = alpha is the angle of the twist about that axis, and the other two entries are
// phi' (whose own entry k is zero). Ranges of 2 pi or more are free. So infinite bounds on axis k
// free a tool's spin, and on all three axes its orientation. The residual r(q) is the weighted
// distance from the box.
//
// Each seed runs Levenberg's method in the tangent space, on the moving columns of q only, clamped
// to the limits:
//
//   dq = -J^T (J J^T + lambda I)^-1 r,   lambda = mu |r|^2
//
// without the columns at a limit that push outwards: a 6 x 6 system for any number of joints.
// lambda is from Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt
// method" (IEEE T-RO 2011). mu decreases after a step that reduces |r| and increases after any
// other. d phi' = J_r(phi')^-1 omega (Barfoot, "State Estimation for Robotics", eq. 7.77).
//
// A goal that is proven out of reach (ik_reach.h) is tried from few seeds, to report how near the
// frame comes. Solutions are moved by turns of 2 pi to be nearest to a reference, kept if distinct,
// and sorted, nearest first. Cost: about 1 us per iteration and 6 DoF, 8 to 20 iterations per seed.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "model/data.h"

namespace robosim {

struct IkGoal {
  int frame = 0;                         // index into Model::frames
  SE3d X_FE;                             // pose of E in that frame
  SE3d X_WG;                             // goal pose
  double lower[6] = {0, 0, 0, 0, 0, 0};  // box about G: x y z [m], rotation x y z [rad]
  double upper[6] = {0, 0, 0, 0, 0, 0};
};

struct IkOptions {
  std::vector<int> columns;          // entries of q that may move; not those of floating joints
  std::vector<double> lower, upper;  // limits of the columns, infinite where unlimited
  std::vector<double> seeds;      // (k, n_q): initial configurations, tried first and in this order
  std::vector<double> reference;  // (n_q): for distances, and for the entries of q that stay
  int random_seeds = 100;         // random seeds tried after these, spread evenly over the limits
  std::uint64_t seed = 0;         // shift of the random seeds
  int max_iterations = 60;        // per seed
  int max_solutions = 64;         // stop at this number
  double position_tolerance = 1e-6;  // [m]
  double rotation_tolerance = 1e-6;  // [rad]
  // Distance beyond the box [m], [rad] that is not reported as out of reach.
  double position_slack = 0, rotation_slack = 0;
  // Solutions closer than this in every column are the same [rad, m].
  double distinct = 1e-2;
};

struct IkSolution {
  std::vector<double> q;
  double position_error = 0, rotation_error = 0;  // distances from the box [m], [rad]
  double distance = 0;                            // from the reference, over the columns
};

struct IkResult {
  std::vector<IkSolution> solutions;  // nearest first
  IkSolution best;                    // without solutions: the closest configuration of any seed
  int iterations = 0, seeds = 0;      // totals
  // Proof that the goal is out of reach: the distance that the goal requires between a point on the
  // axis of joint `first` and a point on the axis of joint `last`, and the range of distances
  // within limits.
  struct {
    bool is_proven = false;
    double distance = 0, least = 0, most = 0;  // [m]
    std::string first, last;
  } beyond;
};

IkResult inverse_kinematics(const Model& model, const IkGoal& goal, const IkOptions& options);

}  // namespace robosim

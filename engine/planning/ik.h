// Inverse kinematics: configurations in which a frame E of the robot is at a goal pose, or in a
// region about it.
//
// With X_GE(q) = X_WG^-1 X_WE(q) the region is a box: lower <= (p, phi) <= upper, p = p_GE in
// meters and, for the rotation, R_GE = R_k(alpha) exp(phi'), k being the axis of G with the widest
// range: phi_k = alpha is the angle of the twist about it and the other two entries are phi' (whose
// own entry k is zero). Ranges of 2 pi or more are free. So infinite bounds on axis k free a tool's
// spin, on all three its orientation. r(q) is what is missing to the box, weighted.
//
// Each seed runs Levenberg's method in the tangent space, on the moving columns of q only, clamped
// to the limits:
//   dq = -J^T (J J^T + lambda I)^-1 r,   lambda = mu |r|^2,   columns at a limit that push outwards
//                                        left out
// a 6 x 6 system whatever the number of joints. Sugihara, "Solvability-unconcerned inverse
// kinematics by the Levenberg-Marquardt method" (IEEE T-RO 2011) for lambda; mu falls after a step
// that lowers |r| and rises after one that does not. d phi' = J_r(phi')^-1 omega (Barfoot, "State
// Estimation for Robotics", eq. 7.77).
//
// What is proven out of reach (ik_reach.h) is tried from few seeds, to tell how near the frame
// comes. Solutions are made the nearest to a reference among those 2 pi apart, kept when distinct,
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
  SE3d X_FE;                             // E on that frame
  SE3d X_WG;                             // the goal
  double lower[6] = {0, 0, 0, 0, 0, 0};  // box about G: x y z [m], rotation x y z [rad]
  double upper[6] = {0, 0, 0, 0, 0, 0};
};

struct IkOptions {
  std::vector<int> columns;          // entries of q that may move; not those of floating joints
  std::vector<double> lower, upper;  // their limits, infinite where there is none
  std::vector<double> seeds;         // (k, n_q): tried first, in this order
  std::vector<double> reference;     // (n_q): near to what, and where the other entries of q stay
  int random_seeds = 100;            // tried after those, spread evenly over the limits
  std::uint64_t seed = 0;            // shifts the random ones
  int max_iterations = 60;           // per seed
  int max_solutions = 64;            // stop at so many
  double position_tolerance = 1e-6;  // [m]
  double rotation_tolerance = 1e-6;  // [rad]
  // Beyond the box [m], [rad]: what is no farther is not called out of reach.
  double position_slack = 0, rotation_slack = 0;
  // Solutions closer than this in every column are one [rad, m].
  double distinct = 1e-2;
};

struct IkSolution {
  std::vector<double> q;
  double position_error = 0, rotation_error = 0;  // what is missing to the box [m], [rad]
  double distance = 0;                            // to the reference, over the columns
};

struct IkResult {
  std::vector<IkSolution> solutions;  // nearest first
  IkSolution best;                    // without solutions: the closest that any seed came
  int iterations = 0, seeds = 0;      // spent in all
  // Proven out of reach: the distance that a point of the axis of joint `first` and one of that of
  // `last` would have, and what it can be.
  struct {
    bool is_proven = false;
    double distance = 0, least = 0, most = 0;  // [m]
    std::string first, last;
  } beyond;
};

IkResult inverse_kinematics(const Model& model, const IkGoal& goal, const IkOptions& options);

}  // namespace robosim

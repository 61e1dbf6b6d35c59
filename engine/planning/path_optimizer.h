// Gradient-based optimization of a collision-free polyline: shorter, smoother, and farther from
// obstacles.
//
// The path is resampled to x_0, ..., x_N, equally far apart. The ends stay; the other points
// minimize
//
//   E = N / (2 L^2) sum |x_i+1 - x_i|^2  +  s^2 N^3 / (2 L^2) sum |x_i-1 - 2 x_i + x_i+1|^2
//       + b / (2 N) sum_i sum_pairs (max(0, c - d(x_i)) / c)^2
//
// with L the length of the input. The terms are length (1/2 for a straight line of length L),
// acceleration, and the clearance c required of each pair that is nearer than c. dd/dq is exact
// (scene/configuration_rates.h). Each step solves the Gauss-Newton system, whose matrix has
// half-bandwidth 2 n_columns, with Levenberg-Marquardt damping. Entries at an active limit stay
// there (Bertsekas, "Projected Newton methods", 1982). b grows until the clearance is reached, as
// far as the ends and the free space allow. The result is sampled at as few evenly spaced points as
// describe the path with corners rounded from middle to middle (blend.h). Without a clearance, only
// the points that matter are kept. Every edge is proven free (edge_check.h).
//
// The result is never worse than the input. The input is returned if an edge cannot be proven, if E
// at the last b has not decreased or, without a required clearance, if the path has not become
// shorter. Deterministic; the deadline merely stops the iterations.
//
// Source: the cost is that of elastic bands (Quinlan, Khatib 1993) and of CHOMP (Zucker et al.,
// IJRR 2013), minimized by a second-order method. Cost per iteration: N kinematics and distance
// queries, and 4 N n_columns^3.
#pragma once

#include <vector>

#include "planning/edge_check.h"

namespace robosim {

struct PathOptimizerOptions {
  std::vector<int> columns;          // the entries of q that move
  std::vector<double> lower, upper;  // limits, per column
  // Required distance between moving objects and everything else [m]. Parts of the robot that are
  // nearer each other at the start or the goal need only keep their distance there.
  double clearance = 0;
  double smoothness = 0.03;   // s: corners are rounded over about this part of the path
  int iterations = 60;        // total
  double deadline = 1e300;    // seconds from the call
  double resolution = 0.005;  // see edge_check.h [m]
};

struct OptimizedPath {
  std::vector<double> path;                // waypoints of n_q entries each
  bool improved = false;                   // false: the path is the input
  double cost_before = 0, cost_after = 0;  // E at the last b
  int iterations = 0;
};

// Optimize a path. path: at least two waypoints of n_q entries each, within limits, every edge
// free.
OptimizedPath optimize_path(EdgeChecker& checker, const std::vector<double>& path,
                            const PathOptimizerOptions& options);

}  // namespace robosim

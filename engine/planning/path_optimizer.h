// Makes a collision-free polyline shorter and rounder and moves it away from what it passes, by
// gradients of signed distances.
//
// The path is resampled to x_0, ..., x_N, equally far apart; the ends stay, the others minimize
//
//   E = N / (2 L^2) sum |x_i+1 - x_i|^2  +  s^2 N^3 / (2 L^2) sum |x_i-1 - 2 x_i + x_i+1|^2
//       + b / (2 N) sum_i sum_pairs (max(0, c - d(x_i)) / c)^2
//
// with L the length of the input: length (1/2 for a straight line of length L), acceleration, and
// the clearance c wanted of each pair that is nearer than that. dd/dq is exact
// (scene/configuration_rates.h). Each step solves the Gauss-Newton system, whose matrix has
// half-bandwidth 2 n_columns, damped as Levenberg and Marquardt do; entries that a limit holds stay
// there (Bertsekas, "Projected Newton methods", 1982). b grows until the clearance is there as far
// as the ends and the room allow it. Then as few evenly spread points are taken as describe the
// path with corners rounded from middle to middle (blend.h), without a clearance those that matter,
// and every edge is proven free (edge_check.h).
//
// The result is never worse than the input: where an edge cannot be proven, E at the last b has not
// fallen or, without a clearance asked for, the path has not become shorter, the input is given
// back. Deterministic; the deadline just cuts.
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
  // Wanted between what moves and everything else [m]; parts of the robot that are nearer each
  // other at the start or the goal need only stay as far apart as there.
  double clearance = 0;
  double smoothness = 0.03;   // s: corners are rounded over about this part of the path
  int iterations = 60;        // in all
  double deadline = 1e300;    // seconds from the call
  double resolution = 0.005;  // see edge_check.h [m]
};

struct OptimizedPath {
  std::vector<double> path;                // waypoints of n_q entries each
  bool improved = false;                   // false: the path is the input
  double cost_before = 0, cost_after = 0;  // E at the last b
  int iterations = 0;
};

// path: at least two waypoints of n_q entries each, within limits, every edge free.
OptimizedPath optimize_path(EdgeChecker& checker, const std::vector<double>& path,
                            const PathOptimizerOptions& options);

}  // namespace robosim

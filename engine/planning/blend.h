// Blends at the corners of a polyline: quadratic Bezier curves, as large as they are free of
// collision.
//
// At a corner w between unit directions u (in) and v (out) the blend of size d runs from w - d u to
// w + d v:
//
//   q(s) = w - d u + u s + (v - u) s^2 / (4 d),  0 <= s <= 2 d
//
// so dq/ds is u at its start and v at its end, as on the straight parts, where s is the length in
// the metric. The path is C1, piecewise quadratic, and |dq/ds| <= 1 in the metric. The point
// nearest to the corner is q(d) = w + d (v - u) / 4. A reversal (v = -u) slows to dq/ds = 0 halfway
// between the start of the blend and the corner, and needs no special case. d is at most half of
// either neighboring edge. It is found by bisection of the proof that the curve is free
// (edge_check.h).
//
// At corners of smooth paths, where points follow each other at nearly equal distances, such blends
// would leave short straight parts between them, over which the acceleration of a trajectory
// chatters. There the curve goes from the middle of an edge, a before the corner, to the middle of
// the next, b behind it,
//
//   q(w) = w - a u + u w + (b v / a - u) w^2 / (4 a),  0 <= w <= 2 a
//
// a uniform quadratic B-spline of the points. At its end |dq/dw| is b / a, so |dq/ds| is larger by
// this factor from there on. It touches each edge in the middle, as blends that take half of an
// edge do. Corners count as smooth where neighboring edges differ by at most a fifth and turn by at
// most 45 degrees.
#pragma once

#include <vector>

#include "planning/edge_check.h"

namespace robosim {

struct BlendOptions {
  std::vector<int> columns;     // the entries of q that move
  std::vector<double> weights;  // of the metric, per column; empty: all 1
  double resolution = 0.005;    // see edge_check.h [m]
  double largest = 1e300;       // upper bound of d, in the metric
  int bisections = 5;
};

// Path q[columns](s) = sum_j coefficients[i][j] (s - breaks[i])^j on piece i. A single waypoint, or
// equal waypoints, have no piece.
struct BlendedPath {
  std::vector<double> breaks;        // (k + 1), from 0
  std::vector<double> coefficients;  // (k, 3, columns)
  // s of corners that no blend of 1e-6 or more clears; there the path is only C0.
  std::vector<double> stops;
};

// Blend the corners of a path. path: waypoints of n_q entries each, every edge free.
BlendedPath blend_corners(EdgeChecker& checker, const std::vector<double>& path,
                          const BlendOptions& options);

}  // namespace robosim

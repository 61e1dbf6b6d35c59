// Shorten a collision-free polyline: seeded random shortcuts and their one-joint variants, then
// vertex removal.
//
// One iteration draws some candidates. A candidate is two points of the path, uniform by length,
// between which the path is replaced
//
// - by the straight line (every joint at once), or
// - in one entry of q only, by its linear interpolation, while the others stay as they are (partial
//   shortcut: Geraerts, Overmars, "Creating high-quality paths for motion planning", IJRR 2007).
//
// The candidate that would shorten the path most is tried, and accepted if every edge it adds seems
// free (lazy_edges.h). Lengths cost nothing compared with edge checks, so few tries suffice. In the
// end the edges of the path are proven. If one of them touches, shortening restarts without that
// edge, with everything known of the other edges. After several restarts each edge is proven as
// soon as it is accepted.
//
// Shortening ends after `iterations`, or once `patience` iterations in a row gained less than 1 %
// of the length together. Vertices that are not needed, since an edge between others is free, are
// removed at the start and at the end. The result depends on the seed and these numbers only. The
// deadline merely stops the iterations, and the path at that time is valid.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/edge_check.h"

namespace robosim {

struct ShortcutOptions {
  std::vector<int> columns;     // the entries of q that move
  std::vector<double> weights;  // of the metric, per column; empty: all 1
  std::uint64_t seed = 0;
  int iterations = 100, patience = 15;
  double deadline = 1e300;    // seconds from the call
  double resolution = 0.005;  // see edge_check.h [m]
};

// Shorten a path. path: waypoints of n_q entries each, every edge free. Returns the shorter path
// between the same ends.
std::vector<double> shortcut(EdgeChecker& checker, const std::vector<double>& path,
                             const ShortcutOptions& options);

}  // namespace robosim

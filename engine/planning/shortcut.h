// Makes a collision-free polyline shorter: seeded random shortcuts and their one-joint variants,
// then vertex removal.
//
// One iteration draws some candidates, each two points of the path, uniformly by length, between
// which it is replaced
//   by the straight line (every joint at once), or
//   in one entry of q only, by its linear interpolation, the others going on as before
//   (partial shortcut: Geraerts, Overmars, "Creating high-quality paths for motion planning", IJRR
//     2007),
// and tries the one that would shorten the path most: it is taken when every new edge seems free
// (lazy_edges.h). Lengths cost nothing beside that, so few tries go far. What the path is made of
// in the end is proven; where an edge then touches it all begins anew without that edge, with what
// is known of the others, and after some times proves each edge as it takes it. It ends after
// `iterations`, or once `patience` iterations in a row gained less than 1 % of the length together.
// Vertices that two free edges can do without go at the start and at the end. The result depends on
// the seed and these numbers only; the deadline just cuts, and what there is then is a valid path.
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

// path: waypoints of n_q entries each, every edge free; returns the shorter one between the same
// ends.
std::vector<double> shortcut(EdgeChecker& checker, const std::vector<double>& path,
                             const ShortcutOptions& options);

}  // namespace robosim

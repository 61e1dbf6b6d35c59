// The pairs of pieces that may be the nearest of two bodies that are apart: their packed trees
// descended together, as near_descent.h does it, with a limit that falls to the least distance
// found.
//
// Distances of triangles are exact up to rounding: the least of each pair of edges, and of each
// corner from the other's face, eight pairs of triangles at once (Ericson, "Real-Time Collision
// Detection", 2005, ch. 5.1). The points found are points of the triangles, however badly the
// parameters of edges that are all but parallel are known, so their distance is an upper bound; and
// the planes across the line between them separate the triangles by a lower bound. Where these
// points are the nearest, both are the distance. Of pairs that share the least distance, up to
// rounding, as those about an edge or a corner do, the one with the lowest numbers is put to the
// caller in the end; and those whose two bounds are not close enough, as of what all but touches,
// each.
//
// Any direction separates by at most the distance. That of the nearest pair so far leaves little to
// look at: boxes and triangles are compared along it, too. Where the caller knows one to begin
// with, as that between hulls, the farthest corners of either body along it are found first, each
// tree by itself. Of bodies that are nearest there, only what reaches as far as these can matter,
// which are some leaves: then no two trees are descended together.
//
// For bodies that overlap, the descent ends with a pair that overlaps.
#pragma once

#include "base/constants.h"
#include "base/function_ref.h"
#include "base/isa.h"
#include "geometry/bodies/near_descent.h"
#include "spatial/se3.h"

namespace robosim {

// The nearest pair so far.
struct NearestSoFar {
  double limit = infinity;  // no less than the least distance
  Vec3d n;                  // in A's frame a direction from A to B, unit; zero where there is none
  bool is_alone_B = false;  // B is one shape...
  double lowest_B = 0;      // ... and this its least coordinate along n
  bool is_swapped = false;  // pieces of B are compared before those of A

  // True if the first of two pairs has the lower numbers.
  bool comes_first(int a, int b, int other_a, int other_b) const {
    if (is_swapped ? b != other_b : a == other_a) return b < other_b;
    return a < other_a;
  }
};

// visit(piece of A, piece of B) for pairs that may be nearer than known.limit, which it may lower,
// together with n; stops when it returns true, and says so. A is a compound; n may be known to
// begin with.
bool descend_closest(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack,
                     NearestSoFar& known, FunctionRef<bool(int, int)> visit);

namespace detail {

using DescendClosest = bool(const PackedBody& A, const PackedBody& B, const SE3d& X_AB,
                            double slack, NearestSoFar& known, FunctionRef<bool(int, int)> visit);

template <Isa isa>
DescendClosest& compiled_descend_closest();

}  // namespace detail

}  // namespace robosim

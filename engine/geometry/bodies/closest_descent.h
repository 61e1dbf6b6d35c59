// Pairs of pieces that may be the nearest ones of two bodies apart. The packed trees are descended
// together, as in near_descent.h, with a limit that falls to the least distance found.
//
// Distances of triangles are exact up to rounding: the least distance of each pair of edges, and of
// each corner from the other face, for eight pairs of triangles at once (Ericson, "Real-Time
// Collision Detection", 2005, ch. 5.1). The points found lie on the triangles, even where the
// parameters of almost parallel edges are inaccurate, so their distance is an upper bound. The
// planes across the line between them separate the triangles by a lower bound. If these points are
// the nearest, both bounds are the distance.
//
// Several pairs may share the least distance up to rounding, as around an edge or a corner. Of
// these, the pair with the lowest numbers is passed to visit at the end. Pairs whose two bounds are
// not close enough, as for triangles that almost touch, are all passed to visit.
//
// The gap along any direction is at most the distance. The direction of the nearest pair so far
// excludes most others, so boxes and triangles are also compared along it. If the caller knows a
// direction in advance, as between the hulls, the farthest corners of both bodies along it are
// found first, in each tree by itself. If the bodies are nearest there, only leaves that reach as
// far as these corners matter. Then no two trees are descended together.
//
// For bodies that overlap, the descent ends with a pair that overlaps.
#pragma once

#include "base/constants.h"
#include "base/function_ref.h"
#include "base/isa.h"
#include "geometry/bodies/near_descent.h"
#include "spatial/se3.h"

namespace robosim {

// Nearest pair so far.
struct NearestSoFar {
  double limit = infinity;  // upper bound on the least distance
  Vec3d n;                  // unit vector from A to B, in A's frame; zero if unknown
  bool is_alone_B = false;  // true if B is one shape...
  double lowest_B = 0;      // ... with this least coordinate along n
  bool is_swapped = false;  // true if pieces of B are compared before those of A

  // True if the first of two pairs has the lower numbers.
  bool comes_first(int a, int b, int other_a, int other_b) const {
    if (is_swapped ? b != other_b : a == other_a) return b < other_b;
    return a < other_a;
  }
};

// Call visit(piece of A, piece of B) for pairs that may be nearer than known.limit. visit may lower
// the limit and set n with it. Stop and return true when visit returns true. A is a compound; n may
// be known in advance.
bool descend_closest(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack,
                     NearestSoFar& known, FunctionRef<bool(int, int)> visit);

namespace detail {

using DescendClosest = bool(const PackedBody& A, const PackedBody& B, const SE3d& X_AB,
                            double slack, NearestSoFar& known, FunctionRef<bool(int, int)> visit);

template <Isa isa>
DescendClosest& compiled_descend_closest();

}  // namespace detail

}  // namespace robosim

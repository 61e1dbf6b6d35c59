// The pairs of pieces of two bodies that may be nearer to each other than a limit: their packed
// trees descended together, eight boxes or eight triangles against one at a time. With a limit of
// zero, those that may overlap.
//
// Boxes are compared in the frames of both bodies, as what they are in each: by six of the fifteen
// axes that can separate two oriented boxes; the other nine leave out a tenth of the nodes and cost
// as much (van den Bergen, "Efficient collision detection of complex deformable models using AABB
// trees", 1997). Triangles are compared by their normals and the products of their edges, and with
// the box of another piece by the same (Gottschalk, Lin and Manocha, "OBBTree: a hierarchical
// structure for rapid interference detection", 1996). Those of a leaf whose box is the larger one
// are compared with the other's box first: large triangles leave most of their own box empty.
//
// This only ever proves that two are farther apart than the limit. What no axis separates is put to
// the caller, who has the pieces themselves compared: which axes are tried changes nothing but
// time.
//
// An axis separates where the two intervals on it are farther apart than limit + slack, times the
// axis' length. Both are those of all corners on the axis as it was rounded, so that they hold
// whatever rounding made of it, also of needles and of edges that are all but parallel. They are
// off by a few units in the last place of the coordinates, in all less than 1e-14 of these; `slack`
// is to be more than that.
//
// Children that may be near are visited deepest first, by the axes of both boxes, for their size
// and distance; then nearest first. Bodies that overlap have some ten nodes opened.
#pragma once

#include "base/function_ref.h"
#include "base/isa.h"
#include "geometry/bodies/packed_tree.h"
#include "spatial/se3.h"

namespace robosim {

// A body's packed tree, wherever it is.
struct PackedBody {
  const PackedTree::Node* nodes;
  const PackedTree::Triangles* triangles;
};

// visit(piece of A, piece of B) for pairs that may be nearer than limit >= 0, which it may lower;
// stops when it returns true, and says so.
bool descend_near(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack,
                  const double& limit, FunctionRef<bool(int, int)> visit);

namespace detail {

using DescendNear = bool(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack,
                         const double& limit, FunctionRef<bool(int, int)> visit);

template <Isa isa>
DescendNear& compiled_descend_near();

}  // namespace detail

}  // namespace robosim

// Pairs of pieces of two bodies that may be nearer to each other than a limit. Their packed trees
// are descended together, and eight boxes or eight triangles are compared with one at a time. A
// limit of zero finds the pairs that may overlap.
//
// Boxes are compared along the axes of both bodies' frames. These are six of the fifteen axes that
// can separate two oriented boxes. The other nine would exclude a tenth of the nodes and cost as
// much (van den Bergen, "Efficient collision detection of complex deformable models using AABB
// trees", 1997). Triangles are compared along their normals and the products of their edges, and
// likewise with the box of another piece (Gottschalk, Lin and Manocha, "OBBTree: a hierarchical
// structure for rapid interference detection", 1996). Triangles of a leaf with the larger box are
// compared with the other box first, since large triangles leave most of their own box empty.
//
// The descent only proves that two pieces are farther apart than the limit. Pairs that no axis
// separates are passed to the caller, who compares the pieces themselves. The choice of axes thus
// changes only the time.
//
// An axis separates if the two intervals on it are farther apart than limit + slack, times the
// length of the axis. Each interval contains all corners, projected on the axis as it was rounded.
// The intervals are therefore valid whatever the rounding of the axis, even for needles and almost
// parallel edges. Their error is a few units in the last place of the coordinates, in total less
// than 1e-14 of the coordinates; `slack` must exceed that.
//
// Children that may be near are visited deepest first, where the depth along the axes of both boxes
// is relative to their size and distance; then nearest first. For bodies that overlap, about ten
// nodes are opened.
#pragma once

#include "base/function_ref.h"
#include "base/isa.h"
#include "geometry/bodies/packed_tree.h"
#include "spatial/se3.h"

namespace robosim {

// Packed tree of a body, wherever it is stored.
struct PackedBody {
  const PackedTree::Node* nodes;
  const PackedTree::Triangles* triangles;
};

// Call visit(piece of A, piece of B) for pairs that may be nearer than limit >= 0, which visit may
// lower. Stop and return true when visit returns true.
bool descend_near(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack,
                  const double& limit, FunctionRef<bool(int, int)> visit);

namespace detail {

using DescendNear = bool(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack,
                         const double& limit, FunctionRef<bool(int, int)> visit);

template <Isa isa>
DescendNear& compiled_descend_near();

}  // namespace detail

}  // namespace robosim

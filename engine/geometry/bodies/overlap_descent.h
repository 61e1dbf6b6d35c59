// Whether any two pieces of two bodies meet: their packed trees descended together, eight boxes or eight triangles against one at a time.
//
// Boxes of either body are compared as what they are in the other's frame, oriented boxes, by the fifteen axes that can separate two of them;
// triangles by the normals of both and the products of their edges, and against the box of another piece by the same (Gottschalk, Lin and
// Manocha, "OBBTree: a hierarchical structure for rapid interference detection", 1996). This only ever proves that two are apart: what no axis separates is
// put to the caller, who has the pieces themselves compared. So it is nothing but time that depends on the axes that are tried.
//
// An axis separates where the two intervals on it are farther apart than `slack` times the axis' length (or a longer sum of its sides). Both intervals are those of
// all corners on the axis as it was rounded, so that they hold whatever rounding made of it, also of needles and of edges that are all but
// parallel; they are off by a few units in the last place of the coordinates, and `slack` is far more.
//
// Of the children that may overlap those whose middles are nearest to each other come first: bodies that overlap are found so after some
// tens of boxes.
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

// meet(piece of A, piece of B) for pairs that may meet, until it says that they do; whether it did. slack [m]: see above.
bool any_pieces_meet(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack, FunctionRef<bool(int, int)> meet);

namespace detail {

using AnyPiecesMeet = bool(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack, FunctionRef<bool(int, int)> meet);

template <Isa isa>
AnyPiecesMeet& any_pieces_meet();

}  // namespace detail

}  // namespace robosim

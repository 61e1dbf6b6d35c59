// Contact manifolds of compound bodies: one for every pair of pieces that is near, about the witness that contacts() gives of the pair. So
// it has an outward normal of the surface where a one-sided triangle takes part (compound_query.h).
//
// Triangles share sides and corners, and what touches one of these touches several of them: such a point is there once, of the triangle whose face
// has the normal or else of the first. Triangles that are left without points have no manifold. Cost: beside the manifolds O(points^2), with a
// factor as of sorting.
#pragma once

#include <vector>

#include "geometry/bodies/compound_query.h"
#include "geometry/manifolds/manifold.h"

namespace robosim {

struct PieceManifold {
  Manifold manifold;
  int piece_A = -1, piece_B = -1;
};

// Of the pairs that contacts() names, added to `out` in the order of their numbers.
void contact_manifolds(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB, std::vector<PieceManifold>& out);

}  // namespace robosim

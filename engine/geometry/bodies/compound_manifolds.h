// Contact manifolds of compound bodies: one for every pair of pieces that is near, about the witness that contacts() gives of the pair. So
// it has an outward normal of the surface where a one-sided triangle takes part (compound_query.h). What lies flat on a triangle and reaches beyond a
// side of it touches the triangle behind that side as well, there alone and along the first one's normal: the first one has these points.
#pragma once

#include <vector>

#include "geometry/bodies/compound_query.h"
#include "geometry/manifolds/manifold.h"

namespace robosim {

struct PieceManifold {
  Manifold manifold;
  int piece_A = -1, piece_B = -1;
};

// Of the pairs that contacts() names but for such neighbours, added to `out` in the order of their numbers.
void contact_manifolds(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB, std::vector<PieceManifold>& out);

}  // namespace robosim

// Ray casts at a body of many pieces. The tree is descended along the ray, nearer boxes first, and
// pieces are tested at the leaves (ray_cast.h). O(log n) for surfaces that are not too crumpled;
// nothing is allocated. Triangles are hit from either side.
#pragma once

#include "geometry/bodies/compound.h"
#include "geometry/casts/ray_cast.h"

namespace robosim {

struct PieceRayHit {
  RayHit hit;
  int piece = -1;  // -1 without a hit; the lowest number of several at the same t
};

// Find the first point of the ray, with t <= max_t, that belongs to a piece.
PieceRayHit ray_cast(const Compound& compound, const SE3d& X_WB, const Ray& ray,
                     double max_t = std::numeric_limits<double>::infinity());

}  // namespace robosim

// Where a ray first meets a body of many pieces: the tree is descended along the ray, nearer boxes
// first, and pieces are asked at the leaves (ray_cast.h). O(log n) for surfaces that are not too
// crumpled; nothing allocates. Triangles are met from either side.
#pragma once

#include "geometry/bodies/compound.h"
#include "geometry/casts/ray_cast.h"

namespace robosim {

struct PieceRayHit {
  RayHit hit;
  int piece = -1;  // -1 without a hit; of several at the same t the one with the lowest number
};

// The first point of the ray, with t <= max_t, that belongs to a piece.
PieceRayHit ray_cast(const Compound& compound, const SE3d& X_WB, const Ray& ray,
                     double max_t = std::numeric_limits<double>::infinity());

}  // namespace robosim

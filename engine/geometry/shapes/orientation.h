// Exact orientation predicate: the side of a plane on which a point lies.
#pragma once

#include "spatial/vec3.h"

namespace robosim {

// Sign of (b - a) x (c - a) . (d - a): 1 if d is on the side to which the normal of the triangle a,
// b, c points, 0 if the four points are exactly coplanar, -1 otherwise. Computed in floating point
// with an error bound, and by exact expansions if the bound does not decide. Source: Shewchuk,
// "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997.
int orientation(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d);

}  // namespace robosim

// On which side of a plane a point lies, with the exact sign.
#pragma once

#include "spatial/vec3.h"

namespace robosim {

// The sign of (b - a) x (c - a) . (d - a): 1 when d is on the side to which the normal of the
// triangle a, b, c points, 0 when the four points are exactly coplanar, -1 otherwise. Floating
// point with an error bound first, exact expansions when that cannot tell. Source: Shewchuk,
// "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997.
int orientation(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d);

}  // namespace robosim

// Smallest ball around points.
#pragma once

#include <vector>

#include "geometry/bounds.h"

namespace robosim {

// Smallest enclosing ball to about 1e-9 of its radius; contains every point up to rounding.
// Expected O(n). Source: Welzl, "Smallest enclosing disks (balls and ellipsoids)", 1991, as nested
// loops over the points on the surface.
Ball smallest_ball(std::vector<Vec3d> points);

}  // namespace robosim

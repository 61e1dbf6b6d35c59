// The convex hull of points in space, by quickhull.
#pragma once

#include <array>
#include <vector>

#include "spatial/vec3.h"

namespace robosim {

// Triangles (indices into points, counter-clockwise from outside) of the hull's surface. Sidedness
// is decided exactly, so the surface is always closed and convex. Points inside are not among its
// vertices, nor are all but a few of those on its faces and edges; equal points count once. Needs
// points that are not coplanar: throws InputError when they are thinner than 1e-9 of their extent.
// O(n log n) as a rule. Source: Barber, Dobkin, Huhdanpaa, "The quickhull algorithm for convex
// hulls", 1996.
std::vector<std::array<int, 3>> convex_hull(const std::vector<Vec3d>& points);

}  // namespace robosim

// Convex hull of points in space by quickhull.
#pragma once

#include <array>
#include <vector>

#include "spatial/vec3.h"

namespace robosim {

// Triangles of the hull's surface, as indices into points, counter-clockwise from outside.
// Sidedness is decided exactly, so the surface is always closed and convex. Its vertices exclude
// points inside and most points on its faces and edges; equal points count once. Throws InputError
// if the points are thinner than 1e-9 of their extent, as the points must not be coplanar. Usually
// O(n log n). Source: Barber, Dobkin, Huhdanpaa, "The quickhull algorithm for convex hulls", 1996.
std::vector<std::array<int, 3>> convex_hull(const std::vector<Vec3d>& points);

}  // namespace robosim

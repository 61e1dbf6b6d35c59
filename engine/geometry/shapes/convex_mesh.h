// Convex polyhedron: vertices, outward faces and vertex adjacency.
#pragma once

#include <array>
#include <vector>

#include "geometry/bounds.h"
#include "geometry/shapes/hull_polygons.h"
#include "geometry/shapes/support_table.h"
#include "spatial/vec3.h"

namespace robosim {

struct ConvexMesh {
  std::vector<Vec3d> vertices;            // [m], on the hull's surface
  std::vector<std::array<int, 3>> faces;  // triangles, counter-clockwise seen from outside
  // Neighbors of vertex i: neighbors[neighbor_begin[i] .. neighbor_begin[i + 1]).
  std::vector<int> neighbor_begin, neighbors;
  HullPolygons polygons;            // merged coplanar triangles
  Vec3d centroid;                   // of the volume [m]
  double volume = 0;                // [m^3]
  Ball ball;                        // smallest ball around the vertices
  LazySupportTable support_table;   // of the vertices, for support queries and SIMD lanes
  Lazy<std::vector<double>> cores;  // radii of balls inside, of scene/collision_scene.cpp
};

// Convex hull of points in any order. Drops points inside the hull, repeated points, and most
// points on its faces. The hull of the vertices of a mesh is that mesh. Throws InputError if there
// are fewer than four points, if a coordinate is not finite or beyond 1e6 m, or if the points are
// flat: thinner than 1e-9 of their extent.
ConvexMesh convex_hull_mesh(const std::vector<Vec3d>& points);

// Mesh from vertices and the outward triangles of its surface. The result is the hull of the
// vertices; the faces serve as a check. Throws InputError if the faces do not form a closed convex
// surface with outward normals (volume to 1e-6).
ConvexMesh convex_mesh(const std::vector<Vec3d>& vertices,
                       const std::vector<std::array<int, 3>>& faces);

}  // namespace robosim

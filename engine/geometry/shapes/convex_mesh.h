// A convex polyhedron: vertices, outward faces and vertex adjacency.
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
  HullPolygons polygons;            // triangles in one plane put together
  Vec3d centroid;                   // of the volume [m]
  double volume = 0;                // [m^3]
  Ball ball;                        // smallest ball around the vertices
  LazySupportTable support_table;   // of the vertices, for queries in lanes
  Lazy<std::vector<double>> cores;  // radii of balls within, of a scene (scene/collision_scene.cpp)
};

// The convex hull of points in any order; points inside it, repeated ones and nearly all on its
// faces are dropped. The hull of the vertices of a mesh is that mesh. Throws InputError when there
// are fewer than four points, a coordinate is not finite or beyond 1e6 m, or the points are flat:
// thinner than 1e-9 of their extent.
ConvexMesh convex_hull_mesh(const std::vector<Vec3d>& points);

// A mesh from vertices and the outward triangles of its surface. The mesh is that of the vertices'
// hull; the faces are a check. Throws InputError when the surface is not a closed convex one with
// outward faces (volume to 1e-6).
ConvexMesh convex_mesh(const std::vector<Vec3d>& vertices,
                       const std::vector<std::array<int, 3>>& faces);

}  // namespace robosim

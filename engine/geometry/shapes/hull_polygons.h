// The flat faces of a convex mesh: triangles that lie in one plane, put together, with their
// outline.
//
// What is flat in a drawing is so in a file only to its digits (float32: 1e-7). So triangles join
// the largest of their neighborhood as long as their corners are within 1e-6 of the mesh's size of
// its plane. Where a point of such a face is, its own triangle says.
#pragma once

#include <vector>

#include "geometry/shapes/patch.h"

namespace robosim {

struct HullPolygons {
  // Of polygon i: corners[begin[i].corner .. begin[i + 1].corner) counter-clockwise from outside,
  // triangles (of ConvexMesh::faces) likewise, the largest first. index: its number among faces,
  // its first half-edge in ConvexMesh::neighbors.
  struct Begin {
    int corner, triangle, index;
  };
  std::vector<Begin> begin;
  std::vector<int> corners, triangles;
  // From a corner to the next: the edge's number, its half-edge from its lower vertex.
  std::vector<int> sides;
  // Those at vertex v, on its outline or inside: at[at_begin[v] .. at_begin[v + 1]).
  std::vector<int> at_begin, at;
};

// Of a mesh with faces and adjacency; O(n log n) in its triangles.
HullPolygons hull_polygons(const ConvexMesh& mesh);

// The polygon at the vertex `farthest` along n that turns most towards n, of those that also hold
// the farthest edge, where one is level.
void hull_patch(const ConvexMesh& mesh, const Vec3d& n, int farthest, Patch& out);

// Of a mesh rounded by `rounding`: how far the line from a vertex along n stays inside of it. The
// face at the vertex under whose rounding it comes out, and its normal; false where it comes out
// round an edge or the vertex.
bool leave_hull_over_face(const ConvexMesh& mesh, int vertex, double rounding, const Vec3d& n,
                          double& length, Vec3d& normal);

// Where the line through p along n meets a polygon: a point of the triangle's plane there, and its
// unit outward normal.
Vec3d hull_polygon_at(const ConvexMesh& mesh, int polygon, const Vec3d& p, const Vec3d& n,
                      Vec3d& normal);

}  // namespace robosim

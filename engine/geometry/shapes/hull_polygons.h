// Flat faces of a convex mesh: merged coplanar triangles with their outline.
//
// A face that is flat in a drawing is flat in a file only up to the digits of the file (float32:
// 1e-7). So triangles join the largest triangle near them if their corners lie in its plane to
// within 1e-6 of the mesh's size. The position of a point on such a face is defined by the point's
// own triangle.
#pragma once

#include <vector>

#include "geometry/shapes/patch.h"

namespace robosim {

struct HullPolygons {
  // Polygon i has corners[begin[i].corner .. begin[i + 1].corner), counter-clockwise from outside,
  // and likewise triangles (of ConvexMesh::faces), the largest first. index: the face's feature
  // number, which is its first half-edge in ConvexMesh::neighbors.
  struct Begin {
    int corner, triangle, index;
  };
  std::vector<Begin> begin;
  std::vector<int> corners, triangles;
  // Edge from a corner to the next: the edge's number, which is its half-edge from its lower
  // vertex.
  std::vector<int> sides;
  // Polygons with vertex v on the outline or inside: at[at_begin[v] .. at_begin[v + 1]).
  std::vector<int> at_begin, at;
};

// Polygons of a mesh with faces and adjacency; O(n log n) in its triangles.
HullPolygons hull_polygons(const ConvexMesh& mesh);

// Patch of the polygon at the vertex `farthest` along n that turns most towards n. If an edge at
// the vertex is level, polygons with that edge are preferred.
void hull_patch(const ConvexMesh& mesh, const Vec3d& n, int farthest, Patch& out);

// Follow the line from a vertex along n out of a mesh rounded by `rounding`. If the line leaves
// over a face at the vertex, return true and set the length inside and the face's normal. Returns
// false if the line leaves over an edge or the vertex.
bool leave_hull_over_face(const ConvexMesh& mesh, int vertex, double rounding, const Vec3d& n,
                          double& length, Vec3d& normal);

// Intersection of the line through p along n with a polygon. Returns a point of the intersected
// triangle's plane, and sets the triangle's unit outward normal.
Vec3d hull_polygon_at(const ConvexMesh& mesh, int polygon, const Vec3d& p, const Vec3d& n,
                      Vec3d& normal);

}  // namespace robosim

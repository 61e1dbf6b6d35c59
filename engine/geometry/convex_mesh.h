// A convex polyhedron: vertices, outward faces and vertex adjacency (for hill-climbing support queries).
#pragma once

#include <array>
#include <vector>

#include "spatial/vec3.h"

namespace robosim {

struct ConvexMesh {
  std::vector<Vec3d> vertices;            // [m]
  std::vector<std::array<int, 3>> faces;  // triangles, counter-clockwise seen from outside
  // Neighbours of vertex i: neighbours[neighbour_begin[i] .. neighbour_begin[i + 1]).
  std::vector<int> neighbour_begin, neighbours;
  Vec3d centroid;  // of the volume [m]
};

}  // namespace robosim

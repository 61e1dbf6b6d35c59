// Features of a convex polyhedron: the vertex, edge or face that a point lies on.
#pragma once

#include "geometry/local_surface.h"
#include "geometry/shapes/convex_mesh.h"

namespace robosim {

// Surface of the hull about its point p, which is accurate to `precision` relative to the hull's
// size. n is an outward normal at p to about 1e-6, and `farthest` the vertex farthest along n.
// Coplanar triangles form one face. Feature numbers: a vertex has its own, an edge that of its
// half-edge in `neighbors` from its lower vertex, a face that of the first half-edge of its
// outline.
LocalSurface hull_surface(const ConvexMesh& mesh, const Vec3d& p, const Vec3d& n, int farthest,
                          double precision);

}  // namespace robosim

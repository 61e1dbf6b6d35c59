// Which vertex, edge or face of a convex polyhedron a point lies on.
#pragma once

#include "geometry/local_surface.h"
#include "geometry/shapes/convex_mesh.h"

namespace robosim {

// About a point p of the hull, to `precision` of its size, where n is, to about 1e-6, an outward
// normal; `farthest` is the vertex farthest along n. Triangles in one plane make one face. Numbers:
// a vertex has its own, an edge that of its half-edge in `neighbors` from its lower vertex, a face
// that of the first half-edge of its outline.
LocalSurface hull_surface(const ConvexMesh& mesh, const Vec3d& p, const Vec3d& n, int farthest,
                          double precision);

}  // namespace robosim

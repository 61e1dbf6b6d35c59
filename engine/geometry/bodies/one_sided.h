// A convex shape S against one triangle T of a one-sided surface, and two such triangles against
// each other.
//
// Apart, the signed distance is that of the two sets. When S meets T, it is minus the length of the
// shortest way out along an outward normal of the surface at T (triangle_surface.h): where the
// shortest way out m of all is such a normal, it is m; else the depth
//
//   t(n) = max { t : (S + t n) meets T }
//
// along the nearest normal n to m. On a face this is what the shape reaches below the face, within
// the prism under T. So an edge between coplanar triangles gives no sideways normal, and an edge or
// a vertex that sticks out none beyond those of its faces. (S + t n) and T are convex, so their
// signed distance is a convex function of t: Newton's method from beyond T ends at t(n) from one
// side. A half-space is met by the triangle's lowest vertex.
#pragma once

#include "geometry/bodies/triangle_surface.h"
#include "geometry/query.h"

namespace robosim {

// A = S, B = T.
Witness one_sided_distance(const Shape& S, const SE3d& X_WS, const Shape& T,
                           const TriangleSurface& surface, int t, const SE3d& X_WT);

// Both one-sided: when they meet, the shallower of the ways out along normals of either.
Witness one_sided_distance(const Shape& A, const TriangleSurface& surface_A, int a,
                           const SE3d& X_WA, const Shape& B, const TriangleSurface& surface_B,
                           int b, const SE3d& X_WB);

// S leaves T along n_W, a unit vector that points from T to S: t(n), the points, and the normal
// -n_W from S to T.
struct WayOut {
  Witness witness;
  Witness touch;  // of S moved by t n_W: what touches at the end of the way
  // False where S moved along n_W does not meet T: then t is its depth below T's plane.
  bool found = true;
};
WayOut way_out(const Shape& S, const SE3d& X_WS, const Shape& T, const SE3d& X_WT,
               const Vec3d& n_W);

}  // namespace robosim

// Signed distance of a convex shape S and a triangle T of a one-sided surface, or of two such
// triangles.
//
// If S and T are apart, the signed distance is that of the two sets. If S intersects T, it is minus
// the length of the shortest translation that separates S from T along an outward normal of the
// surface at T (triangle_surface.h). If the direction m of the shortest translation of all is such
// a normal, the shortest translation counts. Otherwise the length is the depth
//
//   t(n) = max { t : (S + t n) intersects T }
//
// along the normal n nearest to m. On a face, t(n) is the depth of the shape below the face, within
// the prism under T. So an edge between coplanar triangles has no sideways normal, and a convex
// edge or vertex has no normal beyond those of its faces. (S + t n) and T are convex, so their
// signed distance is a convex function of t: Newton's method from beyond T converges to t(n) from
// one side. A half-space touches the triangle's lowest vertex.
#pragma once

#include "geometry/bodies/triangle_surface.h"
#include "geometry/query.h"

namespace robosim {

// Signed distance of A = S and B = T.
Witness one_sided_distance(const Shape& S, const SE3d& X_WS, const Shape& T,
                           const TriangleSurface& surface, int t, const SE3d& X_WT);

// Signed distance of two one-sided triangles. If they intersect, it is the shallower of the
// translations along normals of either surface.
Witness one_sided_distance(const Shape& A, const TriangleSurface& surface_A, int a,
                           const SE3d& X_WA, const Shape& B, const TriangleSurface& surface_B,
                           int b, const SE3d& X_WB);

// Translation of S out of T along n_W, a unit vector that points from T to S. The witness has the
// length t(n), the points, and the normal -n_W from S to T.
struct WayOut {
  Witness witness;
  Witness touch;  // of S moved by t n_W: the contact at the end of the translation
  // False if S moved along n_W does not touch T: t is then the depth of S below T's farthest point
  // along n_W.
  bool found = true;
};
WayOut way_out(const Shape& S, const SE3d& X_WS, const Shape& T, const SE3d& X_WT,
               const Vec3d& n_W);

}  // namespace robosim

// A surface of triangles, one-sided: counter-clockwise seen from outside, what lies behind is
// solid. Base of triangle meshes and height fields; knows which triangles share an edge, hence the
// outward normals of the surface at faces, edges and vertices.
//
// Normals of the surface at a point: the directions m such that points beyond, along m, have it as
// their nearest point (its Voronoi region). On a face the normal alone; at a convex edge the arc
// between the normals of both faces; at a vertex what has no part along any edge that leaves it; at
// a flat or concave edge none but the faces' own. So an edge between coplanar triangles gives no
// sideways normal.
#pragma once

#include <vector>

#include "geometry/bounds.h"
#include "spatial/vec3.h"

namespace robosim {

class TriangleSurface {
 public:
  struct Corners {
    Vec3d p[3];
    const Vec3d& operator[](int i) const { return p[i]; }
    // Unit; of a triangle that is not degenerate.
    Vec3d normal() const;
    bool is_degenerate() const;  // lower than degenerate_height of its longest side
  };
  static constexpr double degenerate_height = 1e-12;

  virtual ~TriangleSurface() = default;

  virtual int n_triangles() const = 0;
  virtual Corners corners(int t) const = 0;
  // Which vertices these are.
  virtual int vertex(int t, int k) const = 0;
  // The half-edge that runs the other way along edge k of triangle t (from corner k to the next
  // one), as 3 * triangle + edge; -1 where the surface ends.
  virtual int across(int t, int k) const = 0;
  // Whether there is a solid behind it.
  virtual bool has_solid() const = 0;
  // A triangle of each connected part.
  virtual std::vector<int> connected_parts() const = 0;
  // Whether p, off the surface and nearest to it on triangle t, from where m points to p, is in the
  // solid.
  virtual bool holds(const Vec3d& p, int t, const Vec3d& m) const = 0;

  // Whether the unit vector m is a normal of the surface at that feature of triangle t that lies
  // farthest along m.
  bool has_normal(int t, const Vec3d& m) const { return look_up(t, m, nullptr); }
  // m if it is one, else of the normals of t and of its convex neighbors at that feature the
  // nearest to m.
  Vec3d nearest_normal(int t, const Vec3d& m) const {
    Vec3d n;
    return look_up(t, m, &n) ? m : n;
  }
  // Mean of the faces' normals there, weighted by angle: positive along m exactly where m leaves
  // the solid (Baerentzen and Aanaes, "Signed distance computation using the angle weighted
  // pseudonormal", 2005). Not unit.
  Vec3d pseudonormal(int t, const Vec3d& m) const;

 private:
  static constexpr double angle_tolerance = 1e-9;  // [rad], and of the triangle's size

  bool look_up(int t, const Vec3d& m, Vec3d* nearest) const;
  bool is_vertex_normal(int t, int k, const Vec3d& m) const;
  // Calls visit(triangle, corner) for every triangle about corner k of t, also of a fan with an
  // end.
  template <class Visit>
  void visit_ring(int t, int k, Visit&& visit) const;
};

}  // namespace robosim

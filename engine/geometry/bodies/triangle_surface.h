// One-sided surface of triangles, counter-clockwise seen from outside, with solid behind them. Base
// of triangle meshes and height fields. It knows which triangles share an edge, hence the outward
// normals of the surface at faces, edges and vertices.
//
// The normals of the surface at a point are the directions m such that the points beyond, along m,
// have it as their nearest point (its Voronoi region):
// * on a face, the face's normal only;
// * at a convex edge, the arc between the normals of both faces;
// * at a vertex, the directions without a positive component along any edge that leaves it;
// * at a flat or concave edge, only the normals of the faces.
//
// So an edge between coplanar triangles has no sideways normal.
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
    // Unit normal; the triangle must not be degenerate.
    Vec3d normal() const;
    bool is_degenerate() const;  // lower than degenerate_height times its longest side
  };
  static constexpr double degenerate_height = 1e-12;

  virtual ~TriangleSurface() = default;

  virtual int n_triangles() const = 0;
  virtual Corners corners(int t) const = 0;
  // Number of the vertex at corner k of triangle t.
  virtual int vertex(int t, int k) const = 0;
  // Half-edge opposite to edge k of triangle t (from corner k to the next one), as 3 * triangle +
  // edge; -1 at a boundary of the surface.
  virtual int across(int t, int k) const = 0;
  // True if there is a solid behind the surface.
  virtual bool has_solid() const = 0;
  // One triangle of each connected part.
  virtual std::vector<int> connected_parts() const = 0;
  // Return true if p is in the solid. p is off the surface, its nearest point is on triangle t, and
  // m points from there to p.
  virtual bool holds(const Vec3d& p, int t, const Vec3d& m) const = 0;

  // Return true if the unit vector m is a normal of the surface at the feature of triangle t that
  // lies farthest along m.
  bool has_normal(int t, const Vec3d& m) const { return look_up(t, m, nullptr); }
  // Return m if it is such a normal. Otherwise return the nearest to m among the normals of t and
  // of its convex neighbors at that feature.
  Vec3d nearest_normal(int t, const Vec3d& m) const {
    Vec3d n;
    return look_up(t, m, &n) ? m : n;
  }
  // Mean of the faces' normals at that feature, weighted by angle; not unit. Its component along m
  // is positive exactly if m leaves the solid (Baerentzen and Aanaes, "Signed distance computation
  // using the angle weighted pseudonormal", 2005).
  Vec3d pseudonormal(int t, const Vec3d& m) const;

 private:
  static constexpr double angle_tolerance = 1e-9;  // [rad], and relative to the triangle's size

  bool look_up(int t, const Vec3d& m, Vec3d* nearest) const;
  bool is_vertex_normal(int t, int k, const Vec3d& m) const;
  // Call visit(triangle, corner) for every triangle around corner k of t, including those of a fan
  // with an end.
  template <class Visit>
  void visit_ring(int t, int k, Visit&& visit) const;
};

}  // namespace robosim

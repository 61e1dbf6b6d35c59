// Convex hull of a mesh's vertices, rounded by `radius`. Core: the hull itself.
//
// Support queries visit all vertices if these are few. Otherwise they use a table of directions
// that is built once per mesh (support_table.h).
#pragma once

#include <cmath>

#include "geometry/bounds.h"
#include "geometry/shapes/convex_mesh.h"
#include "geometry/shapes/corner.h"
#include "geometry/shapes/hull_features.h"
#include "geometry/shapes/hull_polygons.h"
#include "geometry/tangent_plane.h"

namespace robosim {

struct ConvexCore {
  static constexpr bool curved = false;
  static constexpr int max_brute_force = 12;

  const ConvexMesh* mesh;
  double radius = 0;

  double rounding() const { return radius; }
  Vec3d center() const { return mesh->centroid; }
  Vec3d support(const Vec3d& d) const { return corner(support_vertex(d)); }
  Corner corner_towards(const Vec3d& d) const {
    const int i = support_vertex(d);
    return {corner(i), i};
  }
  Vec3d corner(int i) const { return mesh->vertices[i]; }
  int n_corners() const { return static_cast<int>(mesh->vertices.size()); }
  int support_vertex(const Vec3d& d) const {
    const Vec3d* vertices = mesh->vertices.data();
    const int n = static_cast<int>(mesh->vertices.size());
    if (n <= max_brute_force) {
      int best = 0;
      double reach = dot(vertices[0], d);
      for (int i = 1; i < n; ++i) {
        const double r = dot(vertices[i], d);
        if (r > reach) {
          reach = r;
          best = i;
        }
      }
      return best;
    }
    return mesh->support_table.of(mesh->vertices).farthest(mesh->vertices, d);
  }
  LocalSurface local_surface(const Vec3d& p, const Vec3d& n,
                             double precision = feature_tolerance) const {
    return hull_surface(*mesh, p, n, support_vertex(n), precision);
  }
  // Radii over the tangents t0 and t1: directly for the vertex farthest along n, otherwise from
  // local_surface.
  tangent_plane::TangentRadii radii_over(const Vec3d& p, const Vec3d& n, const Vec3d& t0,
                                         const Vec3d& t1) const {
    const std::size_t farthest = static_cast<std::size_t>(support_vertex(n));
    const double on = feature_tolerance * mesh->ball.radius;
    const Vec3d& v = mesh->vertices[farthest];
    if (squared_norm(p - v) <= on * on) {
      bool tips = false;
      for (int e = mesh->neighbor_begin[farthest], end = mesh->neighbor_begin[farthest + 1];
           e < end; ++e) {
        const Vec3d d = mesh->vertices[mesh->neighbors[e]] - v;
        const double length2 = squared_norm(d), rise = dot(n, d);
        tips |= length2 > on * on && rise * rise < feature_tolerance * feature_tolerance * length2;
      }
      return {tangent_plane::Radii::round(radius), LocalSurface::straight, tips};
    }
    const LocalSurface s = hull_surface(*mesh, p, n, static_cast<int>(farthest), feature_tolerance);
    return {tangent_plane::Radii(s, t0, t1, radius), s.slide, s.tilt_sine < feature_tolerance};
  }
  // Call f(n, p) with the outward unit normal of each triangle and a point on it.
  template <class F>
  void for_each_face(F&& f) const {
    const auto at = [&](int i) { return mesh->vertices[i]; };
    for (const auto& face : mesh->faces) {
      const Vec3d n = cross(at(face[1]) - at(face[0]), at(face[2]) - at(face[0]));
      if (const double length = norm(n); length > 0) f(n * (1 / length), at(face[0]));
    }
  }
  void patch(const Vec3d& n, Patch& out) const { hull_patch(*mesh, n, support_vertex(n), out); }
  Vec3d stretch(int, const Vec3d&, const Vec3d& m) const { return m; }
  static constexpr int n_sizes = 1;  // rounding
  Vec3d size_rate(int, const LocalSurface&, const Vec3d& n) const { return n; }
  Ball bounding_ball() const { return {mesh->ball.center, mesh->ball.radius + radius}; }
  double farthest_from(const Vec3d& p) const {
    double farthest = 0;
    for (const Vec3d& v : mesh->vertices) farthest = std::max(farthest, squared_norm(v - p));
    return std::sqrt(farthest) + radius;
  }
};

}  // namespace robosim

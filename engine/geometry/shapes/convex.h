// Convex hull of a mesh's vertices, rounded by `radius`. Core: the hull itself.
//
// Support by brute force over a few vertices; above, hill climbing over the hull's edges from the last support vertex
// (a vertex of a convex polyhedron without a better neighbour is optimal): O(sqrt(n)) first, O(1) for a nearby direction.
#pragma once

#include <cmath>

#include "geometry/bounds.h"
#include "geometry/convex_mesh.h"
#include "geometry/hull_features.h"
#include "geometry/hull_polygons.h"

namespace robosim {

struct ConvexCore {
  static constexpr bool curved = false;
  static constexpr int max_brute_force = 12;

  const ConvexMesh* mesh;
  double radius = 0;
  mutable int hint = 0;  // the last support vertex

  double rounding() const { return radius; }
  Vec3d centre() const { return mesh->centroid; }
  Vec3d support(const Vec3d& d) const { return mesh->vertices[static_cast<std::size_t>(support_vertex(d))]; }
  int support_vertex(const Vec3d& d) const {
    const Vec3d* vertices = mesh->vertices.data();
    const int n = static_cast<int>(mesh->vertices.size());
    if (n <= max_brute_force) {
      int best = 0;
      double reach = dot(vertices[0], d);
      for (int i = 1; i < n; ++i) {
        const double r = dot(vertices[i], d);
        if (r > reach) reach = r, best = i;
      }
      return best;
    }
    // From the last support vertex, or from that along the largest coordinate of d where it is farther.
    const double x = std::fabs(d.x), y = std::fabs(d.y), z = std::fabs(d.z);
    const int along = x >= y && x >= z ? (d.x > 0) : (y >= z ? 2 + (d.y > 0) : 4 + (d.z > 0));
    int best = hint < n ? hint : 0;
    double reach = dot(vertices[best], d);
    const int other = mesh->extreme[static_cast<std::size_t>(along)];
    if (const double r = dot(vertices[other], d); r > reach) best = other, reach = r;
    const int* begin = mesh->neighbour_begin.data();
    const int* neighbours = mesh->neighbours.data();
    while (true) {  // to the best neighbour
      int next = -1;
      for (int k = begin[best], end = begin[best + 1]; k < end; ++k) {
        const double r = dot(vertices[neighbours[k]], d);
        next = r > reach ? k : next;
        reach = r > reach ? r : reach;
      }
      if (next < 0) break;
      best = neighbours[next];
    }
    hint = best;
    return best;
  }
  LocalSurface local_surface(const Vec3d& p, const Vec3d& n, double precision = feature_tolerance) const {
    return hull_surface(*mesh, p, n, support_vertex(n), precision);
  }
  void patch(const Vec3d& n, Patch& out) const { hull_patch(*mesh, n, support_vertex(n), out); }
  Vec3d stretch(int, const Vec3d&, const Vec3d& m) const { return m; }
  static constexpr int n_sizes = 1;  // rounding
  Vec3d size_rate(int, const LocalSurface&, const Vec3d& n) const { return n; }
  Ball bounding_ball() const { return {mesh->ball.centre, mesh->ball.radius + radius}; }
  double farthest_from(const Vec3d& p) const {
    double farthest = 0;
    for (const Vec3d& v : mesh->vertices) farthest = std::max(farthest, squared_norm(v - p));
    return std::sqrt(farthest) + radius;
  }
};

}  // namespace robosim

#include "geometry/shapes/hull_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "geometry/directions.h"
#include "geometry/distance/simplex.h"

namespace robosim {
namespace {

// Capacity for vertices near the supporting plane with normal n. If a face has more vertices, the
// first ones suffice.
constexpr int max_near = 512;

struct Near {
  std::array<int, max_near> vertex;
  int n = 0;

  bool has(int v) const {
    return std::find(vertex.begin(), vertex.begin() + n, v) != vertex.begin() + n;
  }
};

// Collect the vertices connected to `farthest` through vertices with n . vertex of at least
// `level`.
Near near_vertices(const ConvexMesh& mesh, const Vec3d& n, int farthest, double level) {
  Near near;
  near.vertex[0] = farthest;
  near.n = 1;
  for (int k = 0; k < near.n; ++k) {
    const std::size_t v = static_cast<std::size_t>(near.vertex[k]);
    for (int e = mesh.neighbor_begin[v]; e < mesh.neighbor_begin[v + 1] && near.n < max_near; ++e) {
      const int w = mesh.neighbors[e];
      if (dot(n, mesh.vertices[w]) >= level && !near.has(w)) near.vertex[near.n++] = w;
    }
  }
  return near;
}

class FeatureFinder {
 public:
  FeatureFinder(const ConvexMesh& mesh, const Vec3d& p, const Vec3d& n, int farthest,
                double precision)
      : mesh_(mesh),
        p_(p),
        n_(n),
        on_(precision * mesh.ball.radius),
        flat_(feature_tolerance * mesh.ball.radius),
        level_(dot(n, mesh.vertices[farthest]) - std::max(1e-5, precision) * mesh.ball.radius),
        near_(near_vertices(mesh, n, farthest, level_)) {}

  LocalSurface find() const {
    for (int k = 0; k < near_.n; ++k)
      if (const int v = near_vertex(k); norm(at(v) - p_) <= on_) return vertex(v);
    if (near_.n == 1) return vertex(near_vertex(0));
    if (near_.n == 2) return edge(near_vertex(0), near_vertex(1));
    // Nearest triangle and nearest edge to p. The triangles are those of three mutual neighbors,
    // whose plane may contain more vertices. The triangles of an edge need not be near.
    double to_face = INFINITY, to_edge = INFINITY;
    int corner[3] = {}, end[2] = {};
    for (int a = 0; a < near_.n; ++a)
      for_each_neighbor(near_vertex(a), [&](int, int j) {
        const int i = near_vertex(a);
        if (j < i) return;
        if (const double d = distance_from({i, j}); d < to_edge) {
          to_edge = d;
          end[0] = i;
          end[1] = j;
        }
        for_each_neighbor(j, [&](int, int k) {
          if (k < j || !are_neighbors(i, k)) return;
          if (const double d = distance_from({i, j, k}); d < to_face) {
            to_face = d;
            corner[0] = i;
            corner[1] = j;
            corner[2] = k;
          }
        });
      });
    if (to_edge < to_face - on_) return edge(end[0], end[1]);
    return face(corner);
  }

 private:
  const Vec3d& at(int v) const { return mesh_.vertices[v]; }
  int near_vertex(int k) const { return near_.vertex[k]; }
  // Call f(half-edge, vertex) for each neighbor that is near.
  template <class F>
  void for_each_neighbor(int v, F&& f) const {
    for (int e = mesh_.neighbor_begin[v]; e < mesh_.neighbor_begin[static_cast<std::size_t>(v) + 1];
         ++e)
      if (const int w = mesh_.neighbors[e]; dot(n_, at(w)) >= level_) f(e, w);
  }
  // Distance of p from the segment or triangle.
  double distance_from(std::initializer_list<int> corners) const {
    Simplex simplex;
    for (const int v : corners) simplex.add(at(v) - p_, Vec3d());
    return norm(nearest_point(simplex));
  }
  bool are_neighbors(int v, int w) const {
    bool found = false;
    for_each_neighbor(v, [&](int, int u) { found |= u == w; });
    return found;
  }
  int half_edge(int v, int w) const {
    int found = 0;
    for (int e = mesh_.neighbor_begin[v]; e < mesh_.neighbor_begin[static_cast<std::size_t>(v) + 1];
         ++e)
      if (mesh_.neighbors[e] == w) found = e;
    return found;
  }
  // Sine of the least angle by which n turns until a neighbor of v is as far along n as v. n turns
  // about `axis` if given, otherwise about any axis.
  double sine_at(int v, const Vec3d* axis) const {
    double least = 1;
    for (int e = mesh_.neighbor_begin[v]; e < mesh_.neighbor_begin[static_cast<std::size_t>(v) + 1];
         ++e) {
      Vec3d d = at(mesh_.neighbors[e]) - at(v);
      if (axis) d -= dot(*axis, d) * *axis;
      if (const double length = norm(d); length > on_)
        least = min_number(least, std::fabs(dot(n_, d)) / length);
    }
    return least;
  }

  LocalSurface vertex(int v) const {
    LocalSurface s;
    s.kind = FeatureKind::vertex;
    s.index = v;
    s.point = at(v);
    s.axis[0] = perpendicular(n_);
    s.axis[1] = cross(n_, s.axis[0]);
    s.tilt_sine = sine_at(v, nullptr);
    s.corner[0] = {v, 1, {}};
    s.n_corners = 1;
    return s;
  }
  LocalSurface edge(int v, int w) const {
    LocalSurface s;
    s.kind = FeatureKind::edge;
    s.index = half_edge(std::min(v, w), std::max(v, w));
    s.point = at(v);
    const Vec3d d = at(w) - at(v), e = d * (1 / norm(d));
    s.axis[0] = e;
    s.radius[0] = LocalSurface::straight;
    s.axis[1] = unit_or(cross(n_, e), perpendicular(e));
    s.slide = min_number(dot(p_ - at(v), e), dot(at(w) - p_, e));
    s.tilt_sine = min_number(sine_at(v, &e), sine_at(w, &e));
    const double length = norm(d), along = dot(p_ - at(v), e) / length;
    s.corner[0] = {v, 1 - along, e * (-1 / length)};
    s.corner[1] = {w, along, e * (1 / length)};
    s.n_corners = 2;
    return s;
  }
  LocalSurface face(const int (&corner)[3]) const {
    const Vec3d a = at(corner[0]);
    Vec3d m = unit_or(cross(at(corner[1]) - a, at(corner[2]) - a), n_);
    if (dot(m, n_) < 0) m = -m;
    const auto in_plane = [&](int v) { return std::fabs(dot(m, at(v) - a)) <= flat_; };
    // Outline of the face: edges with the whole face on their left.
    LocalSurface s;
    s.kind = FeatureKind::face;
    s.index = static_cast<int>(mesh_.neighbors.size());
    s.point = a;
    s.axis[0] = unit_or(at(corner[1]) - a, perpendicular(m));
    s.axis[1] = cross(m, s.axis[0]);
    s.radius[0] = s.radius[1] = LocalSurface::straight;
    int from = 0, to = 0;
    for (int k = 0; k < near_.n; ++k) {
      const int v = near_vertex(k);
      if (!in_plane(v)) continue;
      for_each_neighbor(v, [&](int e, int w) {
        if (!in_plane(w)) return;
        const Vec3d left = unit_or(cross(m, at(w) - at(v)), Vec3d());
        for (int i = 0; i < near_.n; ++i)
          if (in_plane(near_vertex(i)) && dot(left, at(near_vertex(i)) - at(v)) < -flat_) return;
        s.index = std::min(s.index, e);
        if (const double room = dot(left, p_ - at(v)); room < s.slide) {
          s.slide = room;
          from = v;
          to = w;
        }
      });
    }
    if (s.slide <= on_) return edge(from, to);
    // Barycentric coordinates in the triangle.
    for (int i = 0; i < 3; ++i) {
      const Vec3d &b = at(corner[(i + 1) % 3]), &c = at(corner[(i + 2) % 3]),
                  across = cross(m, c - b);
      const Vec3d slope = across * (1 / dot(across, at(corner[i]) - b));
      s.corner[i] = {corner[i], dot(slope, p_ - b), slope};
      // At low precision the outline may lack edges, so the point must stay in the triangle.
      if (on_ > flat_) s.slide = std::min(s.slide, s.corner[i].weight / norm(slope));
    }
    s.n_corners = 3;
    return s;
  }

  const ConvexMesh& mesh_;
  const Vec3d p_, n_;
  const double on_;  // p is on a feature within this distance
  // Vertices within this distance of a face's plane belong to the face, regardless of p's
  // precision.
  const double flat_;
  const double level_;  // vertices with n . vertex of at least this are near
  const Near near_;
};

}  // namespace

LocalSurface hull_surface(const ConvexMesh& mesh, const Vec3d& p, const Vec3d& n, int farthest,
                          double precision) {
  return FeatureFinder(mesh, p, n, farthest, precision).find();
}

}  // namespace robosim

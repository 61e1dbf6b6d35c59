#include "geometry/bodies/triangle_surface.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

// Corners that lie farthest along m, within `tolerance` of the triangle's size: bit k for corner k.
int farthest_corners(const TriangleSurface::Corners& c, const Vec3d& m, double tolerance) {
  const double reach[3] = {0, dot(m, c[1] - c[0]), dot(m, c[2] - c[0])};
  const double size = std::sqrt(
      std::max({squared_norm(c[1] - c[0]), squared_norm(c[2] - c[1]), squared_norm(c[0] - c[2])}));
  const double least = std::max({reach[0], reach[1], reach[2]}) - tolerance * size;
  int corners = 0;
  for (int k = 0; k < 3; ++k) corners |= (reach[k] >= least) << k;
  return corners;
}

// Edge between two corners, or -1.
int edge_of(int corners) { return corners == 3 ? 0 : (corners == 6 ? 1 : (corners == 5 ? 2 : -1)); }
int vertex_of(int corners) { return corners == 1 ? 0 : (corners == 2 ? 1 : 2); }

// Unit direction in the plane of the triangle, perpendicular to its edge k, inwards.
Vec3d into(const TriangleSurface::Corners& c, int k) {
  const Vec3d along = c[(k + 1) % 3] - c[k], across = cross(c.normal(), along);
  return across * (1 / norm(across));
}

}  // namespace

Vec3d TriangleSurface::Corners::normal() const {
  // Use the two shorter sides, which lose the fewest digits in a needle.
  const Vec3d side[3] = {p[1] - p[0], p[2] - p[1], p[0] - p[2]};
  int longest = 0;
  for (int k = 1; k < 3; ++k)
    if (squared_norm(side[k]) > squared_norm(side[longest])) longest = k;
  const Vec3d n = cross(side[(longest + 1) % 3], side[(longest + 2) % 3]);
  return n * (1 / norm(n));
}

bool TriangleSurface::Corners::is_degenerate() const {
  const Vec3d a = p[1] - p[0], b = p[2] - p[0], c = p[2] - p[1];
  const double longest = std::max({squared_norm(a), squared_norm(b), squared_norm(c)});
  return !(norm(cross(a, c)) > degenerate_height * longest) || !(norm(cross(a, b)) > 0);
}

template <class Visit>
void TriangleSurface::visit_ring(int t, int k, Visit&& visit) const {
  int u = t, j = k;
  do {
    visit(u, j);
    const int h = across(u, (j + 2) % 3);  // leaves the vertex, in the next triangle
    if (h < 0) break;
    u = h / 3;
    j = h % 3;
  } while (u != t);
  if (u == t && j == k && across(t, (k + 2) % 3) >= 0) return;
  // The fan has an end: visit its rest on the other side.
  for (int h = across(t, k); h >= 0; h = across(u, j)) {
    u = h / 3;
    j = (h % 3 + 1) % 3;
    if (u == t) return;
    visit(u, j);
  }
}

bool TriangleSurface::is_vertex_normal(int t, int k, const Vec3d& m) const {
  bool beyond = true;
  Vec3d mean;
  visit_ring(t, k, [&](int u, int j) {
    const Corners c = corners(u);
    const Vec3d a = c[(j + 1) % 3] - c[j], b = c[(j + 2) % 3] - c[j];
    beyond &= dot(m, a) <= angle_tolerance * norm(a) && dot(m, b) <= angle_tolerance * norm(b);
    mean += std::atan2(norm(cross(a, b)), dot(a, b)) * c.normal();
  });
  return beyond && dot(m, mean) > 0;
}

bool TriangleSurface::look_up(int t, const Vec3d& m, Vec3d* nearest) const {
  const Corners c = corners(t);
  const Vec3d n = c.normal();
  if (nearest) *nearest = n;
  const int farthest = farthest_corners(c, m, angle_tolerance), edge = edge_of(farthest);
  if (farthest == 7) return dot(m, n) > 0;
  double best = dot(m, n);
  // Return true if m is a normal of edge k: the edge is convex and m is within its arc. The normal
  // of the triangle across a convex edge becomes a candidate for `nearest`.
  const auto is_edge_normal = [&](int k) {
    const int h = across(t, k);
    if (h < 0) return best >= 0;  // boundary of the surface: up to straight outwards
    const Corners other = corners(h / 3);
    const Vec3d away = into(other, h % 3);
    if (dot(n, away) > -angle_tolerance) return false;  // flat or concave
    if (const Vec3d n_other = other.normal(); nearest && dot(m, n_other) > best) {
      best = dot(m, n_other);
      *nearest = n_other;
    }
    return dot(m, away) <= angle_tolerance;
  };
  if (edge >= 0) return is_edge_normal(edge);
  const int k = vertex_of(farthest);
  if (is_vertex_normal(t, k, m)) return true;
  is_edge_normal(k);
  is_edge_normal((k + 2) % 3);
  return false;
}

Vec3d TriangleSurface::pseudonormal(int t, const Vec3d& m) const {
  const Corners c = corners(t);
  const int farthest = farthest_corners(c, m, angle_tolerance), edge = edge_of(farthest);
  Vec3d mean = c.normal();
  if (farthest == 7) return mean;
  if (edge >= 0) {
    const int h = across(t, edge);
    return h < 0 ? mean : mean + corners(h / 3).normal();
  }
  mean = {};
  visit_ring(t, vertex_of(farthest), [&](int u, int j) {
    const Corners d = corners(u);
    const Vec3d a = d[(j + 1) % 3] - d[j], b = d[(j + 2) % 3] - d[j];
    mean += std::atan2(norm(cross(a, b)), dot(a, b)) * d.normal();
  });
  return mean;
}

}  // namespace robosim

// Triangle: convex hull of three points, rounded by `radius`. Core: the flat triangle itself, which
// has two faces.
//
// The derivatives with respect to the vertices are those of a convex mesh: the corners of
// LocalSurface move (hull_features.h). All results are finite also if the vertices are collinear or
// coincide.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/bounds.h"
#include "geometry/directions.h"
#include "geometry/local_surface.h"
#include "geometry/shapes/corner.h"
#include "geometry/shapes/patch.h"
#include "geometry/tangent_plane.h"
#include "spatial/se3.h"

namespace robosim {

struct TriangleCore {
  static constexpr bool curved = false;
  Vec3d vertex[3];
  double radius = 0;

  double rounding() const { return radius; }
  Vec3d center() const { return (1.0 / 3) * (vertex[0] + vertex[1] + vertex[2]); }
  Vec3d support(const Vec3d& d) const { return vertex[farthest(d)]; }
  Corner corner_towards(const Vec3d& d) const {
    const int i = farthest(d);
    return {vertex[i], i};
  }
  Vec3d corner(int i) const { return vertex[i]; }
  int n_corners() const { return 3; }
  TriangleCore placed(const SE3d& X) const {
    return {{X * vertex[0], X * vertex[1], X * vertex[2]}, radius};
  }
  // Vector from vertex i to the next vertex.
  Vec3d edge(int i) const { return vertex[next(i)] - vertex[i]; }
  int longest_edge() const {
    const double x[3] = {squared_norm(edge(0)), squared_norm(edge(1)), squared_norm(edge(2))};
    return x[0] >= x[1] && x[0] >= x[2] ? 0 : (x[1] >= x[2] ? 1 : 2);
  }
  // Length that tolerances are relative to, cheaper than the bounding ball's radius.
  double size() const { return norm(edge(longest_edge())); }
  // Unit normal, about which the vertices run counter-clockwise. If the vertices are collinear,
  // some perpendicular of the longest edge.
  Vec3d normal() const {
    const Vec3d ab = vertex[1] - vertex[0], ac = vertex[2] - vertex[0];
    return unit_or(cross(ab, ac), perpendicular(edge(longest_edge())));
  }
  // Feature numbers: a vertex has its own number, an edge the number of its first vertex. Face 0 is
  // the side of normal(), face 1 the other side.
  LocalSurface local_surface(const Vec3d& p, const Vec3d& n,
                             double precision = feature_tolerance) const {
    const double size = this->size(), on = precision * size;
    // Vertices near the supporting plane with normal n.
    const double level = dot(n, support(n)) - std::max(1e-5, precision) * size;
    int near[3], n_near = 0;
    for (int i = 0; i < 3; ++i)
      if (dot(n, vertex[i]) >= level) near[n_near++] = i;
    for (int k = 0; k < n_near; ++k)
      if (norm(vertex[near[k]] - p) <= on) return at_vertex(near[k], n);
    if (n_near == 1) return at_vertex(near[0], n);
    if (n_near == 2) return on_edge(near[1] == next(near[0]) ? near[0] : near[1], p, n);
    const Vec3d area = cross(edge(0), edge(1));
    if (!(norm(area) > 1e-13 * size * size)) return on_edge(longest_edge(), p, n);
    int nearest = 0;
    for (int i = 1; i < 3; ++i)
      if (from_edge(i, p) < from_edge(nearest, p)) nearest = i;
    if (from_edge(nearest, p) <= on) return on_edge(nearest, p, n);
    return on_face(area * (1 / norm(area)), p, n);
  }
  // Radii over the tangents t0 and t1: directly for the vertex farthest along n, otherwise from
  // local_surface.
  ROBOSIM_INLINE tangent_plane::TangentRadii radii_over(const Vec3d& p, const Vec3d& n,
                                                        const Vec3d& t0, const Vec3d& t1) const {
    constexpr double on2 = feature_tolerance * feature_tolerance;
    const int i = farthest(n);
    const Vec3d &v = vertex[i], d = vertex[next(i)] - v, e = vertex[next(next(i))] - v;
    const double dd = squared_norm(d), ee = squared_norm(e), size2 = std::max(dd, ee),
                 rise_d = dot(n, d), rise_e = dot(n, e);
    const bool tips = rise_d * rise_d < on2 * dd || rise_e * rise_e < on2 * ee;
    if (squared_norm(p - v) <= on2 * size2)
      return {tangent_plane::Radii::round(radius), LocalSurface::straight, tips};
    const LocalSurface s = local_surface(p, n);
    return {tangent_plane::Radii(s, t0, t1, radius), s.slide, s.tilt_sine < feature_tolerance};
  }
  static constexpr int n_sizes = 1;  // rounding
  Vec3d size_rate(int, const LocalSurface&, const Vec3d& n) const { return n; }
  // The side towards n. If n is nearly in the triangle's plane, or the triangle is a needle, the
  // edge that is closest to level, if any is.
  void patch(const Vec3d& n, Patch& out) const {
    const Vec3d area = cross(edge(0), edge(1));
    const double twice = norm(area);
    const bool needle = !(twice > 1e-13 * squared_norm(edge(longest_edge())));
    if (!needle && std::fabs(dot(area, n)) > 0.5 * twice) {
      const bool front = dot(area, n) > 0;
      out.kind = Patch::Kind::polygon;
      out.face = {FeatureKind::face, !front, 0};
      out.normal = (front ? 1 / twice : -1 / twice) * area;
      for (int c = 0; c < 3; ++c) {
        const int i = front ? c : 2 - c;  // counter-clockwise from that side
        out.add(vertex[i], {FeatureKind::vertex, i, 0},
                {FeatureKind::edge, front ? i : next(next(i)), 0});
      }
      return;
    }
    const double reach = dot(n, support(n));
    int best = longest_edge();
    double rise = INFINITY;
    for (int i = 0; i < 3 && !needle; ++i) {
      const bool farthest = dot(n, vertex[i]) == reach || dot(n, vertex[next(i)]) == reach;
      if (const double r = std::fabs(dot(n, edge(i))) / norm(edge(i)); farthest && r < rise) {
        rise = r;
        best = i;
      }
    }
    const Vec3d e = unit_or(edge(best), n);
    if (std::fabs(dot(n, e)) > 0.7) return;
    out.kind = Patch::Kind::line;
    out.face = {FeatureKind::edge, best, 0};
    out.normal = unit_or(n - dot(n, e) * e, n);
    for (const int i : {best, next(best)})
      out.add(vertex[i], {FeatureKind::vertex, i, 0}, out.face);
  }
  Vec3d stretch(int, const Vec3d&, const Vec3d& m) const { return m; }
  // Ball about the midpoint of the longest edge, or through all three vertices if no angle is
  // obtuse.
  Ball bounding_ball() const {
    const int i = longest_edge(), j = next(i), k = next(j);
    const Vec3d u = vertex[i] - vertex[k], v = vertex[j] - vertex[k], e = edge(i);
    Ball ball{0.5 * (vertex[i] + vertex[j]), 0};
    if (const double twice_area = norm(cross(u, v)), c = dot(u, v); c > 0 && twice_area > 0) {
      // Direction from the edge to vertex k.
      const Vec3d across = unit_or((dot(u, e) / squared_norm(e)) * e - u, Vec3d());
      ball.center += (0.5 * norm(e) * c / twice_area) * across;
    }
    ball.radius = farthest_from(ball.center);
    return ball;
  }
  double farthest_from(const Vec3d& p) const {
    return std::sqrt(std::max({squared_norm(vertex[0] - p), squared_norm(vertex[1] - p),
                               squared_norm(vertex[2] - p)})) +
           radius;
  }
  // Farthest distance of any point from the origin, cheaper than the smallest ball.
  double reach() const { return farthest_from({}); }

 private:
  int farthest(const Vec3d& d) const {
    const double x[3] = {dot(vertex[0], d), dot(vertex[1], d), dot(vertex[2], d)};
    return x[0] >= x[1] && x[0] >= x[2] ? 0 : (x[1] >= x[2] ? 1 : 2);
  }
  static int next(int i) { return i == 2 ? 0 : i + 1; }
  double from_edge(int i, const Vec3d& p) const {
    const Vec3d e = edge(i), d = p - vertex[i];
    const double ee = squared_norm(e);
    return norm(d - (ee > 0 ? std::clamp(dot(d, e) / ee, 0.0, 1.0) : 0.0) * e);
  }
  // Sine of the least angle by which n turns until a vertex at displacement d from this one is as
  // far along n.
  static double sine_to(const Vec3d& d, const Vec3d& n) {
    const double length = norm(d);
    return length > 0 ? min_number(std::fabs(dot(n, d)) / length, 1.0) : LocalSurface::straight;
  }

  LocalSurface at_vertex(int i, const Vec3d& n) const {
    LocalSurface s;
    s.kind = FeatureKind::vertex;
    s.index = i;
    s.point = vertex[i];
    s.axis[0] = perpendicular(n);
    s.axis[1] = cross(n, s.axis[0]);
    s.tilt_sine = min_number(sine_to(vertex[next(i)] - vertex[i], n),
                             sine_to(vertex[next(next(i))] - vertex[i], n));
    s.corner[0] = {i, 1, {}};
    s.n_corners = 1;
    return s;
  }
  LocalSurface on_edge(int i, const Vec3d& p, const Vec3d& n) const {
    const int j = next(i);
    const double length = norm(edge(i));
    if (!(length > 0)) return at_vertex(i, n);
    const Vec3d e = edge(i) * (1 / length), d = vertex[next(j)] - vertex[i];
    const double along = dot(p - vertex[i], e);
    LocalSurface s;
    s.kind = FeatureKind::edge;
    s.index = i;
    s.point = vertex[i];
    s.axis[0] = e;
    s.radius[0] = LocalSurface::straight;
    s.axis[1] = unit_or(cross(n, e), perpendicular(e));
    s.slide = min_number(along, length - along);
    s.tilt_sine = sine_to(d - dot(d, e) * e, n);
    s.corner[0] = {i, 1 - along / length, e * (-1 / length)};
    s.corner[1] = {j, along / length, e * (1 / length)};
    s.n_corners = 2;
    return s;
  }
  LocalSurface on_face(const Vec3d& m, const Vec3d& p, const Vec3d& n) const {
    LocalSurface s;
    s.kind = FeatureKind::face;
    s.index = dot(m, n) < 0;
    s.point = vertex[0];
    s.axis[0] = unit_or(edge(0), perpendicular(m));
    s.axis[1] = cross(m, s.axis[0]);
    s.radius[0] = s.radius[1] = LocalSurface::straight;
    // Barycentric coordinates; each decreases to zero towards the opposite edge.
    for (int i = 0; i < 3; ++i) {
      const Vec3d &b = vertex[next(i)], left = cross(m, edge(next(i)));
      const Vec3d slope = left * (1 / dot(left, vertex[i] - b));
      s.corner[i] = {i, dot(slope, p - b), slope};
      s.slide = min_number(s.slide, dot(left, p - b) / norm(left));
    }
    s.n_corners = 3;
    return s;
  }
};

}  // namespace robosim

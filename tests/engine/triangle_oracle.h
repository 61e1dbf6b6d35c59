// Random meshes, and comparison of all their triangles by an oracle that is independent of the
// engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "geometry/bodies/compound.h"
#include "random_bodies.h"

namespace robosim::testing {

// The oracle: distances between the features of two triangles, in numbers of 64 bits and more.
using Real = long double;
struct Point {
  Real x, y, z;
};
inline Point operator-(const Point& a, const Point& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Point operator+(const Point& a, const Point& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Point operator*(Real s, const Point& a) { return {s * a.x, s * a.y, s * a.z}; }
inline Real inner(const Point& a, const Point& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Point outer(const Point& a, const Point& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Real length(const Point& a) { return std::sqrt(inner(a, a)); }
inline Point placed(const SE3d& X, const Vec3d& v) {
  Real out[3];
  for (int i = 0; i < 3; ++i)
    out[i] = X.p[i] + (Real(X.R(i, 0)) * v.x + Real(X.R(i, 1)) * v.y + Real(X.R(i, 2)) * v.z);
  return {out[0], out[1], out[2]};
}

inline Real from_segment(const Point& p, const Point& a, const Point& b) {
  const Point e = b - a;
  const Real t = std::clamp(inner(p - a, e) / inner(e, e), Real(0), Real(1));
  return length(p - (a + t * e));
}
inline Real between_segments(const Point& a, const Point& b, const Point& c, const Point& d) {
  Real least = std::min(
      {from_segment(a, c, d), from_segment(b, c, d), from_segment(c, a, b), from_segment(d, a, b)});
  const Point e = b - a, f = d - c, n = outer(e, f), r = c - a;
  const Real nn = inner(n, n);
  if (!(nn > 0)) return least;
  const Real t = inner(outer(r, f), n) / nn, u = inner(outer(r, e), n) / nn;
  if (t > 0 && t < 1 && u > 0 && u < 1)
    least = std::min(least, std::fabs(inner(r, n)) / std::sqrt(nn));
  return least;
}
// Distance from the face alone; infinity for a point that does not project onto it.
inline Real over_face(const Point& p, const Point (&t)[3]) {
  const Point n = outer(t[1] - t[0], t[2] - t[0]);
  for (int k = 0; k < 3; ++k)
    if (!(inner(outer(n, t[(k + 1) % 3] - t[k]), p - t[k]) > 0)) return INFINITY;
  return std::fabs(inner(n, p - t[0])) / length(n);
}
inline bool pierces(const Point& a, const Point& b, const Point (&t)[3]) {
  const Point n = outer(t[1] - t[0], t[2] - t[0]);
  if ((inner(n, a - t[0]) > 0) == (inner(n, b - t[0]) > 0)) return false;
  int sides = 0;
  for (int k = 0; k < 3; ++k) sides += inner(b - a, outer(t[k] - a, t[(k + 1) % 3] - a)) > 0;
  return sides == 0 || sides == 3;
}

// If all features are farther apart than rounding, an edge that passes through the other triangle
// proves that the triangles intersect.
struct Truth {
  bool crosses = false;
  double features = INFINITY;  // least distance of a corner from a face or of two edges

  double distance() const { return crosses ? 0 : features; }
};
inline Truth compare(const Point (&a)[3], const Point (&b)[3]) {
  Truth truth;
  Real least = INFINITY;
  for (int i = 0; i < 3; ++i) {
    least = std::min({least, over_face(a[i], b), over_face(b[i], a)});
    truth.crosses |= pierces(a[i], a[(i + 1) % 3], b) || pierces(b[i], b[(i + 1) % 3], a);
    for (int j = 0; j < 3; ++j)
      least = std::min(least, between_segments(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]));
  }
  truth.features = static_cast<double>(least);
  return truth;
}

struct Placed {
  std::shared_ptr<const TriangleMesh> mesh;
  SE3d X_W;
};
inline std::vector<std::vector<Truth>> compare_all(const Placed& A, const Placed& B) {
  std::vector<std::vector<Truth>> out;
  const auto corners = [](const Placed& body, int t, Point(&p)[3]) {
    for (int k = 0; k < 3; ++k) p[k] = placed(body.X_W, body.mesh->corners(t)[k]);
  };
  for (int i = 0; i < A.mesh->n_triangles(); ++i) {
    out.emplace_back();
    for (int j = 0; j < B.mesh->n_triangles(); ++j) {
      Point a[3], b[3];
      corners(A, i, a);
      corners(B, j, b);
      out.back().push_back(compare(a, b));
    }
  }
  return out;
}

// Meshes around the origin, with a size of about one. They are surfaces without a solid, so that
// only their triangles count.
struct RandomMeshes : RandomBodies {
  enum Kind { soup, needles, ball, plate, open, single, slivers, n_kinds };

  std::shared_ptr<const TriangleMesh> mesh(int kind, double scale) {
    Triangles t;
    if (kind == soup || kind == needles || kind == single || kind == slivers) {
      const int n = kind == single ? 1 : static_cast<int>(uniform(5, 60));
      const double size = kind == single ? 1 : 0.3;
      for (int i = 0; i < n; ++i) {
        const Vec3d p = 0.3 * point(), e = size * point();
        const double width = kind == needles   ? std::pow(10, uniform(-9, -1))
                             : kind == slivers ? 1e-11
                                               : 1;
        add(t, p, p + e,
            p + (kind == soup || kind == single ? 0.0 : uniform(0, 1)) * e +
                width * size * point());
        if (i % 7 == 3) add(t, p, p + e, p + 0.5 * e);  // degenerate: no part of the surface
      }
    } else {
      t = kind == plate ? box_triangles({0.5, 0.4, 1e-3}, 3) : ball_triangles(0.4, 3);
      if (kind != plate)
        for (Vec3d& p : t.vertices) p *= uniform(0.7, 1.1);
      if (kind == open) std::erase_if(t.faces, [&](const auto&) { return uniform(0, 1) < 0.3; });
    }
    for (Vec3d& p : t.vertices) p *= scale;
    return std::make_shared<TriangleMesh>(t.vertices, t.faces, false);
  }
  Placed placed_mesh(int kind, double scale, double reach) {
    Placed out{mesh(kind, scale), pose(reach)};
    out.X_W.p *= scale;
    return out;
  }
  Vec3d point() { return {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)}; }

 private:
  static void add(Triangles& t, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
    const int first = static_cast<int>(t.vertices.size());
    for (const Vec3d& p : {a, b, c}) t.vertices.push_back(p);
    t.faces.push_back({first, first + 1, first + 2});
  }
};

inline constexpr double scales[] = {1e-4, 1e-2, 1, 1e3};
// Accuracy of coordinates: rounding of poses and corners in double, about 1e-15, and of the
// features of needles.
inline constexpr double certain = 1e-12;

}  // namespace robosim::testing

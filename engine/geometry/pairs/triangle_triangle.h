// Two triangles: the facets of D = B - A if one of them determines the answer, otherwise GJK and
// EPA.
//
// The facets of D are the two sides of A and of B, and certain pairs of an edge e of A and an edge
// f of B. Such a pair has the normal n = e x f, with all of A on one side and all of B on the other
// side. Along n, the corner of A opposite to e is at -f.nA from e, and the corner of B opposite to
// f is at e.nB from f. So f.nA and e.nB have the same sign, which is also the sign of the direction
// along n from A to B.
//
// The signed distance of the triangles is never less than the distance along a facet's normal. If
// they overlap, it is the largest of these distances. So the best facet determines the answer,
// separated or overlapping, if the points of its two features on a common normal belong to the
// triangles. If corners and edges are nearest across a gap, no facet determines the answer.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "geometry/pairs/generic.h"

namespace robosim {

struct TriangleTriangle : GenericPair<ShapeType::triangle, ShapeType::triangle> {
  using Generic = GenericPair<ShapeType::triangle, ShapeType::triangle>;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB,
                                 PairCache& cache) {
    const Vec3d b[3] = {X_AB * B.vertex[0], X_AB * B.vertex[1], X_AB * B.vertex[2]};
    if (const auto c = on_facet(A.vertex, b, cache.axis)) {
      cache.axis = c->distance > 0 ? c->normal : Vec3d();
      const Vec3d &n = c->normal, p_A = c->a + A.rounding * n;
      const double distance = c->distance - A.rounding - B.rounding;
      return {distance, p_A, c->a + c->w - B.rounding * n, n};
    }
    return Generic::signed_distance(A, B, X_AB, cache);
  }

 private:
  // Return the contact of the best facet, or nothing if that facet does not determine the answer.
  // `axis` is then set to the facet's normal if the normal separates.
  static std::optional<Contact> on_facet(const Vec3d (&a)[3], const Vec3d (&b)[3], Vec3d& axis) {
    const Vec3d e[3] = {a[1] - a[0], a[2] - a[1], a[0] - a[2]},
                f[3] = {b[1] - b[0], b[2] - b[1], b[0] - b[2]};
    const double ee[3] = {squared_norm(e[0]), squared_norm(e[1]), squared_norm(e[2])};
    const double ff[3] = {squared_norm(f[0]), squared_norm(f[1]), squared_norm(f[2])};
    const Vec3d n_A = cross(e[0], e[1]), n_B = cross(f[0], f[1]);
    const double nn_A = squared_norm(n_A), nn_B = squared_norm(n_B);
    // The plane of a needle is not accurate enough.
    if (!(nn_A > 1e-4 * ee[0] * ee[1]) || !(nn_B > 1e-4 * ff[0] * ff[1])) return std::nullopt;

    // Best facet: its normal, from A to B, the square of the normal's length, and the distance
    // along the normal times that length.
    Vec3d n;
    double nn = 1, along = 0, best = -std::numeric_limits<double>::infinity();
    int i_best = -1, j_best = -1;  // vertex or edge, -1 for a face
    const auto consider = [&](const Vec3d& m, double mm, double s, int i, int j) {
      const double signed_square = s * std::fabs(s) / mm;
      if (signed_square > best) {
        best = signed_square;
        n = m;
        nn = mm;
        along = s;
        i_best = i;
        j_best = j;
      }
    };
    // Facets of the triangles' sides.
    const double x[3] = {dot(n_A, b[0] - a[0]), dot(n_A, b[1] - a[0]), dot(n_A, b[2] - a[0])};
    const double y[3] = {dot(n_B, a[0] - b[0]), dot(n_B, a[1] - b[0]), dot(n_B, a[2] - b[0])};
    const auto lowest = [](const double(&z)[3]) {
      return z[0] <= z[1] && z[0] <= z[2] ? 0 : (z[1] <= z[2] ? 1 : 2);
    };
    const auto highest = [](const double(&z)[3]) {
      return z[0] >= z[1] && z[0] >= z[2] ? 0 : (z[1] >= z[2] ? 1 : 2);
    };
    const int x_low = lowest(x), x_high = highest(x), y_low = lowest(y), y_high = highest(y);
    if (x[x_low] > -x[x_high])
      consider(n_A, nn_A, x[x_low], -1, x_low);
    else
      consider(-n_A, nn_A, -x[x_high], -1, x_high);
    if (y[y_low] > -y[y_high])
      consider(-n_B, nn_B, y[y_low], y_low, -1);
    else
      consider(n_B, nn_B, -y[y_high], y_high, -1);
    // Facets of two edges.
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const bool forward = y[i == 2 ? 0 : i + 1] > y[i];
        if (forward != (x[j == 2 ? 0 : j + 1] > x[j])) continue;
        const Vec3d m = cross(e[i], f[j]);
        const double mm = squared_norm(m), s = dot(m, b[j] - a[i]);
        if (!(mm > 1e-28 * ee[i] * ff[j])) continue;
        if (forward)
          consider(m, mm, s, i, j);
        else
          consider(-m, mm, -s, i, j);
      }

    // Points of the best facet, if they belong to the triangles.
    const double scale = 1 / std::sqrt(nn), distance = along * scale;
    const Vec3d normal = scale * n;
    const auto inside = [](const Vec3d(&v)[3], const Vec3d(&edge)[3], const Vec3d& face,
                           const Vec3d& p) {
      return dot(cross(face, edge[0]), p - v[0]) >= 0 && dot(cross(face, edge[1]), p - v[1]) >= 0 &&
             dot(cross(face, edge[2]), p - v[2]) >= 0;
    };
    const Vec3d w = distance * normal;
    if (i_best < 0) {
      if (const Vec3d p = b[j_best] - w; inside(a, e, n_A, p))
        return Contact{normal, distance, p, w};
    } else if (j_best < 0) {
      if (const Vec3d p = a[i_best] + w; inside(b, f, n_B, p))
        return Contact{normal, distance, a[i_best], w};
    } else {
      // Nearest points of the lines of the edges.
      const Vec3d d = b[j_best] - a[i_best], m = cross(e[i_best], f[j_best]);
      const double t = dot(cross(d, f[j_best]), m) / nn, u = dot(cross(d, e[i_best]), m) / nn;
      const Vec3d p = a[i_best] + t * e[i_best], off = b[j_best] + u * f[j_best] - p - w;
      const double squares =
          squared_norm(a[i_best]) + squared_norm(b[j_best]) + ee[i_best] + ff[j_best];
      if (t >= 0 && t <= 1 && u >= 0 && u <= 1 && squared_norm(off) <= 1e-28 * squares)
        return Contact{normal, distance, p, w};
    }
    if (distance > 0) axis = normal;
    return std::nullopt;
  }
};

}  // namespace robosim

#include "geometry/simplex.h"

#include <cmath>

namespace robosim {
namespace {

// A face of the simplex (indices into it) with its nearest point to the origin.
struct Face {
  int n = 0;
  int index[3] = {0, 0, 0};
  double lambda[3] = {0, 0, 0};
  Vec3d v;
  double vv = 0;
};

Face point(const Simplex& s, int i) { return {1, {i, 0, 0}, {1, 0, 0}, s.w[i], squared_norm(s.w[i])}; }

Face segment(const Simplex& s, int i, int j) {
  const Vec3d e = s.w[j] - s.w[i];
  const double ee = squared_norm(e), t = -dot(s.w[i], e);
  if (!(t > 0)) return point(s, i);
  if (!(t < ee)) return point(s, j);
  const double u = t / ee;
  Vec3d v = s.w[i] + u * e;
  v -= (dot(v, e) / ee) * e;  // perpendicular to the edge however near the origin is
  return {2, {i, j, 0}, {1 - u, u, 0}, v, squared_norm(v)};
}

void keep_nearer(Face& best, const Face& other) {
  if (other.vv < best.vv) best = other;
}

// n = ab x ac is given. Barycentric coordinates as ratios of areas along n.
Face triangle(const Simplex& s, int i, int j, int k, const Vec3d& ab, const Vec3d& ac, const Vec3d& n) {
  const Vec3d& a = s.w[i];
  const double nn = squared_norm(n), area = squared_norm(ab) * squared_norm(ac);
  const bool flat = !(nn > 1e-26 * area);  // angle at a below 1e-13: no normal to speak of
  const double b = flat ? -1 : dot(cross(ac, a), n), c = flat ? -1 : dot(cross(a, ab), n);
  if (b > 0 && c > 0 && b + c < nn) {
    const double lb = b / nn, lc = c / nn;
    // Along the normal: keeps its direction however near the origin is. A needle has no precise normal, but is an edge.
    Vec3d v = n * (dot(n, a) / nn);
    if (!(nn > 1e-16 * area)) {
      const Vec3d& e = squared_norm(ab) > squared_norm(ac) ? ab : ac;
      v = a + lb * ab + lc * ac;
      v -= (dot(v, e) / squared_norm(e)) * e;
    }
    return {3, {i, j, k}, {1 - lb - lc, lb, lc}, v, squared_norm(v)};
  }
  // The nearest point lies on an edge that has the origin on its outer side.
  Face best;
  best.vv = INFINITY;
  if (flat || !(c > 0)) keep_nearer(best, segment(s, i, j));
  if (flat || !(b > 0)) keep_nearer(best, segment(s, i, k));
  if (flat || !(b + c < nn)) keep_nearer(best, segment(s, j, k));
  return best;
}

Face triangle(const Simplex& s, int i, int j, int k) {
  const Vec3d ab = s.w[j] - s.w[i], ac = s.w[k] - s.w[i];
  return triangle(s, i, j, k, ab, ac, cross(ab, ac));
}

// Returns n = 0 when the origin is inside.
Face tetrahedron(const Simplex& s) {
  static constexpr int corner[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};  // face, opposite corner
  Face best;
  best.vv = INFINITY;
  for (const auto& f : corner) {
    const Vec3d ab = s.w[f[1]] - s.w[f[0]], ac = s.w[f[2]] - s.w[f[0]], ad = s.w[f[3]] - s.w[f[0]];
    const Vec3d n = cross(ab, ac);
    const double height = dot(n, ad), origin = -dot(n, s.w[f[0]]);
    const bool flat = !(height * height > 1e-26 * squared_norm(n) * squared_norm(ad));
    if (flat || (height > 0 ? origin < 0 : origin > 0)) keep_nearer(best, triangle(s, f[0], f[1], f[2], ab, ac, n));
  }
  return best;
}

}  // namespace

Vec3d nearest_point(Simplex& s) {
  Face f;
  switch (s.n) {
    case 1: f = point(s, 0); break;
    case 2: f = segment(s, 0, 1); break;
    case 3: f = triangle(s, 0, 1, 2); break;
    default:
      f = tetrahedron(s);
      if (f.n == 0) return {};
  }
  // Indices ascend, so that the points move down in place.
  for (int i = 0; i < f.n; ++i) s.w[i] = s.w[f.index[i]], s.a[i] = s.a[f.index[i]], s.lambda[i] = f.lambda[i];
  s.n = f.n;
  return f.v;
}

}  // namespace robosim

#include "geometry/simplex.h"

#include <cmath>

namespace robosim {
namespace {

using Face = SimplexFace;

Face point(const Vec3d* w, int i) { return {1, {i, 0, 0}, {1, 0, 0}, w[i], squared_norm(w[i])}; }

Face segment(const Vec3d* w, int i, int j) {
  const Vec3d e = w[j] - w[i];
  const double ee = squared_norm(e), t = -dot(w[i], e);
  if (!(t > 0)) return point(w, i);
  if (!(t < ee)) return point(w, j);
  const double u = t / ee;
  Vec3d v = w[i] + u * e;
  v -= (dot(v, e) / ee) * e;  // perpendicular to the edge however near the origin is
  return {2, {i, j, 0}, {1 - u, u, 0}, v, squared_norm(v)};
}

void keep_nearer(Face& best, const Face& other) {
  if (other.vv < best.vv) best = other;
}

// n = ab x ac is given. Barycentric coordinates as ratios of areas along n.
Face triangle(const Vec3d* w, int i, int j, int k, const Vec3d& ab, const Vec3d& ac, const Vec3d& n) {
  const Vec3d& a = w[i];
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
  if (flat || !(c > 0)) keep_nearer(best, segment(w, i, j));
  if (flat || !(b > 0)) keep_nearer(best, segment(w, i, k));
  if (flat || !(b + c < nn)) keep_nearer(best, segment(w, j, k));
  return best;
}

Face triangle(const Vec3d* w, int i, int j, int k) {
  const Vec3d ab = w[j] - w[i], ac = w[k] - w[i];
  return triangle(w, i, j, k, ab, ac, cross(ab, ac));
}

// Returns n = 0 when the origin is inside. The volume is the same from every face, but for its sign.
Face tetrahedron(const Vec3d* w) {
  const Vec3d e1 = w[1] - w[0], e2 = w[2] - w[0], e3 = w[3] - w[0], f2 = w[2] - w[1], f3 = w[3] - w[1];
  const Vec3d n3 = cross(e1, e2), n2 = cross(e1, e3), n1 = cross(e2, e3), n0 = cross(f2, f3);  // named after the opposite corner
  const double volume = dot(n3, e3);
  Face best;
  best.vv = INFINITY;
  const auto consider = [&](int i, int j, int k, const Vec3d& ab, const Vec3d& ac, const Vec3d& n, double height, const Vec3d& ad) {
    const double origin = -dot(n, w[i]);
    const bool flat = !(height * height > 1e-26 * squared_norm(n) * squared_norm(ad));
    if (flat || (height > 0 ? origin < 0 : origin > 0)) keep_nearer(best, triangle(w, i, j, k, ab, ac, n));
  };
  consider(0, 1, 2, e1, e2, n3, volume, e3);
  consider(0, 1, 3, e1, e3, n2, -volume, e2);
  consider(0, 2, 3, e2, e3, n1, volume, e1);
  consider(1, 2, 3, f2, f3, n0, -volume, e1);
  return best;
}

}  // namespace

SimplexFace nearest_face(const Vec3d* w, int n) {
  switch (n) {
    case 1: return point(w, 0);
    case 2: return segment(w, 0, 1);
    case 3: return triangle(w, 0, 1, 2);
    default: return tetrahedron(w);
  }
}

Vec3d nearest_point(Simplex& s) {
  const SimplexFace f = nearest_face(s.w, s.n);
  if (s.n == 4 && f.n == 0) return {};
  reduce(s, f);
  return f.v;
}

}  // namespace robosim

#include "geometry/distance/simplex.h"

#include <cmath>

namespace robosim {
namespace {

using Face = SimplexFace;

// Relative margins of squared distances: if the difference is below rounding, an edge is preferred
// to its ends and a triangle to its edges. Otherwise the error of the normal would be the square
// root of rounding.
constexpr double before_larger = 1 - 4e-16, before_smaller = 1 + 4e-16;

// Each function below replaces `best` if its nearest point is nearer. `best` is updated in place,
// without copies.
void point(const Vec3d* w, int i, Face& best) {
  const double vv = squared_norm(w[i]);
  if (!(vv < before_larger * best.vv)) return;
  best.n = 1;
  best.index[0] = i;
  best.lambda[0] = 1;
  best.v = w[i];
  best.vv = vv;
}

void segment(const Vec3d* w, int i, int j, Face& best) {
  const Vec3d e = w[j] - w[i];
  const double ee = squared_norm(e), t = -dot(w[i], e);
  if (!(t > 0)) return point(w, i, best);
  if (!(t < ee)) return point(w, j, best);
  const double u = t / ee;
  Vec3d v = w[i] + u * e;
  v -= (dot(v, e) / ee) * e;  // perpendicular to the edge even if the origin is very near
  const double vv = squared_norm(v);
  if (!(vv < (best.n == 1 ? before_smaller : before_larger) * best.vv)) return;
  best.n = 2;
  best.index[0] = i;
  best.index[1] = j;
  best.lambda[0] = 1 - u;
  best.lambda[1] = u;
  best.v = v;
  best.vv = vv;
}

// n = ab x ac is given. Barycentric coordinates are ratios of areas along n.
void triangle(const Vec3d* w, int i, int j, int k, const Vec3d& ab, const Vec3d& ac, const Vec3d& n,
              Face& best) {
  const Vec3d& a = w[i];
  const double nn = squared_norm(n), area = squared_norm(ab) * squared_norm(ac);
  const bool flat = !(nn > 1e-26 * area);  // angle at a below 1e-13: no useful normal
  const double b = flat ? -1 : dot(cross(ac, a), n), c = flat ? -1 : dot(cross(a, ab), n);
  if (b > 0 && c > 0 && b + c < nn) {
    const double lb = b / nn, lc = c / nn;
    // Project along the normal: v keeps its direction even if the origin is very near. The normal
    // of a needle is imprecise, so a needle is treated as an edge.
    Vec3d v = n * (dot(n, a) / nn);
    if (!(nn > 1e-16 * area)) {
      const Vec3d& e = squared_norm(ab) > squared_norm(ac) ? ab : ac;
      v = a + lb * ab + lc * ac;
      v -= (dot(v, e) / squared_norm(e)) * e;
    }
    const double vv = squared_norm(v);
    if (!(vv < before_smaller * best.vv)) return;
    best.n = 3;
    best.index[0] = i;
    best.index[1] = j;
    best.index[2] = k;
    best.lambda[0] = 1 - lb - lc;
    best.lambda[1] = lb;
    best.lambda[2] = lc;
    best.v = v;
    best.vv = vv;
    return;
  }
  // The nearest point lies on an edge that has the origin on its outer side.
  if (flat || !(c > 0)) segment(w, i, j, best);
  if (flat || !(b > 0)) segment(w, i, k, best);
  if (flat || !(b + c < nn)) segment(w, j, k, best);
}

// Does not change `best` if the origin is inside. The volume is equal from every face up to its
// sign.
void tetrahedron(const Vec3d* w, Face& best) {
  const Vec3d e1 = w[1] - w[0], e2 = w[2] - w[0], e3 = w[3] - w[0], f2 = w[2] - w[1],
              f3 = w[3] - w[1];
  // Named after the opposite corner.
  const Vec3d n3 = cross(e1, e2), n2 = cross(e1, e3), n1 = cross(e2, e3), n0 = cross(f2, f3);
  const double volume = dot(n3, e3);
  const auto consider = [&](int i, int j, int k, const Vec3d& ab, const Vec3d& ac, const Vec3d& n,
                            double height, const Vec3d& ad) {
    const double origin = -dot(n, w[i]);
    const bool flat = !(height * height > 1e-26 * squared_norm(n) * squared_norm(ad));
    if (flat || (height > 0 ? origin < 0 : origin > 0)) triangle(w, i, j, k, ab, ac, n, best);
  };
  consider(0, 1, 2, e1, e2, n3, volume, e3);
  consider(0, 1, 3, e1, e3, n2, -volume, e2);
  consider(0, 2, 3, e2, e3, n1, volume, e1);
  consider(1, 2, 3, f2, f3, n0, -volume, e1);
}

}  // namespace

SimplexFace nearest_face(const Vec3d* w, int n) {
  SimplexFace best;
  best.vv = INFINITY;
  if (n == 1)
    point(w, 0, best);
  else if (n == 2)
    segment(w, 0, 1, best);
  else if (n == 3)
    triangle(w, 0, 1, 2, w[1] - w[0], w[2] - w[0], cross(w[1] - w[0], w[2] - w[0]), best);
  else
    tetrahedron(w, best);
  return best;
}

Vec3d nearest_point(Simplex& s) {
  const SimplexFace f = nearest_face(s.w, s.n);
  if (s.n == 4 && f.n == 0) return {};
  reduce(s, f);
  return f.v;
}

}  // namespace robosim

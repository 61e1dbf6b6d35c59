// Triangle (A) against sphere (B): the triangle's point nearest to the centre. A rounding is a constant of the distance.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/directions.h"
#include "geometry/distance/simplex.h"
#include "geometry/query.h"

namespace robosim {

struct TriangleSphere {
  static constexpr ShapeType a = ShapeType::triangle, b = ShapeType::sphere;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&) {
    return signed_distance_in_W(A, SE3d(), B, X_AB);
  }
  static ROBOSIM_INLINE Witness signed_distance_in_W(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB) {
    const Vec3d &c_W = X_WB.p, c = transpose_times(X_WA.R, c_W - X_WA.p), w[3] = {A.vertex[0] - c, A.vertex[1] - c, A.vertex[2] - c};
    const double ww[3] = {squared_norm(w[0]), squared_norm(w[1]), squared_norm(w[2])};
    const Vec3d v = nearest_point(w, ww);
    const double vv = squared_norm(v), d = std::sqrt(vv);
    Vec3d n_A = v * (-1 / d);
    if (!(vv > near_touch * near_touch * (ww[0] + ww[1] + ww[2]))) [[unlikely]] n_A = leave(A, w);
    const Vec3d n = X_WA.R * n_A;
    return {d - A.rounding - B.radius, c_W + (A.rounding - d) * n, c_W - B.radius * n, n};
  }

 private:
  static constexpr double near_touch = 1e-5;  // of the size

  // Of the triangle from the centre, in few branches: of all edges, and of the face where the centre is over it.
  static ROBOSIM_INLINE Vec3d nearest_point(const Vec3d (&w)[3], const double (&ww)[3]) {
    const Vec3d e[3] = {w[1] - w[0], w[2] - w[1], w[0] - w[2]}, n = cross(e[0], e[1]);
    const double ee[3] = {squared_norm(e[0]), squared_norm(e[1]), squared_norm(e[2])}, nn = squared_norm(n);
    constexpr double needle = 1e-16;  // of the angles, squared
    if (!(nn > needle * ee[0] * ee[1] && nn > needle * ee[0] * ee[2])) [[unlikely]] return nearest_face(w, 3).v;
    // How far the centre is within each side, times the side's length and that of n.
    double within[3];
    for (int i = 0; i < 3; ++i) within[i] = dot(cross(w[i], e[i]), n);
    if (within[0] > 0 && within[1] > 0 && within[2] > 0) return n * (dot(n, w[0]) / nn);
    double least = INFINITY;
    Vec3d v;
    for (int i = 0; i < 3; ++i) {
      const int j = i == 2 ? 0 : i + 1;
      const double t = -dot(w[i], e[i]);
      const bool at_i = !(t > 0), at_j = !(t < ee[i]);
      Vec3d x = w[i] + (t / ee[i]) * e[i];
      x -= (dot(x, e[i]) / ee[i]) * e[i];  // perpendicular to the edge however near the centre is
      const Vec3d& corner = at_i ? w[i] : w[j];
      constexpr double after_edges = 1 + 4e-16;  // where rounding does not tell, an edge is nearer than its ends
      const double xx = at_i || at_j ? after_edges * (at_i ? ww[i] : ww[j]) : squared_norm(x);
      const Vec3d& here = at_i || at_j ? corner : x;
      v = xx < least ? here : v;
      least = xx < least ? xx : least;
    }
    return v;
  }
  // The direction from a corner or an edge that is all but there drowns in rounding: turned until the other corners are behind, an edge's about it.
  [[gnu::noinline, gnu::cold]] static Vec3d leave(const Shape& A, const Vec3d* w) {
    const SimplexFace nearest = nearest_face(w, 3);
    const double size = squared_norm(w[0]) + squared_norm(w[1]) + squared_norm(w[2]);
    constexpr int max_rounds = 16;
    constexpr double rounding = 1e-15;
    // A centre on the triangle, to rounding, leaves along the face's normal, which is one of its edges and corners too.
    if (!(nearest.vv > rounding * rounding * size)) return core<ShapeType::triangle>(A).normal();
    Vec3d n = nearest.v * (-1 / std::sqrt(nearest.vv));
    if (nearest.n == 3) return n;
    const Vec3d& from = A.vertex[nearest.index[0]];
    const Vec3d along = nearest.n == 2 ? unit_or(A.vertex[nearest.index[1]] - from, Vec3d()) : Vec3d();
    n -= dot(n, along) * along;
    bool all_behind = false;
    for (int round = 0; round < max_rounds && !all_behind; ++round) {
      all_behind = true;
      for (int i = 0; i < 3; ++i) {
        if (i == nearest.index[0] || (nearest.n == 2 && i == nearest.index[1])) continue;
        Vec3d to = A.vertex[i] - from;
        to -= dot(to, along) * along;
        const double ahead = dot(n, to), length2 = squared_norm(to);
        if (!(ahead > 1e-15 * std::sqrt(length2))) continue;
        n -= (ahead / length2) * to;
        n -= dot(n, along) * along;  // of a needle `to` is not quite square to it
        n = unit_or(n, core<ShapeType::triangle>(A).normal()), all_behind = false;
      }
    }
    return n;
  }
};

}  // namespace robosim

// Triangle (A) against sphere (B): the triangle's point nearest to the center. A rounding reduces
// the distance by a constant.
#pragma once

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
  static ROBOSIM_INLINE Witness signed_distance_in_W(const Shape& A, const SE3d& X_WA,
                                                     const Shape& B, const SE3d& X_WB) {
    const Vec3d &c_W = X_WB.p, c = transpose_times(X_WA.R, c_W - X_WA.p),
                w[3] = {A.vertex[0] - c, A.vertex[1] - c, A.vertex[2] - c};
    const double ww[3] = {squared_norm(w[0]), squared_norm(w[1]), squared_norm(w[2])};
    const Vec3d v = nearest_point(w, ww);
    const double vv = squared_norm(v);
    double d = std::sqrt(vv);
    Vec3d n_A = v * (-1 / d);
    if (!(vv > near_touch * near_touch * (ww[0] + ww[1] + ww[2]))) [[unlikely]]
      n_A = leave(A, w, d);
    const Vec3d n = X_WA.R * n_A;
    return {d - A.rounding - B.radius, c_W + (A.rounding - d) * n, c_W - B.radius * n, n};
  }

 private:
  static constexpr double near_touch = 1e-5;  // relative to the size

  // Nearest point of the triangle, relative to the center, with few branches: from all edges, and
  // from the face if the center projects into it.
  static ROBOSIM_INLINE Vec3d nearest_point(const Vec3d (&w)[3], const double (&ww)[3]) {
    const Vec3d e[3] = {w[1] - w[0], w[2] - w[1], w[0] - w[2]}, n = cross(e[0], e[1]);
    const double ee[3] = {squared_norm(e[0]), squared_norm(e[1]), squared_norm(e[2])},
                 nn = squared_norm(n);
    constexpr double needle = 1e-16;  // squared sine of the angles
    if (!(nn > needle * ee[0] * ee[1] && nn > needle * ee[0] * ee[2])) [[unlikely]]
      return nearest_face(w, 3).v;
    // Distance of the center inside each side, times the length of the side and of n.
    double within[3];
    for (int i = 0; i < 3; ++i) within[i] = dot(cross(w[i], e[i]), n);
    if (within[0] > 0 && within[1] > 0 && within[2] > 0) return n * (dot(n, w[0]) / nn);
    // Otherwise the nearest point is on an edge that has the center on its outer side.
    double least = INFINITY;
    Vec3d v;
    for (int i = 0; i < 3; ++i) {
      const int j = i == 2 ? 0 : i + 1;
      const double t = -dot(w[i], e[i]);
      const bool at_i = !(t > 0), at_j = !(t < ee[i]);
      Vec3d x = w[i] + (t / ee[i]) * e[i];
      x -= (dot(x, e[i]) / ee[i]) * e[i];  // perpendicular to the edge even if the center is near
      const Vec3d& corner = at_i ? w[i] : w[j];
      // Differences below rounding: an edge is preferred to its ends.
      constexpr double after_edges = 1 + 4e-16;
      const double xx = at_i || at_j ? after_edges * (at_i ? ww[i] : ww[j]) : squared_norm(x);
      const Vec3d& here = at_i || at_j ? corner : x;
      const bool is_nearer = !(within[i] > 0) & (xx < least);
      v = is_nearer ? here : v;
      least = is_nearer ? xx : least;
    }
    return v;
  }
  // Normal at a point that the center nearly touches, where the direction to the center is lost in
  // rounding. Takes the nearest of the directions that have all corners behind them. d: distance,
  // which over a face is measured along the face's normal.
  [[gnu::noinline, gnu::cold]] static Vec3d leave(const Shape& A, const Vec3d (&w)[3], double& d) {
    constexpr double rounding = 1e-15, flat = 1e-10;
    const auto core = robosim::core<ShapeType::triangle>(A);
    const int longest = core.longest_edge();
    const Vec3d line = unit_or(core.edge(longest), {1, 0, 0});
    const double negligible = flat * norm(core.edge(longest));
    const auto without = [](const Vec3d& x, const Vec3d& direction) {
      return x - dot(x, direction) * direction;
    };
    // The normal of a needle is less accurate than its line.
    const Vec3d face = unit_or(without(core.normal(), line), perpendicular(line));
    const SimplexFace nearest = nearest_face(w, 3);
    d = std::sqrt(nearest.vv);
    // For a center on the triangle, the face's normal is also a normal of its edges and corners.
    if (!(nearest.vv >
          rounding * rounding * (squared_norm(w[0]) + squared_norm(w[1]) + squared_norm(w[2]))))
      return face;
    const Vec3d n = nearest.v * (-1 / d);
    const auto turned = [&](const Vec3d& m, const Vec3d& to) {
      return unit_or(without(m, unit_or(to, Vec3d())), face);
    };
    // Normal of the face on the center's side, or for a needle the perpendicular of its line.
    const bool is_needle =
        !(norm(cross(line, core.edge(longest == 2 ? 0 : longest + 1))) > negligible);
    const Vec3d straight = is_needle ? turned(n, line) : dot(n, face) > 0 ? face : -face;
    // Nearest point on the face.
    if (nearest.n == 3) {
      if (!is_needle) d = std::fabs(dot(face, w[0]));
      return straight;
    }
    const auto is_behind = [&](const Vec3d& m, const Vec3d& to) {
      const double length = norm(to);
      return length <= negligible || !(dot(m, to) > rounding * length);
    };
    const auto at = [&](int i) { return A.vertex[i % 3]; };
    // Nearest point on an edge: the normal is perpendicular to it, and may be bounded by the face.
    if (nearest.n == 2) {
      const int i = nearest.index[0], j = nearest.index[1];
      const Vec3d along = at(j) - at(i), m = turned(n, along);
      const Vec3d to = without(at(3 - i - j) - at(i), unit_or(along, Vec3d()));
      return is_behind(m, to) ? m : turned(turned(m, to), along);
    }
    // Nearest point at a corner: the normal may be bounded by one of its edges or by the face.
    const int i = nearest.index[0];
    const Vec3d to_next = at(i + 1) - at(i), to_last = at(i + 2) - at(i);
    if (is_behind(n, to_next) && is_behind(n, to_last)) return n;
    if (const Vec3d m = turned(n, to_next); !is_behind(n, to_next) && is_behind(m, to_last))
      return m;
    if (const Vec3d m = turned(n, to_last); !is_behind(n, to_last) && is_behind(m, to_next))
      return m;
    return straight;
  }
};

}  // namespace robosim

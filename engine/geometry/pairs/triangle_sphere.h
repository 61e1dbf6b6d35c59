// Triangle (A) against sphere (B): the triangle's point nearest to the centre. A rounding is a constant of the distance.
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
  static ROBOSIM_INLINE Witness signed_distance_in_W(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB) {
    const Vec3d &c_W = X_WB.p, c = transpose_times(X_WA.R, c_W - X_WA.p), w[3] = {A.vertex[0] - c, A.vertex[1] - c, A.vertex[2] - c};
    const SimplexFace nearest = nearest_face(w, 3);
    const double d = std::sqrt(nearest.vv), size = squared_norm(w[0]) + squared_norm(w[1]) + squared_norm(w[2]);
    // A centre on the triangle, to rounding, leaves along the face's normal, which is one of its edges and corners too.
    Vec3d n_A = nearest.vv > 1e-30 * size ? nearest.v * (-1 / d) : core<ShapeType::triangle>(A).normal();
    if (nearest.n < 3 && nearest.vv < near_touch * near_touch * size) leave(A, nearest, n_A);
    const Vec3d n = X_WA.R * n_A;
    return {d - A.rounding - B.radius, c_W + (A.rounding - d) * n, c_W - B.radius * n, n};
  }

 private:
  static constexpr double near_touch = 1e-5;  // of the size

  // The direction from a corner or an edge that is all but there drowns in rounding: turned until the other corners are behind, an edge's about it.
  static void leave(const Shape& A, const SimplexFace& nearest, Vec3d& n) {
    constexpr int max_rounds = 16;
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
  }
};

}  // namespace robosim

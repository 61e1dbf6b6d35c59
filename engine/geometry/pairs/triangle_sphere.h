// Triangle (A) against sphere (B): the triangle's point nearest to the centre. A rounding is a constant of the distance.
#pragma once

#include <cmath>

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
    const double d = std::sqrt(nearest.vv);
    double squares = 0;
    for (int i = 0; i < nearest.n; ++i) squares += squared_norm(w[nearest.index[i]]);
    // A centre on the triangle, to rounding, leaves along the face's normal, which is one of its edges and corners too.
    const Vec3d n = X_WA.R * (nearest.vv > 1e-30 * squares ? nearest.v * (-1 / d) : core<ShapeType::triangle>(A).normal());
    return {d - A.rounding - B.radius, c_W + (A.rounding - d) * n, c_W - B.radius * n, n};
  }
};

}  // namespace robosim

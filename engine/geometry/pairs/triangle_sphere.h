// Triangle (A) against sphere (B): the triangle's point nearest to the centre. A rounding is a constant of the distance.
#pragma once

#include "geometry/distance/simplex.h"
#include "geometry/query.h"

namespace robosim {

struct TriangleSphere {
  static constexpr ShapeType a = ShapeType::triangle, b = ShapeType::sphere;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&) {
    const Vec3d& c = X_AB.p;
    Simplex s;
    for (const Vec3d& v : A.vertex) s.add(v - c, v);
    const Vec3d to = nearest_point(s);  // from the centre
    const double d = norm(to), touch = 1e-15 * (norm(s.w[0]) + norm(s.w[s.n - 1]));
    // A centre on the triangle, to rounding, leaves along the face's normal, which is one of its edges and corners too.
    const Vec3d n = d > touch ? to * (-1 / d) : core<ShapeType::triangle>(A).normal();
    return {d - A.rounding - B.radius, c + to + A.rounding * n, c - B.radius * n, n};
  }
};

}  // namespace robosim

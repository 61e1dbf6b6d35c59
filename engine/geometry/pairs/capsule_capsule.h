// Two capsules: the distance of their core segments.
//
// p(s) = s z on A, q(t) = c + t u on B (u unit); the nearest points are interior (2 x 2 system) or at an end of one segment, whose
// partner is its projection. Taking the best of all candidates is exact for parallel segments too. Segments that cross leave
// each other along their common normal.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/directions.h"
#include "geometry/query.h"

namespace robosim {

struct CapsuleCapsule {
  static constexpr ShapeType a = ShapeType::capsule, b = ShapeType::capsule;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&) {
    const double ha = A.half_length, hb = B.half_length;
    const Vec3d &c = X_AB.p, u = X_AB.R.col(2);
    double best_s = 0, best_t = 0, best = INFINITY;
    const auto offset = [&](double s, double t) { return Vec3d(c.x + t * u.x, c.y + t * u.y, c.z + t * u.z - s); };
    const auto consider = [&](double s, double t) {
      const double d = squared_norm(offset(s, t));
      if (d < best) best = d, best_s = s, best_t = t;
    };
    // Interior: v perpendicular to z and u, with sin^2 of their angle as determinant.
    const double cu = dot(c, u), sin2 = u.x * u.x + u.y * u.y;
    Vec3d normal = cross(Vec3d(0, 0, 1), u);
    if (sin2 > 0) {
      const double t = (c.z * u.z - cu) / sin2, s = c.z + t * u.z;
      if (std::fabs(s) <= ha && std::fabs(t) <= hb) consider(s, t);
    }
    for (const double sign : {-1.0, 1.0}) {
      consider(sign * ha, std::clamp(sign * ha * u.z - cu, -hb, hb));
      consider(std::clamp(c.z + sign * hb * u.z, -ha, ha), sign * hb);
    }
    const Vec3d v = offset(best_s, best_t);
    const double d = norm(v);
    Vec3d n;
    if (d > 1e-14 * (norm(c) + ha + hb)) {
      n = v * (1 / d);
    } else {  // touching cores: the common normal, on the side of what is left of v
      n = unit_or(normal, {1, 0, 0});
      if (dot(n, v) < 0) n = -n;
    }
    const Vec3d q(0, 0, best_s);
    return {d - A.radius - B.radius, q + A.radius * n, q + v - B.radius * n, n};
  }
};

}  // namespace robosim

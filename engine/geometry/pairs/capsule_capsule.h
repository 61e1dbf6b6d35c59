// Two capsules: the distance of their core segments.
//
// p(s) = s z on A, q(t) = c + t u on B (u unit). First take the nearest points of the lines, and
// clamp s to A's segment. Then take the nearest t, clamped to B's segment, and if t was clamped, s
// again. The result is the nearest points of the segments, also of parallel ones, without comparing
// distances that may be equal. The normal is along the common normal of the lines, also if these
// intersect.
//
// Source: Ericson, "Real-Time Collision Detection", 2005, sec. 5.1.9.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/directions.h"
#include "geometry/query.h"

namespace robosim {

struct CapsuleCapsule {
  static constexpr ShapeType a = ShapeType::capsule, b = ShapeType::capsule;

  static Witness signed_distance_in_W(const Shape& A, const SE3d& X_WA, const Shape& B,
                                      const SE3d& X_WB) {
    const Nearest m = nearest(A, B, transpose_times(X_WA.R, X_WB.p - X_WA.p),
                              transpose_times(X_WA.R, X_WB.R.col(2)));
    const Vec3d n = X_WA.R * m.normal, q = X_WA.p + m.s * X_WA.R.col(2);
    return {m.distance - A.radius - B.radius, q + A.radius * n, q + (m.distance - B.radius) * n, n};
  }
  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&) {
    return signed_distance_in_W(A, SE3d(), B, X_AB);
  }

 private:
  struct Nearest {
    double s, distance;  // of the segments; the point on A's segment is s z
    Vec3d normal;
  };
  // c: center of B's segment; u: its direction.
  static Nearest nearest(const Shape& A, const Shape& B, const Vec3d& c, const Vec3d& u) {
    const double ha = A.half_length, hb = B.half_length;
    const double cu = dot(c, u), sin2 = u.x * u.x + u.y * u.y;  // of the angle between the segments
    // Nearest points of the lines, projected along z, so that nothing cancels. For parallel lines,
    // the projection of B's center.
    const double t_line = sin2 > 0 ? -(c.x * u.x + c.y * u.y) / sin2 : 0;
    double s = std::clamp(c.z + t_line * u.z, -ha, ha);
    const double t_free = s * u.z - cu, t = std::clamp(t_free, -hb, hb);
    if (t != t_free) s = std::clamp(c.z + t * u.z, -ha, ha);
    Vec3d v(c.x + t * u.x, c.y + t * u.y, c.z + t * u.z - s);
    const bool inside_A = std::fabs(s) < ha, inside_B = std::fabs(t) < hb;
    // v is perpendicular to a segment that it ends inside of, even if v is very short.
    if (inside_A)
      v.z = 0;
    else if (inside_B)
      v -= dot(v, u) * u;
    double d = norm(v);
    const bool touching = d <= 1e-14 * (norm(c) + ha + hb);  // v is then rounding only
    Vec3d n = unit_or(v, {1, 0, 0});
    if ((inside_A && inside_B) || touching) {
      n = unit_or({-u.y, u.x, 0}, touching ? Vec3d(1, 0, 0) : n);
      if (dot(n, v) < 0) n = -n;
      d = dot(n, v);
    }
    return {s, d, n};
  }
};

}  // namespace robosim

// Capsule (A) against a solid with a closed-form distance from a point (B): least distance over the
// points of the capsule's segment.
//
// p(s) = c + s u in B's frame. The distance f(s) of p(s) from a convex set is convex, with the
// derivative f' = n.u, where n is the normal at the nearest point, and f'' <= (1 - f'^2) / f.
// So f' = 0 is solved by the secant method, bracketed by the interval in which f' changes its sign.
// The first step uses the bound on f''. If the segment intersects the solid, or nearly, GJK and EPA
// compute the answer.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/pairs/cone_sphere.h"
#include "geometry/pairs/cylinder_sphere.h"
#include "geometry/pairs/generic.h"

namespace robosim {

template <ShapeType Tb, class SolidSphere>
struct SegmentAgainst : GenericPair<ShapeType::capsule, Tb> {
  using Generic = GenericPair<ShapeType::capsule, Tb>;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB,
                                 PairCache& cache) {
    constexpr int max_rounds = 40;
    constexpr double near = 1e-3, rounding = 2e-16;  // relative to the size
    const double h = A.half_length, size = h + B.radius + B.half_length;
    const Vec3d u = X_AB.R.row[2], c = -transpose_times(X_AB.R, X_AB.p);
    // Start at the last point, or else at the projection of B's center.
    double s = std::clamp(cache.has_points ? cache.p_A.z : -dot(c, u), -h, h);
    double below = -h, above = h, s_before = 0, slope_before = 0, wide = 2 * h;
    for (int round = 0; round < max_rounds; ++round) {
      const PointDistance f = SolidSphere::from_point(B, c + s * u);
      if (!(f.distance > near * size)) break;
      const double slope = dot(f.normal, u);
      double next = slope == slope_before || round == 0
                        ? s - slope * f.distance / max_number(1 - slope * slope, 1e-3)
                        : s - slope * (s - s_before) / (slope - slope_before);
      if (slope > 0)
        above = s;
      else
        below = s;
      // Bisect if the secant leaves the interval, or does not shrink it for some rounds.
      if (round % 4 == 3) {
        if (above - below > 0.5 * wide) next = 0.5 * (below + above);
        wide = above - below;
      }
      if (!(next > below)) next = below > -h ? 0.5 * (below + above) : -h;
      if (!(next < above)) next = above < h ? 0.5 * (below + above) : h;
      // Converged: the nearest points are known.
      if (std::fabs(next - s) <= rounding * size || std::fabs(slope) <= rounding) {
        const Vec3d n = -(X_AB.R * f.normal), on_segment(0, 0, s);
        cache.axis = n;
        cache.p_A = on_segment;
        cache.p_B = c + s * u - f.distance * f.normal;
        cache.has_points = true;
        return {f.distance - A.radius, on_segment + A.radius * n, on_segment + f.distance * n, n};
      }
      s_before = s;
      slope_before = slope;
      s = next;
    }
    return Generic::signed_distance(A, B, X_AB, cache);
  }
};

using CapsuleCylinder = SegmentAgainst<ShapeType::cylinder, CylinderSphere>;
using CapsuleCone = SegmentAgainst<ShapeType::cone, ConeSphere>;

}  // namespace robosim

// Capsule (A) against a solid whose distance from a point is a formula (B): the least distance from
// a point of the capsule's segment.
//
// p(s) = c + s u in B's frame. The distance f(s) of p(s) from a convex set is convex, with the
// derivative f' = n.u, n the normal there, and f'' <= (1 - f'^2) / f. So f' = 0 is solved by
// secants, the first step by that bound on f'', within the interval where f' changes its sign.
// Where the segment meets the solid, or all but meets it, GJK and EPA answer.
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
    constexpr double near = 1e-3, rounding = 2e-16;  // of the size
    const double h = A.half_length, size = h + B.radius + B.half_length;
    const Vec3d u = X_AB.R.row[2], c = -transpose_times(X_AB.R, X_AB.p);
    // From the last point, else from that beside B's center.
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
      // A secant that leaves the interval, or does not make it smaller for a while, is no help.
      if (round % 4 == 3) {
        if (above - below > 0.5 * wide) next = 0.5 * (below + above);
        wide = above - below;
      }
      if (!(next > below)) next = below > -h ? 0.5 * (below + above) : -h;
      if (!(next < above)) next = above < h ? 0.5 * (below + above) : h;
      if (std::fabs(next - s) <= rounding * size || std::fabs(slope) <= rounding) {
        const Vec3d n = -(X_AB.R * f.normal), on_segment(0, 0, s);
        cache.axis = n, cache.p_A = on_segment, cache.p_B = c + s * u - f.distance * f.normal,
        cache.has_points = true;
        return {f.distance - A.radius, on_segment + A.radius * n, on_segment + f.distance * n, n};
      }
      s_before = s, slope_before = slope, s = next;
    }
    return Generic::signed_distance(A, B, X_AB, cache);
  }
};

using CapsuleCylinder = SegmentAgainst<ShapeType::cylinder, CylinderSphere>;
using CapsuleCone = SegmentAgainst<ShapeType::cone, ConeSphere>;

}  // namespace robosim

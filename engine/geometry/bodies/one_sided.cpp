#include "geometry/bodies/one_sided.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

constexpr int max_steps = 40;

}  // namespace

WayOut way_out(const Shape& S, const SE3d& X_WS, const Shape& T, const SE3d& X_WT,
               const Vec3d& n_W) {
  // Start beyond T's farthest point along n, where S and T are apart or touch.
  const Vec3d low = X_WS * support(S, transpose_times(X_WS.R, -n_W)),
              high = X_WT * support(T, transpose_times(X_WT.R, n_W));
  const double deepest = std::max(0.0, dot(n_W, high - low));
  const double rounding = 1e-15 * (norm(X_WS.p) + norm(X_WT.p) + norm(high) + norm(low));
  double t = deepest;
  // Newton's method on the signed distance of S + t n and T.
  SE3d X = X_WS;
  WayOut out;
  for (int step = 0; step < max_steps; ++step) {
    X.p = X_WS.p + t * n_W;
    out.touch = signed_distance(S, X, T, X_WT);
    const double gap = out.touch.distance, slope = -dot(out.touch.normal, n_W);
    if (!(std::fabs(gap) > rounding)) break;
    if (!(slope > 1e-9)) {
      out.found = false;
      break;
    }
    const double next = std::clamp(t - gap / slope, 0.0, deepest);
    if (std::fabs(next - t) <= rounding) break;
    t = next;
  }
  if (!out.found) {
    out.witness = {-deepest, low, low + deepest * n_W, -n_W};
  } else {
    out.witness = {-t, out.touch.p_WB - t * n_W, out.touch.p_WB, -n_W};
  }
  return out;
}

Witness one_sided_distance(const Shape& S, const SE3d& X_WS, const Shape& T,
                           const TriangleSurface& surface, int t, const SE3d& X_WT) {
  const Witness w = signed_distance(S, X_WS, T, X_WT);
  if (w.distance > 0 || S.type == ShapeType::half_space) return w;
  const Vec3d m = transpose_times(X_WT.R, -w.normal), n = surface.nearest_normal(t, m);
  if (n.x == m.x && n.y == m.y && n.z == m.z) return w;
  return way_out(S, X_WS, T, X_WT, X_WT.R * n).witness;
}

Witness one_sided_distance(const Shape& A, const TriangleSurface& surface_A, int a,
                           const SE3d& X_WA, const Shape& B, const TriangleSurface& surface_B,
                           int b, const SE3d& X_WB) {
  const Witness from_B = one_sided_distance(A, X_WA, B, surface_B, b, X_WB);
  if (from_B.distance > 0) return from_B;
  const Witness from_A = swapped(one_sided_distance(B, X_WB, A, surface_A, a, X_WA));
  return from_A.distance > from_B.distance ? from_A : from_B;
}

}  // namespace robosim

#include "geometry/compound_rays.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace robosim {
namespace {

// Where a ray enters a box, or infinity: Kay, Kajiya, "Ray tracing complex scenes", 1986. Boxes count as larger by `slack`.
double entry(const Aabb& box, const Ray& ray, double slack, double max_t) {
  double first = 0, last = max_t;
  for (int i = 0; i < 3; ++i) {
    const double o = ray.origin[i], d = ray.direction[i], low = box.lower[i] - slack - o, high = box.upper[i] + slack - o;
    if (d == 0) {
      if (low > 0 || high < 0) return std::numeric_limits<double>::infinity();
      continue;
    }
    first = std::max(first, (d > 0 ? low : high) / d), last = std::min(last, (d > 0 ? high : low) / d);
  }
  return first <= last ? first : std::numeric_limits<double>::infinity();
}

}  // namespace

PieceRayHit ray_cast(const Compound& compound, const SE3d& X_WB, const Ray& ray, double max_t) {
  PieceRayHit best;
  if (!(squared_norm(ray.direction) > 0) || !(max_t >= 0)) return best;
  const AabbTree& tree = compound.tree();
  const Ray ray_B{X_WB.inverse_times(ray.origin), transpose_times(X_WB.R, ray.direction)};
  double slack = norm(ray_B.origin) + norm(X_WB.p);
  for (const Vec3d& corner : {tree.node(0).box.lower, tree.node(0).box.upper})
    for (int i = 0; i < 3; ++i)
      if (std::isfinite(corner[i])) slack = std::max(slack, std::fabs(corner[i]));
  slack *= 1e-14;
  // A part of t, too: what is entered later than the best hit cannot be hit earlier, but for rounding.
  const auto limit = [&] { return best.piece < 0 ? max_t : best.hit.t * (1 + 1e-14); };

  struct Open {
    int node;
    double t;
  };
  Open stack[64];
  int depth = 0;
  stack[depth++] = {0, entry(tree.node(0).box, ray_B, slack, max_t)};
  while (depth > 0) {
    const auto [number, t] = stack[--depth];
    if (!(t <= limit()) || t == std::numeric_limits<double>::infinity()) continue;
    const AabbTree::Node& node = tree.node(number);
    if (!node.is_leaf()) {
      Open child[2];
      for (int i = 0; i < 2; ++i) child[i] = {node.first + i, entry(tree.node(node.first + i).box, ray_B, slack, max_t)};
      if (child[0].t < child[1].t) std::swap(child[0], child[1]);
      stack[depth++] = child[0], stack[depth++] = child[1];
      continue;
    }
    for (int place = node.first; place < node.first + node.count; ++place) {
      const int piece = tree.item(place);
      if (node.count > 1 && !(entry(compound.piece_box(piece), ray_B, slack, max_t) <= limit())) continue;
      const RayHit hit = compound.with_piece(
          piece, [&](const Compound::Piece& P) { return ray_cast(P.shape, X_WB * P.X_BP, ray, max_t); });
      if (hit.hit && (best.piece < 0 || hit.t < best.hit.t || (hit.t == best.hit.t && piece < best.piece))) best = {hit, piece};
    }
  }
  return best;
}

}  // namespace robosim

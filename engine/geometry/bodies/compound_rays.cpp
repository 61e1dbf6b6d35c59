#include "geometry/bodies/compound_rays.h"

#include "geometry/bodies/ray_descent.h"

namespace robosim {

PieceRayHit ray_cast(const Compound& compound, const SE3d& X_WB, const Ray& ray, double max_t) {
  PieceRayHit best;
  if (!(squared_norm(ray.direction) > 0) || !(max_t >= 0)) return best;
  const AabbTree& tree = compound.tree();
  const Ray ray_B{X_WB.inverse_times(ray.origin), transpose_times(X_WB.R, ray.direction)};
  const double slack = ray_slack(tree.node(0).box, ray_B.origin) + 1e-14 * norm(X_WB.p);
  // Allow for rounding relative to t. A box entered after the best hit cannot have an earlier one.
  const auto limit = [&] { return best.piece < 0 ? max_t : best.hit.t * (1 + 1e-14); };
  descend(tree, ray_B, slack, limit, [&](const AabbTree::Node& node) {
    for (int place = node.first; place < node.first + node.count; ++place) {
      const int piece = tree.item(place);
      if (node.count > 1 && !(ray_entry(compound.piece_box(piece), ray_B, slack, max_t) <= limit()))
        continue;
      const RayHit hit = compound.with_piece(piece, [&](const Compound::Piece& P) {
        return ray_cast(P.shape, X_WB * P.X_BP, ray, max_t);
      });
      if (hit.hit &&
          (best.piece < 0 || hit.t < best.hit.t || (hit.t == best.hit.t && piece < best.piece)))
        best = {hit, piece};
    }
  });
  return best;
}

}  // namespace robosim

#include "geometry/bodies/collision_geometry.h"

#include <algorithm>

namespace robosim {
namespace {

// f(cache of pieces), which is kept in that of the pair.
template <class F>
auto with_pieces_of(PairCache* cache, F&& f) {
  PieceCache pieces;
  if (cache) pieces = {cache->piece_A, cache->piece_B};
  const auto answer = f(&pieces);
  if (cache) cache->piece_A = pieces.piece_A, cache->piece_B = pieces.piece_B;
  return answer;
}

}  // namespace

Ball bounding_ball(const CollisionGeometry& geometry) {
  if (!geometry.compound) return bounding_ball(geometry.shape);
  const Aabb& box = geometry.compound->tree().node(0).box;
  return {0.5 * (box.lower + box.upper), 0.5 * norm(box.upper - box.lower) * (1 + 1e-12)};
}

Aabb bounding_box(const CollisionGeometry& geometry, const SE3d& X_WG) {
  if (!geometry.compound) return bounding_box(geometry.shape, X_WG);
  return bounding_box(geometry.compound->tree().node(0).box, X_WG);
}

namespace detail {

bool closer_than(double margin, const CollisionGeometry& A, const SE3d& X_WA, const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache) {
  return with_pieces_of(cache, [&](PieceCache* pieces) { return closer_than(margin, A.body(), X_WA, B.body(), X_WB, pieces); });
}

double distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA, const CollisionGeometry& B, const SE3d& X_WB,
                            PairCache* cache) {
  return with_pieces_of(cache, [&](PieceCache* pieces) { return distance_lower_bound(enough, A.body(), X_WA, B.body(), X_WB, pieces); });
}

PieceWitness closest_pieces(const CollisionGeometry& A, const SE3d& X_WA, const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache) {
  return with_pieces_of(cache, [&](PieceCache* pieces) { return closest_pieces(A.body(), X_WA, B.body(), X_WB, pieces); });
}

}  // namespace detail

}  // namespace robosim

#include "geometry/bodies/collision_geometry.h"

#include <algorithm>

namespace robosim {
namespace {

// Call f with a cache of pieces, which is read from and kept in the cache of the pair.
template <class F>
auto with_pieces_of(PairCache* cache, F&& f) {
  PieceCache pieces;
  if (cache) pieces = {cache->piece_A, cache->piece_B};
  const auto answer = f(&pieces);
  if (cache) {
    cache->piece_A = pieces.piece_A;
    cache->piece_B = pieces.piece_B;
  }
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

namespace {

// True if a connected part of one body lies inside the other, whose surface is open.
bool is_inside_open(const CollisionGeometry& A, const SE3d& X_WA, const CollisionGeometry& B,
                    const SE3d& X_WB) {
  return (B.exact && B.exact->is_open() &&
          piece_inside(A.exact_body(), X_WA, *B.exact, X_WB) >= 0) ||
         (A.exact && A.exact->is_open() && piece_inside(B.exact_body(), X_WB, *A.exact, X_WA) >= 0);
}

}  // namespace

bool shapes_closer_than(double margin, const CollisionGeometry& A, const SE3d& X_WA,
                        const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache) {
  if (!A.compound && !B.compound) return closer_than(margin, A.shape, X_WA, B.shape, X_WB, cache);
  return with_pieces_of(cache, [&](PieceCache* pieces) {
    return closer_than(margin, A.body(), X_WA, B.body(), X_WB, pieces);
  });
}

double shapes_distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA,
                                   const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache) {
  if (!A.compound && !B.compound)
    return distance_lower_bound(enough, A.shape, X_WA, B.shape, X_WB, cache);
  return with_pieces_of(cache, [&](PieceCache* pieces) {
    return distance_lower_bound(enough, A.body(), X_WA, B.body(), X_WB, pieces);
  });
}

PieceWitness shapes_closest_pieces(const CollisionGeometry& A, const SE3d& X_WA,
                                   const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache) {
  if (!A.compound && !B.compound)
    return {signed_distance(A.shape, X_WA, B.shape, X_WB, cache), 0, 0};
  return with_pieces_of(cache, [&](PieceCache* pieces) {
    return closest_pieces(A.body(), X_WA, B.body(), X_WB, pieces);
  });
}

double exact_distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA,
                                  const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache) {
  if (!A.exact && !B.exact) return shapes_distance_lower_bound(enough, A, X_WA, B, X_WB, cache);
  const double bound = with_pieces_of(cache, [&](PieceCache* pieces) {
    return distance_lower_bound(enough, A.exact_body(), X_WA, B.exact_body(), X_WB, pieces);
  });
  return bound > 0 && is_inside_open(A, X_WA, B, X_WB) ? 0 : bound;
}

namespace detail {

bool closer_than(double margin, const CollisionGeometry& A, const SE3d& X_WA,
                 const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache) {
  if (!A.exact && !B.exact) return shapes_closer_than(margin, A, X_WA, B, X_WB, cache);
  if (!A.compound && !B.compound && !shapes_closer_than(margin, A, X_WA, B, X_WB, cache))
    return false;
  return with_pieces_of(cache,
                        [&](PieceCache* pieces) {
                          return closer_than(margin, A.exact_body(), X_WA, B.exact_body(), X_WB,
                                             pieces);
                        }) ||
         is_inside_open(A, X_WA, B, X_WB);
}

double distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA,
                            const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache) {
  const double bound = shapes_distance_lower_bound(enough, A, X_WA, B, X_WB, cache);
  if (bound > 0 || (!A.exact && !B.exact)) return bound;
  if (cache) cache->axis = {};  // no plane between the shapes
  return exact_distance_lower_bound(enough, A, X_WA, B, X_WB, cache);
}

PieceWitness closest_pieces(const CollisionGeometry& A, const SE3d& X_WA,
                            const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache) {
  if (!A.exact && !B.exact) return shapes_closest_pieces(A, X_WA, B, X_WB, cache);
  const auto of_bodies = [&](const Vec3d& n_W) {
    return with_pieces_of(cache, [&](PieceCache* pieces) {
      return closest_pieces(A.exact_body(), X_WA, B.exact_body(), X_WB, pieces, n_W);
    });
  };
  // Shapes that are apart have the direction in which the bodies are nearest, or almost.
  if (!A.compound && !B.compound && !shapes_closer_than(0, A, X_WA, B, X_WB, cache))
    return of_bodies(signed_distance(A.shape, X_WA, B.shape, X_WB, cache).normal);
  // Penetration depth of the bodies costs a thousand times their overlap test; the shapes' depth
  // stands in for it.
  if (robosim::closer_than(0, A, X_WA, B, X_WB, cache))
    return shapes_closest_pieces(A, X_WA, B, X_WB, cache);
  return of_bodies({});
}

}  // namespace detail

}  // namespace robosim

// What a collider or an obstacle is made of: a convex shape, or a body of many pieces. Owns it, or shares it with others.
//
// The queries below are those of shapes (query.h) and of bodies (compound_query.h), whichever it takes; between two shapes they cost
// nothing more.
#pragma once

#include <memory>
#include <utility>

#include "geometry/bodies/compound_query.h"

namespace robosim {

struct CollisionGeometry {
  Shape shape;                              // where there is no compound
  std::shared_ptr<const Compound> compound;  // or null

  CollisionGeometry(Shape s) : shape(std::move(s)) {}
  CollisionGeometry(std::shared_ptr<const Compound> c) : compound(std::move(c)) {}

  Body body() const { return compound ? Body(*compound) : Body(shape); }
  bool is_half_space() const { return !compound && shape.type == ShapeType::half_space; }
};

// In its own frame: as bounding_ball of shapes; of a compound about the middle of its box.
Ball bounding_ball(const CollisionGeometry& geometry);
// As bounding_box of shapes; of a compound the box, in W, about its own one.
Aabb bounding_box(const CollisionGeometry& geometry, const SE3d& X_WG);

namespace detail {

bool closer_than(double margin, const CollisionGeometry& A, const SE3d& X_WA, const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache);
double distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA, const CollisionGeometry& B, const SE3d& X_WB,
                            PairCache* cache);
PieceWitness closest_pieces(const CollisionGeometry& A, const SE3d& X_WA, const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache);

}  // namespace detail

// Whether the signed distance is less than `margin`, or one lies in the solid of the other.
inline bool closer_than(double margin, const CollisionGeometry& A, const SE3d& X_WA, const CollisionGeometry& B, const SE3d& X_WB,
                        PairCache* cache = nullptr) {
  if (!A.compound && !B.compound) return closer_than(margin, A.shape, X_WA, B.shape, X_WB, cache);
  return detail::closer_than(margin, A, X_WA, B, X_WB, cache);
}

// A certified lower bound on the distance up to `enough`, zero when they overlap. Of two shapes cache->axis is then the normal of the plane
// between them, where one was found.
inline double distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA, const CollisionGeometry& B, const SE3d& X_WB,
                                   PairCache* cache = nullptr) {
  if (!A.compound && !B.compound) return distance_lower_bound(enough, A.shape, X_WA, B.shape, X_WB, cache);
  return detail::distance_lower_bound(enough, A, X_WA, B, X_WB, cache);
}

// The signed distance, and of which pieces; a shape is its own piece 0.
inline PieceWitness closest_pieces(const CollisionGeometry& A, const SE3d& X_WA, const CollisionGeometry& B, const SE3d& X_WB,
                                   PairCache* cache = nullptr) {
  if (!A.compound && !B.compound) return {signed_distance(A.shape, X_WA, B.shape, X_WB, cache), 0, 0};
  return detail::closest_pieces(A, X_WA, B, X_WB, cache);
}

}  // namespace robosim

// What a collider or an obstacle is made of: a convex shape, or a body of many pieces. Owns it, or
// shares it with others.
//
// The queries below are those of shapes (query.h) and of bodies (compound_query.h), whichever it
// takes; between two shapes they cost nothing more. A shape may stand for a body within it
// (exact_body.h). Then the shape only proves what is far: where the shapes are apart, so are the
// bodies, by no less. Where they are not, the body decides, and distances are those of the body;
// how deep they overlap is told of the shapes.
#pragma once

#include <memory>
#include <utility>

#include "base/lazy.h"
#include "geometry/bodies/compound_query.h"
#include "geometry/bodies/exact_body.h"

namespace robosim {

struct CollisionGeometry {
  Shape shape;                               // where there is no compound
  std::shared_ptr<const Compound> compound;  // or null
  std::shared_ptr<const ExactBody> exact;    // what the shape stands for, or null
  // Radii of balls within the exact body, of a scene (scene/collision_scene.cpp); where there is
  // one.
  std::shared_ptr<const Lazy<std::vector<double>>> cores;

  CollisionGeometry(Shape s) : shape(std::move(s)) {}
  CollisionGeometry(std::shared_ptr<const Compound> c) : compound(std::move(c)) {}
  CollisionGeometry(Shape s, std::shared_ptr<const ExactBody> e)
      : shape(std::move(s)),
        exact(std::move(e)),
        cores(exact ? std::make_shared<Lazy<std::vector<double>>>() : nullptr) {}

  // As forces of contact see it: the shape, whatever it stands for.
  Body body() const { return compound ? Body(*compound) : Body(shape); }
  Body exact_body() const { return exact ? Body(*exact->body()) : body(); }
  // True for a bare shape, which stands for no body.
  bool is_shape() const { return !compound && !exact; }
  bool is_half_space() const { return !compound && shape.type == ShapeType::half_space; }
};

// In its own frame: as bounding_ball of shapes; of a compound about the middle of its box.
Ball bounding_ball(const CollisionGeometry& geometry);
// As bounding_box of shapes; of a compound the box, in W, about its own one.
Aabb bounding_box(const CollisionGeometry& geometry, const SE3d& X_WG);

namespace detail {

bool closer_than(double margin, const CollisionGeometry& A, const SE3d& X_WA,
                 const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache);
double distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA,
                            const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache);
PieceWitness closest_pieces(const CollisionGeometry& A, const SE3d& X_WA,
                            const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache);

}  // namespace detail

// Whether the signed distance is less than `margin`, or one lies in the solid of the other.
inline bool closer_than(double margin, const CollisionGeometry& A, const SE3d& X_WA,
                        const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache = nullptr) {
  if (A.is_shape() && B.is_shape()) return closer_than(margin, A.shape, X_WA, B.shape, X_WB, cache);
  return detail::closer_than(margin, A, X_WA, B, X_WB, cache);
}

// A certified lower bound on the distance up to `enough`, zero when they overlap. Of two shapes
// cache->axis is then the normal of the plane between them, where one was found. Shapes that stand
// for bodies and are apart give theirs, which may be less than `enough` where the bodies' is not
// (exact_distance_lower_bound).
inline double distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA,
                                   const CollisionGeometry& B, const SE3d& X_WB,
                                   PairCache* cache = nullptr) {
  if (A.is_shape() && B.is_shape())
    return distance_lower_bound(enough, A.shape, X_WA, B.shape, X_WB, cache);
  return detail::distance_lower_bound(enough, A, X_WA, B, X_WB, cache);
}

// These questions of the shapes alone, whatever they stand for: where shapes are apart, so are the
// bodies, by no less.
bool shapes_closer_than(double margin, const CollisionGeometry& A, const SE3d& X_WA,
                        const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache = nullptr);
double shapes_distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA,
                                   const CollisionGeometry& B, const SE3d& X_WB,
                                   PairCache* cache = nullptr);
PieceWitness shapes_closest_pieces(const CollisionGeometry& A, const SE3d& X_WA,
                                   const CollisionGeometry& B, const SE3d& X_WB,
                                   PairCache* cache = nullptr);

// The distance bound of the bodies that shapes stand for.
double exact_distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA,
                                  const CollisionGeometry& B, const SE3d& X_WB,
                                  PairCache* cache = nullptr);

// The signed distance, and of which pieces; a shape is its own piece 0. Where a shape stands for a
// body: the bodies' distance and pieces where they are apart, and the shapes' where they overlap,
// which is at least as deep.
inline PieceWitness closest_pieces(const CollisionGeometry& A, const SE3d& X_WA,
                                   const CollisionGeometry& B, const SE3d& X_WB,
                                   PairCache* cache = nullptr) {
  if (A.is_shape() && B.is_shape())
    return {signed_distance(A.shape, X_WA, B.shape, X_WB, cache), 0, 0};
  return detail::closest_pieces(A, X_WA, B, X_WB, cache);
}

}  // namespace robosim

// Geometry of a collider or an obstacle: a convex shape, or a body of many pieces, owned or shared
// with others.
//
// The queries below are those of shapes (query.h) or of bodies (compound_query.h), depending on the
// geometry; between two shapes they cost nothing more. A shape may stand for a body within it
// (exact_body.h). The shape then only proves that something is far: if the shapes are apart, the
// bodies are apart by at least as much. Otherwise the body decides, and distances are those of the
// body. Penetration depth is that of the shapes.
#pragma once

#include <memory>
#include <utility>

#include "base/lazy.h"
#include "geometry/bodies/compound_query.h"
#include "geometry/bodies/exact_body.h"

namespace robosim {

struct CollisionGeometry {
  Shape shape;                               // used if there is no compound
  std::shared_ptr<const Compound> compound;  // or null
  std::shared_ptr<const ExactBody> exact;    // body that the shape stands for, or null
  // Radii of balls within the exact body, computed for a scene (scene/collision_scene.cpp); null
  // without an exact body.
  std::shared_ptr<const Lazy<std::vector<double>>> cores;

  CollisionGeometry(Shape s) : shape(std::move(s)) {}
  CollisionGeometry(std::shared_ptr<const Compound> c) : compound(std::move(c)) {}
  CollisionGeometry(Shape s, std::shared_ptr<const ExactBody> e)
      : shape(std::move(s)),
        exact(std::move(e)),
        cores(exact ? std::make_shared<Lazy<std::vector<double>>>() : nullptr) {}

  // Geometry for contact forces: the compound or the shape, whatever the shape stands for.
  Body body() const { return compound ? Body(*compound) : Body(shape); }
  Body exact_body() const { return exact ? Body(*exact->body()) : body(); }
  // True for a bare shape, which stands for no body.
  bool is_shape() const { return !compound && !exact; }
  bool is_half_space() const { return !compound && shape.type == ShapeType::half_space; }
};

// Bounding ball in the geometry's frame; that of a compound is about the center of its box.
Ball bounding_ball(const CollisionGeometry& geometry);
// Bounding box in W; that of a compound is the box around its own box.
Aabb bounding_box(const CollisionGeometry& geometry, const SE3d& X_WG);

namespace detail {

bool closer_than(double margin, const CollisionGeometry& A, const SE3d& X_WA,
                 const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache);
double distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA,
                            const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache);
PieceWitness closest_pieces(const CollisionGeometry& A, const SE3d& X_WA,
                            const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache);

}  // namespace detail

// Return true if the signed distance is less than `margin`, or if one geometry lies in the solid of
// the other.
inline bool closer_than(double margin, const CollisionGeometry& A, const SE3d& X_WA,
                        const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache = nullptr) {
  if (A.is_shape() && B.is_shape()) return closer_than(margin, A.shape, X_WA, B.shape, X_WB, cache);
  return detail::closer_than(margin, A, X_WA, B, X_WB, cache);
}

// Certified lower bound on the distance up to `enough`, zero if the geometries overlap. For two
// shapes, cache->axis becomes the normal of the plane between them, if one was found. For shapes
// that stand for bodies and are apart, the bound is that of the shapes. It may be less than
// `enough` where that of the bodies is not (exact_distance_lower_bound).
inline double distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA,
                                   const CollisionGeometry& B, const SE3d& X_WB,
                                   PairCache* cache = nullptr) {
  if (A.is_shape() && B.is_shape())
    return distance_lower_bound(enough, A.shape, X_WA, B.shape, X_WB, cache);
  return detail::distance_lower_bound(enough, A, X_WA, B, X_WB, cache);
}

// Queries of the shapes alone, whatever they stand for: if the shapes are apart, the bodies are
// apart by at least as much.
bool shapes_closer_than(double margin, const CollisionGeometry& A, const SE3d& X_WA,
                        const CollisionGeometry& B, const SE3d& X_WB, PairCache* cache = nullptr);
double shapes_distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA,
                                   const CollisionGeometry& B, const SE3d& X_WB,
                                   PairCache* cache = nullptr);
PieceWitness shapes_closest_pieces(const CollisionGeometry& A, const SE3d& X_WA,
                                   const CollisionGeometry& B, const SE3d& X_WB,
                                   PairCache* cache = nullptr);

// Certified lower bound on the distance of the bodies that the shapes stand for.
double exact_distance_lower_bound(double enough, const CollisionGeometry& A, const SE3d& X_WA,
                                  const CollisionGeometry& B, const SE3d& X_WB,
                                  PairCache* cache = nullptr);

// Signed distance and the pieces that have it; a shape is its own piece 0. For shapes that stand
// for bodies, it is the distance of the bodies if they are apart. If the bodies overlap, it is that
// of the shapes, which overlap at least as deeply.
inline PieceWitness closest_pieces(const CollisionGeometry& A, const SE3d& X_WA,
                                   const CollisionGeometry& B, const SE3d& X_WB,
                                   PairCache* cache = nullptr) {
  if (A.is_shape() && B.is_shape())
    return {signed_distance(A.shape, X_WA, B.shape, X_WB, cache), 0, 0};
  return detail::closest_pieces(A, X_WA, B, X_WB, cache);
}

}  // namespace robosim

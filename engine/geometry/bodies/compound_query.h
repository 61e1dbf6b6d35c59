// Queries between compounds and convex shapes, in any combination and order. The trees of both
// bodies are descended together, and pieces are compared at the leaves.
//
// The signed distance of two bodies is the least signed distance of a piece of A and a piece of B.
// For bodies apart, it is the distance of the bodies. For bodies that overlap, it is the depth of
// the deepest pair. Moving by that depth need not separate bodies of several pieces.
//
// Triangles of meshes and height fields are one-sided (one_sided.h). Each pair of pieces that
// intersects has a shortest translation that separates it. If bodies with such surfaces intersect,
// the answer is the shortest translation of a pair that separates A from B altogether. If there is
// none, the answer is the deepest pair, where coplanar triangles count as one. So a shape over a
// ridge leaves by the ridge, although it lies deeper behind triangles further down.
//
// A body in the solid behind a surface that touches none of its triangles is detected if the
// surface is closed or a height field (solid.h). The body leaves through the nearest triangle,
// along that triangle's normal. Limits:
// * A body that lies wholly behind an open mesh is not detected.
// * Of a body that intersects a surface, only the pieces that intersect it are detected.
// * A piece that reaches through a triangle to below triangles that it does not touch is measured
//   from the first triangle only, unless the triangles are coplanar.
//
// Method: branch and bound. The signed distance of two boxes is a lower bound on that of their
// contents; one-sided triangles have no bound once their boxes overlap. Cost: O(log n) pairs of
// pieces for bodies apart, and a few times all pairs whose boxes overlap where surfaces intersect.
//
// Queries for pieces nearer than a limit (closer_than, distance_lower_bound, visit_near) descend
// packed trees (near_descent.h) if both bodies have one. They take about 2 us for meshes of
// thousands of triangles that overlap, and 5 to 20 us where only their hulls overlap. For bodies
// apart, closest_pieces descends packed trees, too (closest_descent.h): 5 to 30 us. Only the first
// such query of a body allocates, for its packed tree.
#pragma once

#include <vector>

#include "base/function_ref.h"
#include "geometry/bodies/compound.h"

namespace robosim {

// Reference to a convex shape or a compound.
class Body {
 public:
  Body(const Shape& shape) : shape_(&shape) {}
  Body(const Compound& compound) : compound_(&compound) {}

  const Shape* shape() const { return shape_; }           // or nullptr
  const Compound* compound() const { return compound_; }  // or nullptr
  // Call f(piece i); a shape is its own piece 0.
  template <class F>
  auto with_piece(int i, F&& f) const {
    if (compound_) return compound_->with_piece(i, f);
    return f(Compound::Piece{*shape_, SE3d(), nullptr, 0});
  }
  bool is_piece(int i) const { return compound_ ? compound_->is_piece(i) : i == 0; }

 private:
  const Shape* shape_ = nullptr;
  const Compound* compound_ = nullptr;
};

// Two pieces and their witness.
struct PieceWitness {
  Witness witness;
  int piece_A = -1, piece_B = -1;
};

// Memory of a pair of bodies between queries. It changes the time of a query, never its answer.
struct PieceCache {
  int piece_A = -1, piece_B = -1;
};

// Signed distance of a piece of A and a piece of B. Both numbers must be of pieces in the trees.
Witness piece_distance(const Body& A, const SE3d& X_WA, int piece_A, const Body& B,
                       const SE3d& X_WB, int piece_B);

// Find the pair of pieces that has the bodies' signed distance; among several, the pair with the
// lowest numbers. For triangles apart, distances that agree up to rounding, 1e-14 of the
// coordinates, count as equal. n_W: unit vector from A to B along which the bodies are known to be
// apart, as between their hulls, or zero. It changes the time, never the answer.
PieceWitness closest_pieces(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                            PieceCache* cache = nullptr, const Vec3d& n_W = {});

// Return true if the signed distance is less than `margin` (margin >= 0), by the first pair that
// proves it, or if a part of one body lies wholly in the solid of the other (solid.h).
bool closer_than(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                 PieceCache* cache = nullptr);

// Certified lower bound on the distance, zero if the bodies overlap or one has a part in the solid
// of the other. The search ends when no pair of pieces is closer than `enough`; otherwise the bound
// is within 1e-6 m of the distance.
double distance_lower_bound(double enough, const Body& A, const SE3d& X_WA, const Body& B,
                            const SE3d& X_WB, PieceCache* cache = nullptr);

// Call visit(piece_A, piece_B) for every pair within `margin`, and for some pairs that may be
// within it. Stop and return true when visit returns true.
bool visit_near(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                FunctionRef<bool(int, int)> visit);

// Add all pairs of pieces closer than `margin` to `out`, in the order of their numbers. A pair is
// left out if the nearest point of a triangle, or its shortest separating translation, lies on an
// edge or a vertex in a direction that is no outward normal there: another triangle of the surface
// represents this contact better. The closest pair is never left out, nor are pairs that touch
// beside it with the same normal and no deeper. `left_out`, if given, receives the pairs left out.
struct LeftOut {
  std::vector<PieceWitness> pairs;
  double depth = 0;  // of the closest pair, negative of bodies apart [m]
};
void contacts(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
              std::vector<PieceWitness>& out, LeftOut* left_out = nullptr);

}  // namespace robosim

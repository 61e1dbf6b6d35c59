// Queries between compounds and convex shapes, in any combination and order: the trees of both are
// descended together, pieces are asked at the leaves.
//
// The signed distance of two bodies is the least signed distance of a piece of A and a piece of B:
// apart, the distance of the bodies; where they overlap, how deep the deepest pair is, which for
// bodies of several pieces is not the way out of all of them.
//
// Triangles of meshes and height fields are one-sided (one_sided.h). Where bodies with such
// surfaces meet, the answer is the shortest of the ways out of their pairs that takes A off B
// altogether, if one does, and else the deepest pair (of coplanar triangles, as one): so a shape
// over a ridge leaves by the ridge, although it lies deeper behind triangles further down. What
// lies in the solid behind a surface without meeting any of its triangles is seen where the surface
// is closed or a height field (solid.h): its way out is that through the nearest triangle, along
// that triangle's normal. An open mesh does not see what lies wholly behind it; of a body that
// meets a surface only the pieces that do are seen; and what reaches through a triangle to below
// others that it does not meet is seen below the first only, unless they are coplanar.
//
// Branch and bound: the signed distance of two boxes is a lower bound on that of what they hold;
// one-sided triangles have none once their boxes overlap. O(log n) pairs of pieces for bodies
// apart, some times all pairs whose boxes overlap where surfaces meet.
//
// Queries for pieces nearer than a limit (closer_than, distance_lower_bound, visit_near) go down
// packed trees (near_descent.h), where both bodies have one: some 2 us for meshes of thousands of
// triangles that overlap, and 5 to 20 us where only their hulls do. So does closest_pieces of
// bodies apart (closest_descent.h): 5 to 30 us. Nothing allocates but the first such question about
// a body, for that tree.
#pragma once

#include <vector>

#include "base/function_ref.h"
#include "geometry/bodies/compound.h"

namespace robosim {

// A convex shape or a compound; refers to it.
class Body {
 public:
  Body(const Shape& shape) : shape_(&shape) {}
  Body(const Compound& compound) : compound_(&compound) {}

  const Shape* shape() const { return shape_; }           // or nullptr
  const Compound* compound() const { return compound_; }  // or nullptr
  // f(piece i); a shape is its own piece 0.
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

// Two pieces and how they lie.
struct PieceWitness {
  Witness witness;
  int piece_A = -1, piece_B = -1;
};

// What a pair of bodies remembers from one query to the next: it changes the time of a query, never
// its answer.
struct PieceCache {
  int piece_A = -1, piece_B = -1;
};

// Of a piece of A and a piece of B, whose numbers must be those of pieces in the trees.
Witness piece_distance(const Body& A, const SE3d& X_WA, int piece_A, const Body& B,
                       const SE3d& X_WB, int piece_B);

// The pair of pieces that has the bodies' signed distance; of several the one with the lowest
// numbers. Triangles that are apart by the same distance up to rounding, 1e-14 of the coordinates,
// count as several. Where a direction from A to B is known in which they are apart, as that between
// their hulls, n_W is that unit vector: it changes the time, never the answer.
PieceWitness closest_pieces(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                            PieceCache* cache = nullptr, const Vec3d& n_W = {});

// Whether the signed distance is less than `margin` (margin >= 0), by the first pair that proves
// it; and of bodies one of which has a part wholly in the solid of the other (solid.h).
bool closer_than(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                 PieceCache* cache = nullptr);

// A certified lower bound on the distance, zero when the bodies overlap or one has a part in the
// solid of the other; the search ends where no pair of pieces is closer than `enough`, and
// otherwise the bound is within 1e-6 m of the distance.
double distance_lower_bound(double enough, const Body& A, const SE3d& X_WA, const Body& B,
                            const SE3d& X_WB, PieceCache* cache = nullptr);

// visit(piece_A, piece_B) for every pair that comes within `margin`, and for some that may; stops
// when it returns true, and says so.
bool visit_near(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                FunctionRef<bool(int, int)> visit);

// All pairs of pieces closer than `margin`, added to `out` in the order of their numbers. Left out
// are triangles whose nearest point, or shortest way out, lies on an edge or a vertex in a
// direction that is no outward normal there, as another triangle of their surface sees it better;
// but never the closest pair, nor those that meet beside it with the same normal, no deeper.
// `left_out`, where given, gets the rest.
struct LeftOut {
  std::vector<PieceWitness> pairs;
  double depth = 0;  // of the closest pair, negative of bodies apart [m]
};
void contacts(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
              std::vector<PieceWitness>& out, LeftOut* left_out = nullptr);

}  // namespace robosim

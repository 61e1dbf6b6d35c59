// Queries between two shapes: the whole public surface of the geometry floor beside broadphase.h.
#pragma once

#include <utility>

#include "geometry/bounds.h"
#include "geometry/distance/simplex.h"
#include "geometry/shape.h"

namespace robosim {

// How the closest features of two shapes lie. `distance` is negative inside (penetration depth),
// p_WA on A, p_WB on B, `normal` the unit vector from A to B in W, so that p_WB - p_WA = distance *
// normal up to rounding.
struct Witness {
  double distance = 0;
  Vec3d p_WA, p_WB, normal;
};

// The same with A and B exchanged.
inline Witness swapped(const Witness& w) { return {w.distance, w.p_WB, w.p_WA, -w.normal}; }

// What a pair remembers from one query to the next: changes the time of a query, never its answer
// beyond rounding.
struct PairCache {
  // Last separating direction, from A to B in W; zero when there is none.
  Vec3d axis;
  int piece_A = 0, piece_B = 0;  // of bodies of pieces, those of the last answer
  // Of curved pairs, the last nearest points of the cores on the shapes, in their own frames...
  Vec3d p_A, p_B;
  bool has_points = false;  // ... where there are any
  // Of polytopes, what the last answer lay on; none where they overlapped.
  SimplexCorners corners;

  void swap_sides() {
    std::swap(piece_A, piece_B), std::swap(p_A, p_B);
    for (CornerPair& pair : corners.pair) std::swap(pair.A, pair.B);
  }
};

// Signed distance with both witness points, exact also in penetration. Two half-spaces that are not
// parallel and facing each other cannot be separated: distance -infinity, both points at B's
// origin.
Witness signed_distance(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                        PairCache* cache = nullptr);

// Whether the distance is less than `margin` (margin >= 0), by the first proof either way.
bool closer_than(double margin, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                 PairCache* cache = nullptr);

// A certified lower bound on the distance, zero when the shapes overlap; stops as soon as the bound
// reaches `enough`, and otherwise is within 1e-6 m of the distance.
double distance_lower_bound(double enough, const Shape& A, const SE3d& X_WA, const Shape& B,
                            const SE3d& X_WB, PairCache* cache = nullptr);

// Smallest ball about a point of the shape's frame that holds the shape; radius infinite for a
// half-space.
Ball bounding_ball(const Shape& shape);

// Smallest axis-aligned box, in W, of a shape posed there; infinite extents for a half-space, but
// for the upper side of one whose normal is a world axis.
Aabb bounding_box(const Shape& shape, const SE3d& X_WS);

// The point of the shape farthest in direction d of its own frame, of any length (for a zero d,
// some point of it). InputError for a half-space, which has none.
Vec3d support(const Shape& shape, const Vec3d& d);

// Farthest distance, or an upper bound on it, of any point of the shape from the point p_S of its
// own frame (infinite for a half-space).
double farthest_from(const Shape& shape, const Vec3d& p_S);

}  // namespace robosim

// Queries between two shapes. With broadphase.h, the whole public interface of the geometry layer.
#pragma once

#include <utility>

#include "geometry/bounds.h"
#include "geometry/distance/simplex.h"
#include "geometry/shape.h"

namespace robosim {

// Closest or deepest points of two shapes. `distance` is negative if the shapes overlap
// (penetration depth), p_WA lies on A, p_WB on B, and `normal` is the unit vector from A to B in W,
// so that p_WB - p_WA = distance * normal up to rounding.
struct Witness {
  double distance = 0;
  Vec3d p_WA, p_WB, normal;
};

// The witness with A and B exchanged.
inline Witness swapped(const Witness& w) { return {w.distance, w.p_WB, w.p_WA, -w.normal}; }

// Warm start of a pair's next query. It changes the time of a query, but never its result beyond
// rounding.
struct PairCache {
  // Last separating direction, from A to B in W; zero if there is none.
  Vec3d axis;
  int piece_A = 0, piece_B = 0;  // pieces of the last answer, for bodies made of pieces
  // Curved pairs: last nearest points of the cores on the shapes, in their own frames.
  Vec3d p_A, p_B;
  bool has_points = false;  // p_A and p_B are set
  // Polytopes: corners that the last nearest points lay on; none if the shapes overlapped.
  SimplexCorners corners;

  void swap_sides() {
    std::swap(piece_A, piece_B);
    std::swap(p_A, p_B);
    for (CornerPair& pair : corners.pair) std::swap(pair.A, pair.B);
  }
};

// Signed distance with both witness points, exact also in penetration. Two half-spaces that are not
// parallel and facing each other cannot be separated: their distance is -infinity, and both points
// are at B's origin.
Witness signed_distance(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                        PairCache* cache = nullptr);

// Return true if the distance is less than `margin` (margin >= 0). Stops at the first proof of
// either answer.
bool closer_than(double margin, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                 PairCache* cache = nullptr);

// Certified lower bound on the distance, zero if the shapes overlap. Stops as soon as the bound
// reaches `enough`; otherwise the bound is within 1e-6 m of the distance.
double distance_lower_bound(double enough, const Shape& A, const SE3d& X_WA, const Shape& B,
                            const SE3d& X_WB, PairCache* cache = nullptr);

// Smallest ball that contains the shape, about a point of the shape's frame. The radius is infinite
// for a half-space.
Ball bounding_ball(const Shape& shape);

// Smallest axis-aligned box, in W, of a posed shape. A half-space has infinite extents, except on
// the side of its surface if its normal is plus or minus a world axis.
Aabb bounding_box(const Shape& shape, const SE3d& X_WS);

// Farthest point of the shape in direction d of the shape's frame. d has any length; a zero d
// returns some point of the shape. Throws InputError for a half-space, which is unbounded.
Vec3d support(const Shape& shape, const Vec3d& d);

// Distance of the farthest point of the shape from the point p_S of the shape's frame, or an upper
// bound on it. Infinite for a half-space.
double farthest_from(const Shape& shape, const Vec3d& p_S);

}  // namespace robosim

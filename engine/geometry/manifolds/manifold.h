// Contact manifolds: all places where two shapes touch, or nearly do, with one normal and one
// plane.
//
// The normal n is that of the witness (query.h), and of faces that lie flat on each other, leaning
// by no more than flat_faces, that of one of them: it turns with that shape alone, whichever way
// they lean, and does not jump from face to face with the corner that is deepest. Each shape gives
// its patch, the face or straight line that turns most towards the other (patch.h); seen along n,
// the points are the corners of A's patch over B's, those of B's over A's, and the crossings of
// their sides: the corners of the patches' common part. Each lies on both surfaces, p_WB - p_WA =
// gap n, and counts where gap <= margin. There is no other rule about angles: of a box that rests
// on a face, tilted by 1e-4, all four corners stay, and one that stands on an edge keeps its two as
// long as the others are above the margin. Where patches do not give the deepest point (round
// surfaces, the lowest point of a tilted rim), the witness itself is one of the points; not so of a
// rim that lies flat. As seen from an edge between two lines of curved surfaces, ends lie beside
// the other line: two parallel capsules touch in two points. No gap is less than the witness's
// distance, as n separates the shapes by that; of flat faces, but for a millionth of it.
//
// Feature pairs generate a point: corner and face, side and side. As Nimble's Appendix C has it
// (Werling et al., "Fast and feature-complete differentiable physics for articulated rigid bodies
// with contact", 2021), with true surfaces instead of meshes, and one normal.
//
// Cost: beside signed_distance O(sides of A times sides of B), 0.4 to 0.7 us for boxes; nothing is
// allocated.
#pragma once

#include <algorithm>

#include "geometry/query.h"
#include "geometry/shapes/patch.h"

namespace robosim {

struct ManifoldPoint {
  // What generates it: a corner of A's or B's patch over the other, two sides that cross, or the
  // witness.
  enum class Anchor : std::uint8_t { corner_A, corner_B, crossing, witness };
  // How one shape makes the point; in W. Derivatives need it.
  struct Trace {
    Vec3d core;   // of a corner or crossing: on the feature of the core (shape.h)
    Vec3d along;  // of a crossing: unit, along the side
    Vec3d out;    // unit outward normal of the surface at the point
    Vec3d face;   // and that of the patch
    // Where n turns by dn against the shape, core moves by swing (swing . dn), as on a mantle; dn
    // outward.
    Vec3d swing;
  };

  double gap = 0;          // along the normal, negative inside [m]
  Vec3d p_WA, p_WB;        // on A and on B
  Vec3d p_W;               // on the line through them, in the manifold's plane
  FeatureId feature[2]{};  // of A and of B
  // How far the shapes may move across n until other features make the point [m].
  double slide = 0;
  Anchor anchor = Anchor::witness;
  Trace trace[2];
};

struct Manifold {
  static constexpr int max_points = 8;
  static constexpr double flat_faces = 1e-6;  // [rad]

  int n_points = 0;
  union {  // not constructed, nor copied, beyond n_points: eight of them are 3 kB
    ManifoldPoint points[max_points];  // in an order that features alone decide
  };
  Witness witness;
  Vec3d n;          // unit, from A to B; in W
  int deepest = 0;  // of the points
  // Whose face the normal is that of, 0 of A or 1 of B, where all deepest points are corners or
  // round places of the other strictly within it, and where faces lie flat on each other; else -1.
  // Of such that both reach beyond the other it is that of a triangle, or else of the larger one.
  int reference = -1;

  Manifold() {}
  Manifold(const Manifold& other) { *this = other; }
  Manifold& operator=(const Manifold& other) {
    std::copy_n(other.points, other.n_points, points);
    n_points = other.n_points, witness = other.witness, n = other.n, deepest = other.deepest,
    reference = other.reference;
    return *this;
  }

  const Vec3d& normal() const { return n; }
  // On the plane across the normal that holds all p_W: the reference face's, else that half way
  // between the witness points.
  Vec3d plane_point() const {
    if (reference < 0) return 0.5 * (witness.p_WA + witness.p_WB);
    return reference ? points[deepest].p_WB : points[deepest].p_WA;
  }
};

// The points of two shapes with gap <= margin [m]; none where the distance exceeds it, and of two
// half-spaces without end in each other. Of more than max_points the deepest one and those that are
// farthest from each other. Points closer than 1e-6 of the smaller shape's size are one.
Manifold contact_manifold(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                          double margin, PairCache* cache = nullptr);

// The same about a witness that is given: that of signed_distance, or one with a normal of its own,
// as of a one-sided triangle.
Manifold contact_manifold(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B,
                          const SE3d& X_WB, double margin);

}  // namespace robosim

// Contact manifolds: all points where two shapes touch or nearly touch, with one common normal and
// one plane.
//
// Normal: n is the normal of the witness (query.h). Two faces lie flat on each other if they lean
// by no more than flat_faces; n is then the normal of one of these faces. It turns with the shape
// of that face only, in whichever direction the faces lean. It does not jump from face to face when
// another corner becomes the deepest.
//
// Points: each shape contributes its patch, the face or straight line that turns most towards the
// other shape (patch.h). Seen along n, the points are the corners of A's patch over B's patch, the
// corners of B's patch over A's patch, and the crossings of their sides. Together they are the
// corners of the intersection of the patches. Each point lies on both surfaces, p_WB - p_WA = gap
// n, and counts if gap <= margin. There is no other rule about angles. A box that rests on a face,
// tilted by 1e-4, keeps all four corners; a box that stands on an edge keeps two points while its
// other corners are above the margin.
//
// The witness is one of the points where the patches do not contain the deepest point, as for round
// surfaces or the lowest point of a tilted rim. It is not a point of a rim that lies flat. For two
// lines of curved surfaces, the ends of one line have points on the surface beside the other line:
// two parallel capsules touch in two points. No gap is less than the distance of the witness,
// because n separates the shapes by that distance. For faces that lie flat on each other, a gap may
// be less by flat_faces times the size of the smaller shape.
//
// A pair of features generates a point: corner and face, or side and side. Source: Werling et al.,
// "Fast and feature-complete differentiable physics for articulated rigid bodies with contact",
// 2021, Appendix C (Nimble). Here surfaces are exact, not meshes, and all points share one normal.
//
// Cost: O(sides of A times sides of B) in addition to signed_distance, 0.4 to 0.7 us for boxes.
// Nothing is allocated.
#pragma once

#include <algorithm>

#include "geometry/query.h"
#include "geometry/shapes/patch.h"

namespace robosim {

struct ManifoldPoint {
  // Source of the point: a corner of A's or B's patch over the other patch, two sides that cross,
  // or the witness.
  enum class Anchor : std::uint8_t { corner_A, corner_B, crossing, witness };
  // Generation of the point by one shape, in W; needed by the derivatives.
  struct Trace {
    Vec3d core;   // of a corner or crossing: on the feature of the core (shape.h)
    Vec3d along;  // of a crossing: unit, along the side
    Vec3d out;    // unit outward normal of the surface at the point
    Vec3d face;   // unit outward normal of the patch
    // As n turns by dn relative to the shape, `core` moves by swing (swing . dn), as on a mantle;
    // dn is the change of the shape's outward normal.
    Vec3d swing;
  };

  double gap = 0;          // along the normal, negative inside [m]
  Vec3d p_WA, p_WB;        // on A and on B
  Vec3d p_W;               // on the line through p_WA and p_WB, in the manifold's plane
  FeatureId feature[2]{};  // of A and of B
  // Displacement across n after which other features generate the point [m].
  double slide = 0;
  Anchor anchor = Anchor::witness;
  Trace trace[2];
};

struct Manifold {
  static constexpr int max_points = 8;
  static constexpr double flat_faces = 1e-6;  // [rad]

  int n_points = 0;
  union {  // entries beyond n_points are neither constructed nor copied: eight take 3 kB
    ManifoldPoint points[max_points];  // ordered by their features only
  };
  Witness witness;
  Vec3d n;          // unit, from A to B; in W
  int deepest = 0;  // index of the deepest point
  // Shape whose face has the normal n: 0 for A, 1 for B, else -1. It is set where all deepest
  // points are corners or round places of the other shape strictly within the face, and where faces
  // lie flat on each other. If both flat faces reach beyond each other, it is the face of a
  // triangle, or else the larger face.
  int reference = -1;

  Manifold() {}
  Manifold(const Manifold& other) { *this = other; }
  Manifold& operator=(const Manifold& other) {
    std::copy_n(other.points, other.n_points, points);
    n_points = other.n_points;
    witness = other.witness;
    n = other.n;
    deepest = other.deepest;
    reference = other.reference;
    return *this;
  }

  const Vec3d& normal() const { return n; }
  // Point on the plane across the normal that contains all p_W: the plane of the reference face, or
  // else the plane halfway between the witness points.
  Vec3d plane_point() const {
    if (reference < 0) return 0.5 * (witness.p_WA + witness.p_WB);
    return reference ? points[deepest].p_WB : points[deepest].p_WA;
  }
};

// Compute the contact points of two shapes with gap <= margin [m]. There are none where the
// distance exceeds the margin, and none for two half-spaces that overlap without bound. If there
// are more than max_points, the deepest point and the points farthest from each other are kept.
// Points closer than 1e-6 of the smaller shape's size are merged.
Manifold contact_manifold(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                          double margin, PairCache* cache = nullptr);

// Compute the contact manifold of a given witness: the witness of signed_distance, or one with
// another normal, as for a one-sided triangle.
Manifold contact_manifold(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B,
                          const SE3d& X_WB, double margin);

}  // namespace robosim

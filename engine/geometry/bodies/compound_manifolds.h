// Contact manifolds of compound bodies: one for every near pair of pieces, with the witness that
// contacts() returns for the pair. If the pair has a one-sided triangle, the normal is an outward
// normal of the surface (compound_query.h).
//
// contacts() leaves out a triangle if another triangle is touched first, at a side or corner that
// they share. A corner of the other shape may lie over the triangle left out, or the triangle may
// end below a face of that shape. Such points are added along the triangle's own normal, if no
// other point is at the same place and if they are no deeper than the bodies are.
//
// Triangles share sides and corners, so a shape that touches a side or a corner touches several
// triangles. Such a point is kept once: for the triangle whose face has the normal, or else for the
// first triangle. Triangles that are left without points have no manifold. Cost: an insertion sort
// of all points, in addition to the manifolds.
#pragma once

#include <vector>

#include "geometry/bodies/compound_query.h"
#include "geometry/manifolds/manifold.h"

namespace robosim {

struct PieceManifold {
  Manifold manifold;
  int piece_A = -1, piece_B = -1;
};

class PieceManifolds {
 public:
  // Add the manifolds to `out` in the order of their piece numbers. Nothing is allocated once the
  // buffers have grown.
  void find(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
            std::vector<PieceManifold>& out);

 private:
  struct Pair {
    double size;
    bool is_of_face;  // true if the normal is that of the face of one of the triangles
    bool is_left_out;
  };
  // Point of a manifold along n.
  struct Point {
    Vec3d p_WA, p_WB, n;
  };

  void keep_new_points(Manifold& m, const Pair& pair);
  bool has_place(const Vec3d& n, const ManifoldPoint& p, double size) const;
  bool add_point(const Vec3d& n, const ManifoldPoint& p, double size);

  std::vector<PieceWitness> found_;
  LeftOut left_out_;
  std::vector<Pair> pairs_;
  std::vector<Point> points_;  // sorted along the first axis of the world
};

}  // namespace robosim

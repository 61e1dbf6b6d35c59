// Contact manifolds of compound bodies: one for every pair of pieces that is near, about the
// witness that contacts() gives of the pair. So it has an outward normal of the surface where a
// one-sided triangle takes part (compound_query.h).
//
// A triangle that contacts() leaves out, as another one is touched first at the side or corner that
// they share, may have a corner of the other shape over it, or end below that shape's face: such
// points are there along the triangle's own normal, where no other point is at the same place, none
// deeper than the bodies are.
//
// Triangles share sides and corners, and what touches one of these touches several of them: such a
// point is there once, of the triangle whose face has the normal or else of the first. Triangles
// that are left without points have no manifold. Cost: beside the manifolds that of an insertion
// sort of all points.
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
  // Added to `out` in the order of their numbers. No allocation once the buffers have grown.
  void find(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
            std::vector<PieceManifold>& out);

 private:
  struct Pair {
    double size;
    bool is_of_face;  // whether the normal is that of the face of one of the triangles
    bool is_left_out;
  };
  // Of a manifold along n.
  struct Point {
    Vec3d p_WA, p_WB, n;
  };

  void keep_new_points(Manifold& m, const Pair& pair);
  bool has_place(const Vec3d& n, const ManifoldPoint& p, double size) const;
  bool add_point(const Vec3d& n, const ManifoldPoint& p, double size);

  std::vector<PieceWitness> found_;
  LeftOut left_out_;
  std::vector<Pair> pairs_;
  std::vector<Point> points_;  // by the first axis of the world
};

}  // namespace robosim

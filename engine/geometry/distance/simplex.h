// The sub-distance problem of GJK: the point nearest to the origin of a simplex of up to four
// points.
//
// Each Voronoi region is decided by signed areas and volumes of the simplex itself (as in
// Montanari, Petrinic and Barbieri, "Improving the GJK algorithm for faster and more reliable
// distance queries", 2017), never by Johnson's cofactors, so nearly degenerate simplices do no
// harm.
#pragma once

#include <cstdint>

#include "spatial/vec3.h"

namespace robosim {

// The corners of two polytopes, by number, that a point of their difference comes from.
struct CornerPair {
  std::int32_t A, B;
};

// Those of a nearest face, as a query leaves them to the next.
struct SimplexCorners {
  int n = 0;
  CornerPair pair[3] = {};
};

// Points of the difference D = B - A with the points of A that they come from; b = a + w.
struct Simplex {
  int n = 0;
  union {
    Vec3d w[4];  // the first n, others not initialized: simplices are made by the million
  };
  union {
    Vec3d a[4];
  };
  CornerPair corners[4];            // of two polytopes: what the points come from
  double lambda[4] = {0, 0, 0, 0};  // barycentric coordinates of the nearest point

  Simplex() {}

  void add(const Vec3d& w_, const Vec3d& a_) {
    w[n] = w_, a[n] = a_, corners[n] = {0, 0};
    ++n;
  }
};

// The part of a simplex that holds its point v nearest to the origin in its interior, by indices
// that ascend.
struct SimplexFace {
  // 0: v is nowhere on the surface, the origin is inside (or a coordinate is not a number).
  int n = 0;
  int index[3] = {0, 0, 0};
  double lambda[3] = {0, 0, 0};
  Vec3d v;
  double vv = 0;  // v.v
};
SimplexFace nearest_face(const Vec3d* w, int n);

// Leaves of the simplex only that face.
inline void reduce(Simplex& s, const SimplexFace& f) {
  for (int i = 0; i < f.n; ++i) {
    if (f.index[i] != i)
      s.w[i] = s.w[f.index[i]], s.a[i] = s.a[f.index[i]], s.corners[i] = s.corners[f.index[i]];
    s.lambda[i] = f.lambda[i];
  }
  s.n = f.n;
}

// Nearest point v to the origin. Reduces the simplex to the face that holds v in its interior and
// sets lambda there; four points are left exactly when the origin is inside (then v = 0 and lambda
// is not set).
Vec3d nearest_point(Simplex& simplex);

}  // namespace robosim

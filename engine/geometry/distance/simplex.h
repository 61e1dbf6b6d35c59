// Sub-distance problem of GJK: the point nearest to the origin of a simplex of up to four points.
//
// Each Voronoi region is decided by signed areas and volumes of the simplex itself, never by
// Johnson's cofactors, so nearly degenerate simplices do no harm. See Montanari, Petrinic and
// Barbieri, "Improving the GJK algorithm for faster and more reliable distance queries", 2017.
#pragma once

#include <cstdint>

#include "spatial/vec3.h"

namespace robosim {

// Numbers of the corners of two polytopes whose difference is a point of D.
struct CornerPair {
  std::int32_t A, B;
};

// Corner pairs of a nearest face, stored from one query for the next.
struct SimplexCorners {
  int n = 0;
  CornerPair pair[3] = {};
};

// Points w of the difference D = B - A, with their points a of A; b = a + w.
struct Simplex {
  int n = 0;
  union {
    Vec3d w[4];  // the first n; others are not initialized, as simplices are created by the million
  };
  union {
    Vec3d a[4];
  };
  CornerPair corners[4];            // of two polytopes: corners of the points
  double lambda[4] = {0, 0, 0, 0};  // barycentric coordinates of the nearest point

  Simplex() {}

  void add(const Vec3d& w_, const Vec3d& a_) {
    w[n] = w_;
    a[n] = a_;
    corners[n] = {0, 0};
    ++n;
  }
};

// Face of a simplex that contains its nearest point v to the origin in the face's interior, with
// ascending indices.
struct SimplexFace {
  // Zero if no face contains v: the origin is inside, or a coordinate is not a number.
  int n = 0;
  int index[3] = {0, 0, 0};
  double lambda[3] = {0, 0, 0};
  Vec3d v;
  double vv = 0;  // v.v
};
SimplexFace nearest_face(const Vec3d* w, int n);

// Reduce the simplex to the given face.
inline void reduce(Simplex& s, const SimplexFace& f) {
  for (int i = 0; i < f.n; ++i) {
    if (f.index[i] != i) {
      s.w[i] = s.w[f.index[i]];
      s.a[i] = s.a[f.index[i]];
      s.corners[i] = s.corners[f.index[i]];
    }
    s.lambda[i] = f.lambda[i];
  }
  s.n = f.n;
}

// Return the nearest point v to the origin. Reduces the simplex to the face that contains v in its
// interior, and sets lambda there. Four points remain exactly if the origin is inside (then v = 0,
// and lambda is not set).
Vec3d nearest_point(Simplex& simplex);

}  // namespace robosim

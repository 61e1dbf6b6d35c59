// A solid (A) with a closed-form signed distance from a point, against a sphere (B).
//
// The pair's struct provides a, and
// `static PointDistance from_point(const Shape& A, const Vec3d& c)` in A's frame.
#pragma once

#include "geometry/query.h"

namespace robosim {

struct PointDistance {
  double distance;
  Vec3d normal;  // unit, outward at the solid's nearest point
};

template <class Pair>
struct SolidAgainstSphere {
  static constexpr ShapeType b = ShapeType::sphere;

  static Witness signed_distance_in_W(const Shape& A, const SE3d& X_WA, const Shape& B,
                                      const SE3d& X_WB) {
    const auto [d, n] = Pair::from_point(A, transpose_times(X_WA.R, X_WB.p - X_WA.p));
    return witness(d, X_WA.R * n, B, X_WB.p);
  }
  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&) {
    const auto [d, n] = Pair::from_point(A, X_AB.p);
    return witness(d, n, B, X_AB.p);
  }

 private:
  static Witness witness(double d, const Vec3d& n, const Shape& B, const Vec3d& c) {
    return {d - B.radius, c - d * n, c - B.radius * n, n};
  }
};

}  // namespace robosim

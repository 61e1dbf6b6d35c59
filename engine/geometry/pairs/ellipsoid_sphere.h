// Ellipsoid (A) against sphere (B): the distance of the center from the ellipsoid's surface.
#pragma once

#include "geometry/query.h"
#include "geometry/shapes/ellipsoid_points.h"

namespace robosim {

struct EllipsoidSphere {
  static constexpr ShapeType a = ShapeType::ellipsoid, b = ShapeType::sphere;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&) {
    const EllipsoidPoint q = nearest_on_ellipsoid(A.half_extents, X_AB.p);
    return {q.distance - B.radius, q.x, X_AB.p - B.radius * q.normal, q.normal};
  }
};

}  // namespace robosim

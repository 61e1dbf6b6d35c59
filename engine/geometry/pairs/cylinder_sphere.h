// Cylinder (A) against sphere (B), in the half-plane (radial, z) of the centre: a rectangle against a point. From inside, the
// nearer of mantle and cap; a centre on the axis leaves the mantle along x.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/query.h"

namespace robosim {

struct CylinderSphere {
  static constexpr ShapeType a = ShapeType::cylinder, b = ShapeType::sphere;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache&) {
    const Vec3d& c = X_AB.p;
    const double rho = std::sqrt(c.x * c.x + c.y * c.y);
    const Vec3d radial = rho > 0 ? Vec3d(c.x / rho, c.y / rho, 0) : Vec3d(1, 0, 0);
    const Vec3d up(0, 0, std::copysign(1.0, c.z));
    const double out = rho - A.radius, above = std::fabs(c.z) - A.half_length;  // signed distances from mantle and cap
    double d;
    Vec3d n;
    if (out > 0 && above > 0) {  // nearest to the rim
      d = std::sqrt(out * out + above * above);
      n = (out / d) * radial + (above / d) * up;
    } else if (out > above) {
      d = out, n = radial;
    } else {
      d = above, n = up;
    }
    return {d - B.radius, c - d * n, c - B.radius * n, n};
  }
};

}  // namespace robosim

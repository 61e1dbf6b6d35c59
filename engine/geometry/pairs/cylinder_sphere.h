// Cylinder (A) against sphere (B), in the half-plane (radial, z) of the center: a rectangle against
// a point. For a center inside, the nearer of lateral surface and cap. The normal of a center on
// the axis, towards the lateral surface, is along x.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/pairs/point_distance.h"

namespace robosim {

struct CylinderSphere : SolidAgainstSphere<CylinderSphere> {
  static constexpr ShapeType a = ShapeType::cylinder;

  // Signed distance of the point c, and the normal at the nearest point.
  static PointDistance from_point(const Shape& A, const Vec3d& c) {
    const double rho = std::sqrt(c.x * c.x + c.y * c.y);
    const Vec3d radial = rho > 0 ? Vec3d(c.x / rho, c.y / rho, 0) : Vec3d(1, 0, 0);
    const Vec3d up(0, 0, std::copysign(1.0, c.z));
    // Signed distances from lateral surface and cap.
    const double out = rho - A.radius, above = std::fabs(c.z) - A.half_length;
    if (out > 0 && above > 0) {  // nearest to the rim
      const double d = std::sqrt(out * out + above * above);
      return {d, (out / d) * radial + (above / d) * up};
    }
    return out > above ? PointDistance{out, radial} : PointDistance{above, up};
  }
};

}  // namespace robosim

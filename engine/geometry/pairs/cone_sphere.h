// Cone (A) against sphere (B), in the half-plane (radial, z) of the center: a triangle against a
// point. For a center inside, the nearer of lateral surface and base. The normal of a center on the
// axis, towards the lateral surface, is along x.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/pairs/point_distance.h"

namespace robosim {

struct ConeSphere : SolidAgainstSphere<ConeSphere> {
  static constexpr ShapeType a = ShapeType::cone;

  // Signed distance of the point c, and the normal at the nearest point.
  static PointDistance from_point(const Shape& A, const Vec3d& c) {
    const double rho = std::sqrt(c.x * c.x + c.y * c.y), height = 2 * A.half_length;
    const Vec3d radial = rho > 0 ? Vec3d(c.x / rho, c.y / rho, 0) : Vec3d(1, 0, 0), up(0, 0, 1);
    // Half the apex angle.
    const double slant = std::sqrt(A.radius * A.radius + height * height), sine = A.radius / slant,
                 cosine = height / slant;
    const double above = c.z - A.half_length;          // of the apex
    const double along = sine * rho - cosine * above;  // from the apex along the lateral surface
    const double out = cosine * rho + sine * above;    // signed distances from lateral surface
    const double below = -A.half_length - c.z;         // and base
    double d, across, rise;                            // the normal's radial and vertical parts
    if (along <= 0) {                                  // nearest to the apex
      d = std::sqrt(rho * rho + above * above);
      across = d > 0 ? rho / d : 0;
      rise = d > 0 ? above / d : 1;
    } else if (along > slant && rho > A.radius) {  // nearest to the rim
      d = std::sqrt((rho - A.radius) * (rho - A.radius) + below * below);
      across = (rho - A.radius) / d;
      rise = -below / d;
    } else if (out > below) {
      d = out;
      across = cosine;
      rise = sine;
    } else {
      d = below;
      across = 0;
      rise = -1;
    }
    // If the center is within rounding of the apex or the rim, the direction may be outside of the
    // normals there.
    const double to_rim = sine * across - cosine * rise;
    if (along <= 0 ? to_rim > 0 : along > slant && to_rim < 0) {
      across = cosine;
      rise = sine;
    }
    return {d, across * radial + rise * up};
  }
};

}  // namespace robosim

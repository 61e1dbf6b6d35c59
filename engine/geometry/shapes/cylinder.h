// Cylinder x^2 + y^2 <= radius^2, |z| <= half_length. Core: the cylinder itself.
#pragma once

#include <cmath>

#include "geometry/bounds.h"

namespace robosim {

struct CylinderCore {
  static constexpr bool curved = true;
  double radius, half_length;

  double rounding() const { return 0; }
  Vec3d centre() const { return {}; }
  // A point of the rim on d's side; the cap's centre for a d along the axis.
  Vec3d support(const Vec3d& d) const {
    const double across = std::sqrt(d.x * d.x + d.y * d.y);
    const double s = across > 0 ? radius / across : 0;
    return {s * d.x, s * d.y, std::copysign(half_length, d.z)};
  }
  Ball bounding_ball() const { return {{}, std::hypot(radius, half_length)}; }
  double farthest_from(const Vec3d& p) const {
    return std::hypot(std::hypot(p.x, p.y) + radius, std::fabs(p.z) + half_length);
  }
};

}  // namespace robosim

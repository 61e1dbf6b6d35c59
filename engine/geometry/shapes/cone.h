// Solid cone about z: base disc of `radius` at z = -half_length, apex at z = +half_length. Core: the cone itself.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/bounds.h"

namespace robosim {

struct ConeCore {
  static constexpr bool curved = true;
  double radius, half_length;

  double rounding() const { return 0; }
  Vec3d centre() const { return {}; }
  // The apex, or a point of the rim on d's side; the base's centre for a d straight down.
  Vec3d support(const Vec3d& d) const {
    const double across = std::sqrt(d.x * d.x + d.y * d.y);
    if (2 * half_length * d.z >= radius * across) return {0, 0, half_length};
    const double s = across > 0 ? radius / across : 0;
    return {s * d.x, s * d.y, -half_length};
  }
  // About apex and rim, or about the rim alone where the cone is wider than high.
  Ball bounding_ball() const {
    const double height = 2 * half_length;
    if (radius >= height) return {{0, 0, -half_length}, radius};
    const double r = 0.5 * (height + radius / height * radius);
    return {{0, 0, half_length - r}, r};
  }
  // The apex, or the rim's point on the other side.
  double farthest_from(const Vec3d& p) const {
    const double across = std::hypot(p.x, p.y);
    return std::max(std::hypot(across, p.z - half_length), std::hypot(across + radius, p.z + half_length));
  }
};

}  // namespace robosim

// Sphere about the origin. Core: the origin itself.
#pragma once

#include "geometry/bounds.h"

namespace robosim {

struct SphereCore {
  static constexpr bool curved = false;
  double radius;

  double rounding() const { return radius; }
  Vec3d centre() const { return {}; }
  Vec3d support(const Vec3d&) const { return {}; }
  Ball bounding_ball() const { return {{}, radius}; }
  double farthest_from(const Vec3d& p) const { return norm(p) + radius; }
};

}  // namespace robosim

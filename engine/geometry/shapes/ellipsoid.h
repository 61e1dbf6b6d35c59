// Ellipsoid (x / radii.x)^2 + (y / radii.y)^2 + (z / radii.z)^2 <= 1. Core: the ellipsoid itself.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/bounds.h"
#include "geometry/ellipsoid_points.h"

namespace robosim {

struct EllipsoidCore {
  static constexpr bool curved = true;
  Vec3d radii;

  double rounding() const { return 0; }
  Vec3d centre() const { return {}; }
  // radii^2 d / |radii d|, coordinate by coordinate: where the outward normal is d.
  Vec3d support(const Vec3d& d) const {
    const Vec3d scaled(radii.x * d.x, radii.y * d.y, radii.z * d.z);
    const double length = norm(scaled), s = length > 0 ? 1 / length : 0;
    return {s * radii.x * scaled.x, s * radii.y * scaled.y, s * radii.z * scaled.z};
  }
  Ball bounding_ball() const { return {{}, std::max({radii.x, radii.y, radii.z})}; }
  double farthest_from(const Vec3d& p) const { return norm(p - farthest_on_ellipsoid(radii, p)); }
};

}  // namespace robosim

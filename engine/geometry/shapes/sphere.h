// Sphere about the origin. Core: the origin itself.
#pragma once

#include "geometry/bounds.h"
#include "geometry/directions.h"
#include "geometry/local_surface.h"

namespace robosim {

struct SphereCore {
  static constexpr bool curved = false;
  double radius;

  double rounding() const { return radius; }
  Vec3d center() const { return {}; }
  Vec3d support(const Vec3d&) const { return {}; }
  // One feature, which is curved everywhere.
  LocalSurface local_surface(const Vec3d&, const Vec3d& n, double = feature_tolerance) const {
    LocalSurface s;
    s.axis[0] = perpendicular(n);
    s.axis[1] = cross(n, s.axis[0]);
    return s;
  }
  static constexpr int n_sizes = 1;  // radius
  Vec3d size_rate(int, const LocalSurface&, const Vec3d& n) const { return n; }
  Ball bounding_ball() const { return {{}, radius}; }
  double farthest_from(const Vec3d& p) const { return norm(p) + radius; }
};

}  // namespace robosim

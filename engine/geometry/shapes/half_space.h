// Half-space z <= 0. It is unbounded and has no support function, so its pairs are analytic
// (pairs/half_space.h).
#pragma once

#include <limits>

#include "geometry/bounds.h"
#include "geometry/local_surface.h"
#include "geometry/shapes/patch.h"

namespace robosim {

struct HalfSpaceCore {
  // One face.
  LocalSurface local_surface(const Vec3d& p, const Vec3d&, double = feature_tolerance) const {
    LocalSurface s;
    s.point = {p.x, p.y, 0};
    s.kind = FeatureKind::face;
    s.axis[0] = {1, 0, 0};
    s.axis[1] = {0, 1, 0};
    s.radius[0] = s.radius[1] = LocalSurface::straight;
    return s;
  }
  void patch(const Vec3d&, Patch& out) const {
    out.kind = Patch::Kind::plane;
    out.corner[0] = Vec3d();
    out.face = {FeatureKind::face, 0, 0};
    out.normal = {0, 0, 1};
  }
  double rounding() const { return 0; }
  Ball bounding_ball() const { return {{}, std::numeric_limits<double>::infinity()}; }
  double farthest_from(const Vec3d&) const { return std::numeric_limits<double>::infinity(); }
};

}  // namespace robosim

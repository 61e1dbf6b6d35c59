// Capsule: ball swept along the segment from (0, 0, -half_length) to (0, 0, half_length). Core: the
// segment.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/bounds.h"
#include "geometry/directions.h"
#include "geometry/local_surface.h"
#include "geometry/shapes/patch.h"
#include "geometry/tangent_plane.h"

namespace robosim {

struct CapsuleCore {
  static constexpr bool curved = false;
  double radius, half_length;

  double rounding() const { return radius; }
  Vec3d center() const { return {}; }
  Vec3d support(const Vec3d& d) const { return {0, 0, std::copysign(half_length, d.z)}; }
  // Radii over the tangents t0 and t1; see local_surface.
  ROBOSIM_INLINE tangent_plane::TangentRadii radii_over(const Vec3d& p, const Vec3d& n,
                                                        const Vec3d& t0, const Vec3d& t1) const {
    const double room = half_length - std::fabs(p.z);
    if (room > feature_tolerance * half_length)
      return {tangent_plane::Radii(t0.z, t1.z, radius), room};
    return {tangent_plane::Radii::round(radius), LocalSurface::straight,
            std::fabs(n.z) < feature_tolerance};
  }
  // Feature numbers: curved 0 and 1 are the balls at the lower and upper end, 2 is the lateral
  // surface.
  LocalSurface local_surface(const Vec3d& p, const Vec3d& n,
                             double precision = feature_tolerance) const {
    LocalSurface s;
    const Vec3d across = unit_or({-n.y, n.x, 0}, {0, 1, 0});
    s.point = {0, 0, p.z};
    if (const double room = half_length - std::fabs(p.z); room > precision * half_length) {
      s.index = 2;
      s.slide = room;
      s.axis[0] = {0, 0, 1};
      s.axis[1] = across;
      s.radius[0] = LocalSurface::straight;
    } else {
      s.index = p.z > 0;
      s.point.z = std::copysign(half_length, p.z);
      s.axis[0] = cross(across, n);
      s.axis[1] = across;
      s.tilt_sine = min_number(std::fabs(n.z), 1.0);
    }
    return s;
  }
  static constexpr int n_sizes = 2;  // radius, length
  Vec3d size_rate(int k, const LocalSurface& s, const Vec3d& n) const {
    if (k == 0) return n;
    return {0, 0, s.index == 2 ? 0 : (s.index ? 0.5 : -0.5)};
  }
  // The segment, unless n is closer to the segment's direction than to its perpendicular.
  void patch(const Vec3d& n, Patch& out) const {
    const double across = std::sqrt(n.x * n.x + n.y * n.y);
    if (std::fabs(n.z) > across) return;
    out.kind = Patch::Kind::line;
    out.face = {FeatureKind::curved, 2, 0};
    out.normal = {n.x / across, n.y / across, 0};
    out.tube_radius = 0;
    out.tube_half_length = half_length;
    for (int i = 0; i < 2; ++i)
      out.add({0, 0, i ? half_length : -half_length}, {FeatureKind::curved, i, 0}, out.face);
  }
  Vec3d stretch(int k, const Vec3d& p, const Vec3d& m) const {
    return k == 0 ? m : Vec3d(0, 0, 0.5 * p.z / half_length);
  }
  Ball bounding_ball() const { return {{}, half_length + radius}; }
  double farthest_from(const Vec3d& p) const { return norm(p - support(-p)) + radius; }
};

}  // namespace robosim

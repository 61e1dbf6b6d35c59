// Ellipsoid (x / radii.x)^2 + (y / radii.y)^2 + (z / radii.z)^2 <= 1. Core: the ellipsoid itself.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/bounds.h"
#include "geometry/directions.h"
#include "geometry/ellipsoid_points.h"
#include "geometry/local_surface.h"

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
  // One feature, which is curved everywhere: with h(n) = |radii n|, the support point is dh/dn and moves by the second derivative,
  // (radii^2 - p p^T) / h, over the tangent plane.
  LocalSurface local_surface(const Vec3d&, const Vec3d& n, double = feature_tolerance) const {
    LocalSurface s;
    const Vec3d p = support(n), t = perpendicular(n), u = cross(n, t);
    const double h = dot(n, p);
    const auto slope = [&](const Vec3d& a, const Vec3d& b) {
      return (a.x * b.x * radii.x * radii.x + a.y * b.y * radii.y * radii.y + a.z * b.z * radii.z * radii.z - dot(a, p) * dot(b, p)) / h;
    };
    const double tt = slope(t, t), tu = slope(t, u), uu = slope(u, u), angle = 0.5 * std::atan2(2 * tu, tt - uu);
    const double c = std::cos(angle), sine = std::sin(angle), mean = 0.5 * (tt + uu), spread = std::hypot(0.5 * (tt - uu), tu);
    s.point = p;
    s.axis[0] = c * t + sine * u, s.axis[1] = c * u - sine * t;
    s.radius[0] = mean + spread, s.radius[1] = std::fmax(0.0, mean - spread);
    return s;
  }
  Vec3d on_feature(const LocalSurface&, const Vec3d&, const Vec3d& n) const { return support(n); }
  static constexpr int n_sizes = 3;  // along x, y and z
  Vec3d size_rate(int k, const LocalSurface& s, const Vec3d& n) const {
    const Vec3d& p = s.point;
    const double h = dot(n, p);
    Vec3d rate = p * (-radii[k] * n[k] * n[k] / (h * h));
    rate[k] += 2 * radii[k] * n[k] / h;
    return rate;
  }
  Ball bounding_ball() const { return {{}, std::max({radii.x, radii.y, radii.z})}; }
  double farthest_from(const Vec3d& p) const { return norm(p - farthest_on_ellipsoid(radii, p)); }
};

}  // namespace robosim

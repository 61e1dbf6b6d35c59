// Ellipsoid (x / radii.x)^2 + (y / radii.y)^2 + (z / radii.z)^2 <= 1. Core: the ellipsoid itself.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/bounds.h"
#include "geometry/directions.h"
#include "geometry/local_surface.h"
#include "geometry/shapes/ellipsoid_points.h"
#include "geometry/tangent_plane.h"

namespace robosim {

struct EllipsoidCore {
  static constexpr bool curved = true;
  Vec3d radii;

  double rounding() const { return 0; }
  Vec3d center() const { return {}; }
  // radii^2 d / |radii d|, coordinate by coordinate: the point with outward normal d.
  Vec3d support(const Vec3d& d) const {
    const Vec3d scaled(radii.x * d.x, radii.y * d.y, radii.z * d.z);
    const double length = norm(scaled), s = length > 0 ? 1 / length : 0;
    return {s * radii.x * scaled.x, s * radii.y * scaled.y, s * radii.z * scaled.z};
  }
  // One feature, which is curved everywhere. With h(n) = |radii n|, the support point is dh/dn. Its
  // derivative is the second derivative of h, (radii^2 - p p^T) / h, over the tangent plane.
  LocalSurface local_surface(const Vec3d& p, const Vec3d& n, double = feature_tolerance) const {
    LocalSurface s;
    const Curvature c = curvature(s, p, n);
    s.point = support(n);
    for (int i = 0; i < 2; ++i) {
      s.axis[i] = c.axis[i];
      s.radius[i] = c.radius[i];
    }
    return s;
  }
  Curvature curvature(const LocalSurface&, const Vec3d&, const Vec3d& n) const {
    const Vec3d p = support(n);
    Vec3d t, u;
    tangents(n, t, u);
    // Eigenvectors of a symmetric 2 x 2 matrix, at half the angle of (difference, tu).
    const auto [tt, tu, uu] = bend(p, n, t, u);
    const double mean = 0.5 * (tt + uu), difference = 0.5 * (tt - uu),
                 spread = std::sqrt(difference * difference + tu * tu);
    double c = 1, sine = 0;
    if (spread > 0) {
      const double large = std::sqrt(0.5 * (1 + std::fabs(difference) / spread)),
                   small = 0.5 * tu / (spread * large);
      c = difference >= 0 ? large : std::fabs(small);
      sine = difference >= 0 ? small : std::copysign(large, tu);
    }
    return {{c * t + sine * u, c * u - sine * t},
            {mean + spread, std::max(0.0, mean - spread)},
            LocalSurface::straight};
  }
  // Radii of curvature at a point p with normal n as a matrix over the tangents t and u: tt, tu,
  // uu.
  std::array<double, 3> bend(const Vec3d& p, const Vec3d& n, const Vec3d& t, const Vec3d& u) const {
    const double h = dot(n, p), tp = dot(t, p), up = dot(u, p);
    const Vec3d squares(radii.x * radii.x, radii.y * radii.y, radii.z * radii.z);
    const auto slope = [&](const Vec3d& a, const Vec3d& b) {
      return a.x * b.x * squares.x + a.y * b.y * squares.y + a.z * b.z * squares.z;
    };
    return {(slope(t, t) - tp * tp) / h, (slope(t, u) - tp * up) / h, (slope(u, u) - up * up) / h};
  }
  Vec3d on_feature(const LocalSurface&, const Vec3d&, const Vec3d& n) const { return support(n); }
  // Radii over the tangents t0 and t1.
  ROBOSIM_INLINE tangent_plane::TangentRadii radii_over(const Vec3d&, const Vec3d& n,
                                                        const Vec3d& t0, const Vec3d& t1) const {
    const auto [tt, tu, uu] = bend(support(n), n, t0, t1);
    return {tangent_plane::Radii(tangent_plane::Mat2{{tt, tu}, {tu, uu}})};
  }
  // The largest ball inside that touches the surface at p has its center c where the normal
  // intersects the plane across the shortest axis. With M the squared reciprocals of the radii and
  // m the square of the shortest radius, p - c = m M p. p is the point of the surface nearest to c,
  // since 1 - m M >= 0.
  double inner_radius(const Vec3d&, const Vec3d& n) const {
    const double least = std::min({radii.x, radii.y, radii.z});
    return least * least / norm(Vec3d(radii.x * n.x, radii.y * n.y, radii.z * n.z));
  }
  Growth growth(const LocalSurface&, const Vec3d& n) const {
    const double r = inner_radius({}, n);
    return {{r, r}};
  }
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

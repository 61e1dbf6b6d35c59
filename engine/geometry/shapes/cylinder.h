// Cylinder x^2 + y^2 <= radius^2, |z| <= half_length. Core: the cylinder itself.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/bounds.h"
#include "geometry/directions.h"
#include "geometry/local_surface.h"
#include "geometry/shapes/patch.h"
#include "geometry/tangent_plane.h"

namespace robosim {

struct CylinderCore {
  static constexpr bool curved = true;
  double radius, half_length;

  double rounding() const { return 0; }
  Vec3d center() const { return {}; }
  // Upper bound of the bounding ball's radius, cheaper to compute.
  double size() const { return radius + half_length; }
  // The point of the rim on d's side; the cap's center if d is along the axis.
  Vec3d support(const Vec3d& d) const {
    const double across = std::sqrt(d.x * d.x + d.y * d.y);
    const double s = across > 0 ? radius / across : 0;
    return {s * d.x, s * d.y, std::copysign(half_length, d.z)};
  }
  // Radii over the tangents t0 and t1; see local_surface.
  ROBOSIM_INLINE tangent_plane::TangentRadii radii_over(const Vec3d& p, const Vec3d& n,
                                                        const Vec3d& t0, const Vec3d& t1) const {
    using tangent_plane::Radii;
    const double rho = std::sqrt(p.x * p.x + p.y * p.y), below = half_length - std::fabs(p.z),
                 within = radius - rho;
    const double tolerance = std::max(feature_tolerance * size(), std::min(below, within));
    if (below > tolerance) return {Radii(t0.z, t1.z, radius), below};
    if (within > tolerance) return {Radii::flat(), within};
    const double squared = n.x * n.x + n.y * n.y, n_rho = std::sqrt(squared);
    const bool tips = std::min(n_rho, std::fabs(n.z)) < feature_tolerance;
    // Direction along the rim, of length n_rho.
    const tangent_plane::Vec2 e{n.x * t0.y - n.y * t0.x, n.x * t1.y - n.y * t1.x};
    if (!(n_rho > 0)) return {Radii(e.x, e.y, 0), LocalSurface::straight, tips};
    return {Radii(tangent_plane::outer((radius * inverse_cube(squared, n_rho)) * e, e)),
            LocalSurface::straight, tips};
  }
  // Feature numbers: face 0 is the lower end, face 1 the upper one; edges are their rims; curved 0
  // is the lateral surface.
  LocalSurface local_surface(const Vec3d& p, const Vec3d& n,
                             double precision = feature_tolerance) const {
    LocalSurface s;
    s.point = p;
    const double rho = std::sqrt(p.x * p.x + p.y * p.y), below = half_length - std::fabs(p.z),
                 within = radius - rho;
    const double tolerance = std::max(precision * size(), min_number(below, within));
    const double n_rho = std::sqrt(n.x * n.x + n.y * n.y), n_z = std::fabs(n.z);
    // Direction along the rim.
    const Vec3d round = unit_or({-n.y, n.x, 0}, unit_or({-p.y, p.x, 0}, {0, 1, 0}));
    s.index = below <= tolerance && p.z > 0;
    if (below <= tolerance && within <= tolerance) {
      s.kind = FeatureKind::edge;
      s.axis[0] = round;
      s.axis[1] = cross(n, round);
      s.radius[0] = n_rho > 0 ? radius / n_rho : LocalSurface::straight;
      s.tilt_sine = min_number(n_rho, n_z);
    } else if (below <= tolerance) {
      s.kind = FeatureKind::face;
      s.axis[0] = {1, 0, 0};
      s.axis[1] = {0, 1, 0};
      s.slide = within;
      s.radius[0] = s.radius[1] = LocalSurface::straight;
    } else {
      s.axis[0] = round;
      s.axis[1] = {0, 0, 1};
      s.slide = below;
      s.radius[0] = radius;
      s.radius[1] = LocalSurface::straight;
    }
    return s;
  }
  // The point of the feature with normal n, nearest to p where the feature is straight.
  Vec3d on_feature(const LocalSurface& s, const Vec3d& p, const Vec3d& n) const {
    if (s.kind == FeatureKind::face) return {p.x, p.y, s.index ? half_length : -half_length};
    const double across = std::sqrt(n.x * n.x + n.y * n.y), r = across > 0 ? radius / across : 0;
    return {r * n.x, r * n.y,
            s.kind == FeatureKind::curved ? p.z : (s.index ? half_length : -half_length)};
  }
  Curvature curvature(const LocalSurface& s, const Vec3d& p, const Vec3d& n) const {
    if (s.kind == FeatureKind::face)
      return {{{1, 0, 0}, {0, 1, 0}},
              {s.radius[0], s.radius[1]},
              radius - std::sqrt(p.x * p.x + p.y * p.y)};
    const double n_rho = std::sqrt(n.x * n.x + n.y * n.y);
    const Vec3d round = n_rho > 0 ? Vec3d(-n.y / n_rho, n.x / n_rho, 0) : Vec3d(0, 1, 0);
    if (s.kind == FeatureKind::curved)
      return {{round, {0, 0, 1}}, {radius, LocalSurface::straight}, half_length - std::fabs(p.z)};
    return {{round, cross(n, round)},
            {n_rho > 0 ? radius / n_rho : LocalSurface::straight, 0},
            LocalSurface::straight};
  }
  // Ball below the lateral surface, limited by the ends; or below an end, limited by the rim.
  double inner_radius(const Vec3d& p, const Vec3d& n) const {
    const double n_rho = std::sqrt(n.x * n.x + n.y * n.y), rho = std::sqrt(p.x * p.x + p.y * p.y);
    if (std::fabs(n.z) < feature_tolerance) return std::min(radius, half_length - std::fabs(p.z));
    return n_rho < feature_tolerance ? std::min(half_length, radius - rho) : 0;
  }
  Growth growth(const LocalSurface& s, const Vec3d&) const {
    if (s.kind == FeatureKind::face) return robosim::growth(s);
    return {{radius, s.kind == FeatureKind::curved ? 2 * s.slide : 0}};
  }
  static constexpr int n_sizes = 2;  // radius, length
  Vec3d size_rate(int k, const LocalSurface& s, const Vec3d& n) const {
    if (k == 0) return s.kind == FeatureKind::face ? Vec3d() : unit_or({n.x, n.y, 0}, {1, 0, 0});
    return {0, 0, s.kind == FeatureKind::curved ? 0 : (s.index ? 0.5 : -0.5)};
  }
  // An end, or the line of the lateral surface on n's side.
  void patch(const Vec3d& n, Patch& out) const {
    const double across = std::sqrt(n.x * n.x + n.y * n.y);
    if (std::fabs(n.z) >= across)
      return disc_patch(out, radius, std::copysign(half_length, n.z), n.z > 0, n.z > 0);
    const Vec3d e(n.x / across, n.y / across, 0);
    out.kind = Patch::Kind::line;
    out.face = {FeatureKind::curved, 0, 0};
    out.normal = e;
    out.round = {-e.y, e.x, 0};
    out.swing[0] = out.swing[1] = radius / across;
    out.tube_radius = radius;
    out.tube_half_length = half_length;
    for (int i = 0; i < 2; ++i)
      out.add(radius * e + Vec3d(0, 0, i ? half_length : -half_length), {FeatureKind::edge, i, 0},
              out.face);
  }
  Vec3d stretch(int k, const Vec3d& p, const Vec3d&) const {
    return k == 0 ? Vec3d(p.x / radius, p.y / radius, 0) : Vec3d(0, 0, 0.5 * p.z / half_length);
  }
  Ball bounding_ball() const {
    return {{}, std::sqrt(radius * radius + half_length * half_length)};
  }
  double farthest_from(const Vec3d& p) const {
    return std::hypot(std::hypot(p.x, p.y) + radius, std::fabs(p.z) + half_length);
  }
};

}  // namespace robosim

// Solid cone about z: base disc of `radius` at z = -half_length, apex at z = +half_length. Core:
// the cone itself.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/bounds.h"
#include "geometry/directions.h"
#include "geometry/local_surface.h"
#include "geometry/shapes/patch.h"
#include "geometry/tangent_plane.h"

namespace robosim {

struct ConeCore {
  static constexpr bool curved = true;
  double radius, half_length;

  double rounding() const { return 0; }
  Vec3d center() const { return {}; }
  // The apex, or the point of the rim on d's side; the base's center if d points straight down.
  Vec3d support(const Vec3d& d) const {
    const double across = std::sqrt(d.x * d.x + d.y * d.y);
    if (2 * half_length * d.z >= radius * across) return {0, 0, half_length};
    const double s = across > 0 ? radius / across : 0;
    return {s * d.x, s * d.y, -half_length};
  }
  // Radii over the tangents t0 and t1; see local_surface.
  ROBOSIM_INLINE tangent_plane::TangentRadii radii_over(const Vec3d& p, const Vec3d& n,
                                                        const Vec3d& t0, const Vec3d& t1) const {
    using tangent_plane::Radii;
    const double height = 2 * half_length, line = slant(), below_apex = half_length - p.z,
                 above = p.z + half_length;
    const double squared = n.x * n.x + n.y * n.y, n_rho = std::sqrt(squared),
                 rho2 = p.x * p.x + p.y * p.y;
    const double from_apex2 = rho2 + below_apex * below_apex, on = feature_tolerance * line;
    // True if n is the normal of the lateral surface.
    const bool as_mantle = std::fabs(n_rho * radius - n.z * height) < on;
    if (from_apex2 <= on * on || below_apex < 0)
      return {Radii::round(0), LocalSurface::straight, as_mantle};
    const double rho = std::sqrt(rho2), within = (below_apex * radius - rho * height) / line;
    const double tolerance = std::max(on, std::min(above, within));
    if (above <= tolerance && within > tolerance) return {Radii::flat(), radius - rho};
    // Direction around the axis, of length n_rho.
    const tangent_plane::Vec2 e{n.x * t0.y - n.y * t0.x, n.x * t1.y - n.y * t1.x};
    if (above <= tolerance) {
      const bool tips = as_mantle || n_rho < feature_tolerance;
      if (!(n_rho > 0)) return {Radii(e.x, e.y, 0), LocalSurface::straight, tips};
      return {Radii(tangent_plane::outer((radius * inverse_cube(squared, n_rho)) * e, e)),
              LocalSurface::straight, tips};
    }
    // Direction along the line of the lateral surface, perpendicular to e.
    const tangent_plane::Vec2 down = -1.0 * tangent_plane::turned(e);
    const double from_apex = std::sqrt(from_apex2);
    return {Radii(down.x, down.y, below_apex * radius * line / (height * height)),
            std::min(from_apex, line - from_apex)};
  }
  // Feature numbers: vertex 0 is the apex, edge 0 the rim, face 0 the base, curved 0 the lateral
  // surface, which is straight along its lines from the apex.
  LocalSurface local_surface(const Vec3d& p, const Vec3d& n,
                             double precision = feature_tolerance) const {
    LocalSurface s;
    const double height = 2 * half_length, line = slant();
    const double rho = std::sqrt(p.x * p.x + p.y * p.y), n_rho = std::sqrt(n.x * n.x + n.y * n.y);
    const double below_apex = half_length - p.z,
                 from_apex = std::sqrt(rho * rho + below_apex * below_apex),
                 above = p.z + half_length;
    // Distance of p below the lateral surface.
    const double within = ((half_length - p.z) * radius - rho * height) / line;
    // Sine of the angle between n and the normal of the lateral surface.
    const auto from_mantle = [&] {
      return min_number(std::fabs(n_rho * radius - n.z * height) / line, 1.0);
    };
    const double tolerance = std::max(precision * line, std::min(above, within));
    const Vec3d out = outward(n), round(-out.y, out.x, 0);
    s.point = p;
    s.axis[0] = round;
    s.axis[1] = cross(n, round);
    if (from_apex <= precision * line || p.z > half_length) {
      s.kind = FeatureKind::vertex;
      s.tilt_sine = from_mantle();
      s.point = {0, 0, half_length};
    } else if (above <= tolerance && within <= tolerance) {
      s.kind = FeatureKind::edge;
      s.tilt_sine = min_number(from_mantle(), n_rho);
      s.radius[0] = n_rho > 0 ? radius / n_rho : LocalSurface::straight;
    } else if (above <= tolerance) {
      s.kind = FeatureKind::face;
      s.axis[0] = {1, 0, 0};
      s.axis[1] = {0, 1, 0};
      s.slide = radius - rho;
      s.radius[0] = s.radius[1] = LocalSurface::straight;
    } else {
      s.axis[1] = along_line(n);
      s.slide = std::min(from_apex, line - from_apex);
      s.radius[0] = (half_length - p.z) * radius * line / (height * height);
      s.radius[1] = LocalSurface::straight;
    }
    return s;
  }
  Vec3d on_feature(const LocalSurface& s, const Vec3d& p, const Vec3d& n) const {
    if (s.kind == FeatureKind::vertex) return {0, 0, half_length};
    if (s.kind == FeatureKind::face) return {p.x, p.y, -half_length};
    const bool on_rim = s.kind == FeatureKind::edge;
    const double z = on_rim ? -half_length : p.z,
                 rho = on_rim ? radius : (half_length - z) / (2 * half_length) * radius;
    const double across = std::sqrt(n.x * n.x + n.y * n.y);
    if (!(across > 0)) return {rho, 0, z};
    const double r = rho / across;
    return {r * n.x, r * n.y, z};
  }
  Curvature curvature(const LocalSurface& s, const Vec3d& p, const Vec3d& n) const {
    const double rho = std::sqrt(p.x * p.x + p.y * p.y);
    if (s.kind == FeatureKind::face)
      return {{{1, 0, 0}, {0, 1, 0}}, {s.radius[0], s.radius[1]}, radius - rho};
    const Vec3d out = outward(n), round(-out.y, out.x, 0);
    if (s.kind == FeatureKind::vertex)
      return {{round, cross(n, round)}, {0, 0}, LocalSurface::straight};
    if (s.kind == FeatureKind::edge) {
      const double n_rho = std::sqrt(n.x * n.x + n.y * n.y);
      return {{round, cross(n, round)},
              {n_rho > 0 ? radius / n_rho : LocalSurface::straight, 0},
              LocalSurface::straight};
    }
    // Lateral surface; part is the fraction of the line from the apex.
    const double height = 2 * half_length, line = slant(), part = (half_length - p.z) / height;
    return {{round, along_line(n)},
            {part * radius * line / height, LocalSurface::straight},
            line * std::min(part, 1 - part)};
  }
  // Ball below the lateral surface, limited by the axis and the base; or above the base, limited by
  // the lateral surface.
  double inner_radius(const Vec3d& p, const Vec3d& n) const {
    const double height = 2 * half_length, line = slant(), rho = std::sqrt(p.x * p.x + p.y * p.y),
                 above = p.z + half_length;
    const double n_rho = std::sqrt(n.x * n.x + n.y * n.y);
    if (std::fabs(n_rho * radius - n.z * height) < feature_tolerance * line)
      return std::min(rho * line / height, above * line / (line + radius));
    return n_rho < feature_tolerance && n.z < 0 ? (height * radius - rho * height) / (line + radius)
                                                : 0;
  }
  // For the lateral surface, the mean of the bounds from its line and from the disc at that height,
  // each of which is valid by itself.
  Growth growth(const LocalSurface& s, const Vec3d& n) const {
    if (s.kind == FeatureKind::edge) return {{radius, 0}};
    if (s.kind != FeatureKind::curved) return robosim::growth(s);
    return {{0.5 * s.radius[0] * std::sqrt(n.x * n.x + n.y * n.y), s.slide}};
  }
  static constexpr int n_sizes = 2;  // radius, length
  Vec3d size_rate(int k, const LocalSurface& s, const Vec3d& n) const {
    // Fraction of the way from the apex to the base.
    const double part = (half_length - s.point.z) / (2 * half_length);
    if (k == 1) return {0, 0, 0.5 - part};
    return s.kind == FeatureKind::face ? Vec3d() : part * outward(n);
  }
  // Turn of the lateral surface's normal when its lines turn.
  Vec3d size_turn(int k, const LocalSurface& s, const Vec3d& n) const {
    if (s.kind != FeatureKind::curved) return {};
    return ((k == 0 ? -dot(n, outward(n)) : n.z) / slant()) * along_line(n);
  }
  // The base, or the line of the lateral surface on n's side. None if n points along the axis over
  // the apex more than along the lateral surface's normal.
  void patch(const Vec3d& n, Patch& out) const {
    const double height = 2 * half_length, line = std::hypot(radius, height),
                 across = std::sqrt(n.x * n.x + n.y * n.y);
    const double to_mantle = (height * across + radius * n.z) / line;
    if (-n.z >= to_mantle) return disc_patch(out, radius, -half_length, false, 0);
    if (n.z >= to_mantle) return;
    const Vec3d e(n.x / across, n.y / across, 0);
    out.kind = Patch::Kind::line;
    out.face = {FeatureKind::curved, 0, 0};
    out.normal = (1 / line) * (height * e + Vec3d(0, 0, radius));
    out.round = {-e.y, e.x, 0};
    out.swing[1] = radius / across;
    out.tube_radius = radius / 2;
    out.tube_slope = -radius / height;
    out.tube_half_length = half_length;
    out.add({0, 0, half_length}, {FeatureKind::vertex, 0, 0}, out.face);
    out.add(radius * e - Vec3d(0, 0, half_length), {FeatureKind::edge, 0, 0}, out.face);
  }
  Vec3d stretch(int k, const Vec3d& p, const Vec3d&) const {
    return k == 0 ? Vec3d(p.x / radius, p.y / radius, 0) : Vec3d(0, 0, 0.5 * p.z / half_length);
  }
  // Ball through apex and rim, or through the rim alone if the cone is wider than high.
  Ball bounding_ball() const {
    const double height = 2 * half_length;
    if (radius >= height) return {{0, 0, -half_length}, radius};
    const double r = 0.5 * (height + radius / height * radius);
    return {{0, 0, half_length - r}, r};
  }
  // The farthest point is the apex, or the point of the rim on the other side of the axis.
  double farthest_from(const Vec3d& p) const {
    const double across = std::hypot(p.x, p.y);
    return std::max(std::hypot(across, p.z - half_length),
                    std::hypot(across + radius, p.z + half_length));
  }

 private:
  double slant() const { return std::sqrt(radius * radius + 4 * half_length * half_length); }
  static Vec3d outward(const Vec3d& n) { return unit_or({n.x, n.y, 0}, {1, 0, 0}); }
  // Unit vector from the apex to the rim.
  Vec3d along_line(const Vec3d& n) const {
    return (1 / slant()) * (radius * outward(n) - Vec3d(0, 0, 2 * half_length));
  }
};

}  // namespace robosim

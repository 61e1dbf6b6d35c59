// Box |x| <= half_extents.x, and likewise for y and z, rounded by `radius`. Core: the box itself.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/bounds.h"
#include "geometry/directions.h"
#include "geometry/local_surface.h"
#include "geometry/shapes/corner.h"
#include "geometry/shapes/patch.h"
#include "geometry/tangent_plane.h"

namespace robosim {

struct BoxCore {
  static constexpr bool curved = false;
  Vec3d half_extents;
  double radius = 0;

  double rounding() const { return radius; }
  // Upper bound of half the diagonal, cheaper to compute.
  double size() const { return half_extents.x + half_extents.y + half_extents.z; }
  Vec3d center() const { return {}; }
  // The corner on d's side.
  Vec3d support(const Vec3d& d) const {
    return {std::copysign(half_extents.x, d.x), std::copysign(half_extents.y, d.y),
            std::copysign(half_extents.z, d.z)};
  }
  // A corner's number has a bit for each negative coordinate.
  Corner corner_towards(const Vec3d& d) const {
    return {support(d), std::signbit(d.x) | std::signbit(d.y) << 1 | std::signbit(d.z) << 2};
  }
  Vec3d corner(int i) const {
    return {i & 1 ? -half_extents.x : half_extents.x, i & 2 ? -half_extents.y : half_extents.y,
            i & 4 ? -half_extents.z : half_extents.z};
  }
  int n_corners() const { return 8; }
  // Radii over the tangents t0 and t1; see local_surface.
  ROBOSIM_INLINE tangent_plane::TangentRadii radii_over(const Vec3d& p, const Vec3d& n,
                                                        const Vec3d& t0, const Vec3d& t1) const {
    using tangent_plane::Radii;
    const Vec3d room(half_extents.x - std::fabs(p.x), half_extents.y - std::fabs(p.y),
                     half_extents.z - std::fabs(p.z));
    const double tolerance =
        std::max(feature_tolerance * size(), std::min({room.x, room.y, room.z}));
    const auto steep = [](double sine) { return std::fabs(sine) < feature_tolerance; };
    // Axes along which the point is free.
    const bool x = room.x > tolerance, y = room.y > tolerance, z = room.z > tolerance;
    if (!(x | y | z))
      return {Radii::round(radius), LocalSurface::straight, steep(n.x) || steep(n.y) || steep(n.z)};
    if (x & y) return {Radii::flat(), std::min(room.x, room.y)};
    if (y & z) return {Radii::flat(), std::min(room.y, room.z)};
    if (x & z) return {Radii::flat(), std::min(room.x, room.z)};
    if (x) return {Radii(t0.x, t1.x, radius), room.x, steep(n.y) || steep(n.z)};
    if (y) return {Radii(t0.y, t1.y, radius), room.y, steep(n.x) || steep(n.z)};
    return {Radii(t0.z, t1.z, radius), room.z, steep(n.x) || steep(n.y)};
  }
  // Feature numbers: a face is 2 axis + (on its positive side); an edge 4 axis + 2 (second other
  // axis positive) + (first other axis positive); a vertex has a bit for each positive coordinate.
  LocalSurface local_surface(const Vec3d& p, const Vec3d& n,
                             double precision = feature_tolerance) const {
    LocalSurface s;
    s.point = p;
    const Vec3d room(half_extents.x - std::fabs(p.x), half_extents.y - std::fabs(p.y),
                     half_extents.z - std::fabs(p.z));
    const double tolerance = std::max(precision * size(), std::min({room.x, room.y, room.z}));
    int n_free = 0, free[3] = {}, fixed[3] = {}, n_fixed = 0, positive = 0;
    double sine = 1;  // of the tilt
    for (int i = 0; i < 3; ++i) {
      positive |= (p[i] > 0) << i;
      if (room[i] > tolerance) {
        free[n_free++] = i;
        s.slide = min_number(s.slide, room[i]);
      } else {
        fixed[n_fixed++] = i;
        s.point[i] = std::copysign(half_extents[i], p[i]);
        sine = min_number(sine, std::fabs(n[i]));
      }
    }
    if (n_free == 0) {
      s.kind = FeatureKind::vertex;
      s.index = positive;
      s.tilt_sine = sine;
      s.axis[0] = perpendicular(n);
      s.axis[1] = cross(n, s.axis[0]);
    } else if (n_free == 1) {
      const int i = free[0], j = (i + 1) % 3, k = (i + 2) % 3;
      s.kind = FeatureKind::edge;
      s.index = 4 * i + 2 * (positive >> k & 1) + (positive >> j & 1);
      s.tilt_sine = sine;
      s.axis[0][i] = 1;
      s.radius[0] = LocalSurface::straight;
      s.axis[1] = unit_or(cross(n, s.axis[0]), perpendicular(s.axis[0]));
    } else {
      const int i = fixed[0];
      s.kind = FeatureKind::face;
      s.index = 2 * i + (positive >> i & 1);
      s.axis[0][(i + 1) % 3] = 1;
      s.axis[1][(i + 2) % 3] = 1;
      s.radius[0] = s.radius[1] = LocalSurface::straight;
    }
    return s;
  }
  // Ball below a face, limited by half the box's thickness and by the other faces.
  double inner_radius(const Vec3d& p, const Vec3d& n) const {
    for (int i = 0; i < 3; ++i)
      if (std::fabs(n[i]) > 0.5) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        if (std::hypot(n[j], n[k]) > feature_tolerance) return 0;
        return std::min({half_extents[i], half_extents[j] - std::fabs(p[j]),
                         half_extents[k] - std::fabs(p[k])});
      }
    return 0;
  }
  static constexpr int n_sizes = 4;  // along x, y and z, rounding
  Vec3d size_rate(int k, const LocalSurface& s, const Vec3d& n) const {
    if (k == 3) return n;
    Vec3d rate;
    if (std::fabs(s.point[k]) == half_extents[k]) rate[k] = std::copysign(0.5, s.point[k]);
    return rate;
  }
  // The face whose outward normal is closest to n.
  void patch(const Vec3d& n, Patch& out) const {
    const double x = std::fabs(n.x), y = std::fabs(n.y), z = std::fabs(n.z);
    const int i = x >= y && x >= z ? 0 : (y >= z ? 1 : 2), j = (i + 1) % 3, k = (i + 2) % 3;
    const bool up = n[i] > 0;
    out.kind = Patch::Kind::polygon;
    out.face = {FeatureKind::face, 2 * i + up, 0};
    out.normal[i] = up ? 1 : -1;
    for (int c = 0; c < 4; ++c) {
      // Around the face: (-, -), (+, -), (+, +), (-, +) along j and k, in reverse order on a lower
      // face.
      const bool first = c == 1 || c == 2, second = c >= 2, on_j = up ? first : second,
                 on_k = up ? second : first;
      Vec3d p;
      p[i] = up ? half_extents[i] : -half_extents[i];
      p[j] = on_j ? half_extents[j] : -half_extents[j];
      p[k] = on_k ? half_extents[k] : -half_extents[k];
      // The side to the next corner; its other axes in the order of local_surface.
      const bool along_j = up == (c % 2 == 0);
      const int side = along_j ? 4 * j + 2 * up + on_k : 4 * k + 2 * on_j + up;
      out.add(p, {FeatureKind::vertex, up << i | on_j << j | on_k << k, 0},
              {FeatureKind::edge, side, 0});
    }
  }
  Vec3d stretch(int k, const Vec3d& p, const Vec3d& m) const {
    if (k == 3) return m;
    Vec3d rate;
    rate[k] = 0.5 * p[k] / half_extents[k];
    return rate;
  }
  Ball bounding_ball() const { return {{}, norm(half_extents) + radius}; }
  // The corner opposite to p is the farthest point.
  double farthest_from(const Vec3d& p) const { return norm(p - support(-p)) + radius; }
};

}  // namespace robosim

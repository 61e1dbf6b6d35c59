#include "geometry/distance/simplex_surface.h"

#include <algorithm>

namespace robosim {
namespace {

LocalSurface corner(const Vec3d& p, const Vec3d& n) {
  LocalSurface s;
  s.kind = FeatureKind::vertex;
  s.point = p;
  s.axis[0] = perpendicular(n);
  s.axis[1] = cross(n, s.axis[0]);
  return s;
}

// Surface about p on the edge from a to b.
LocalSurface edge(const Vec3d& a, const Vec3d& b, const Vec3d& p, const Vec3d& n, double on) {
  const Vec3d d = b - a;
  const double length = norm(d), to_a = dot(p - a, d) / length, to_b = length - to_a;
  if (std::min(to_a, to_b) <= on) return corner(to_a < to_b ? a : b, n);
  LocalSurface s;
  s.kind = FeatureKind::edge;
  s.point = a;
  s.slide = std::min(to_a, to_b);
  s.axis[0] = d * (1 / length);
  s.radius[0] = LocalSurface::straight;
  s.axis[1] = unit_or(cross(n, s.axis[0]), perpendicular(s.axis[0]));
  return s;
}

}  // namespace

LocalSurface simplex_surface(const Vec3d* point, const double* weight, int n_points, const Vec3d& p,
                             const Vec3d& n, double on) {
  if (n_points == 1) return corner(point[0], n);
  if (n_points == 2) return edge(point[0], point[1], p, n, on);
  const Vec3d d = point[1] - point[0], m = cross(d, point[2] - point[0]);
  const double area = norm(m);
  // Distance of the point from the side opposite to each corner.
  int nearest = 0;
  double room[3];
  for (int i = 0; i < 3; ++i) {
    room[i] = weight[i] * area / norm(point[(i + 1) % 3] - point[(i + 2) % 3]);
    if (room[i] < room[nearest]) nearest = i;
  }
  if (!(room[nearest] > on))
    return edge(point[(nearest + 1) % 3], point[(nearest + 2) % 3], p, n, on);
  LocalSurface s;
  s.kind = FeatureKind::face;
  s.point = point[0];
  s.slide = room[nearest];
  s.axis[0] = d * (1 / norm(d));
  s.axis[1] = cross(m, s.axis[0]) * (1 / area);
  s.radius[0] = s.radius[1] = LocalSurface::straight;
  return s;
}

}  // namespace robosim

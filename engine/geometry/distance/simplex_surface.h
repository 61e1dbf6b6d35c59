// The surfaces about a rough answer of GJK: of a polytope the corner, edge or triangle that the
// simplex has on it.
//
// As local_surface gives it, but without looking for it among the shape's own. Where another
// feature touches, no plane of support proves what Newton's method makes of this one.
#pragma once

#include <type_traits>

#include "geometry/distance/newton.h"

namespace robosim {

// About p, the mean of one to three corners of a polytope with these weights; n is outward. Nearer
// than `on` to a corner or edge p is there.
LocalSurface simplex_surface(const Vec3d* point, const double* weight, int n_points, const Vec3d& p,
                             const Vec3d& n, double on);

template <class Difference>
struct SurfacesOfSimplex : SurfacesOf<Difference> {
  using CoreA = std::remove_cvref_t<decltype(Difference::A)>;
  using CoreB = std::remove_cvref_t<decltype(Difference::B)>;
  const Simplex& simplex;
  double scale;  // of the coordinates

  LocalSurface surface(int side, const Vec3d& p, const Vec3d& n, double precision) const {
    if (side ? CoreB::curved : CoreA::curved)
      return SurfacesOf<Difference>::surface(side, p, n, precision);
    constexpr double same = 1e-14;   // of the scale: B's points come by way of D's
    constexpr double smaller = 0.1;  // a shape as a part of the scale, more or less
    Vec3d point[3];
    double weight[3];
    int n_points = 0;
    for (int i = 0; i < simplex.n && i < 3; ++i) {
      const Vec3d x = side ? simplex.a[i] + simplex.w[i] : simplex.a[i];
      int k = 0;
      while (k < n_points && !(squared_norm(x - point[k]) <= same * same * scale * scale)) ++k;
      if (k == n_points) point[n_points] = x, weight[n_points++] = 0;
      weight[k] += simplex.lambda[i];
    }
    return simplex_surface(point, weight, n_points, p, n, smaller * precision * scale);
  }
};

}  // namespace robosim

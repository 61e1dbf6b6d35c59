// Surfaces about an approximate answer of GJK: for a polytope, the corner, edge or triangle spanned
// by the simplex.
//
// Equal to local_surface, without a search among the shape's features. If another feature touches,
// no supporting plane proves the result that Newton's method finds with this one.
#pragma once

#include <type_traits>

#include "geometry/distance/newton.h"

namespace robosim {

// Surface about p, the mean of one to three corners of a polytope with these weights; n is outward.
// p is on a corner or an edge if it is nearer to it than `on`.
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
    constexpr double same = 1e-14;   // relative to the scale: B's points are computed from D's
    constexpr double smaller = 0.1;  // size of a shape relative to the scale, roughly
    Vec3d point[3];
    double weight[3];
    int n_points = 0;
    for (int i = 0; i < simplex.n && i < 3; ++i) {
      const Vec3d x = side ? simplex.a[i] + simplex.w[i] : simplex.a[i];
      int k = 0;
      while (k < n_points && !(squared_norm(x - point[k]) <= same * same * scale * scale)) ++k;
      if (k == n_points) {
        point[n_points] = x;
        weight[n_points++] = 0;
      }
      weight[k] += simplex.lambda[i];
    }
    return simplex_surface(point, weight, n_points, p, n, smaller * precision * scale);
  }
};

}  // namespace robosim

#include "geometry/contact_derivatives.h"

#include <cmath>

#include "geometry/directions.h"

namespace robosim {
namespace {

// Compute the surface of a shape about its point p_W with outward normal n_W, axes in W. Dispatches
// on the shape's type once. Returns the shape's size.
double look_at(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W, const Vec3d& n_W,
               LocalSurface& s) {
  return visit(shape, [&](const auto& core) {
    const double rounding = core.rounding();
    s = core.local_surface(transpose_times(X_WS.R, p_W - rounding * n_W - X_WS.p),
                           transpose_times(X_WS.R, n_W));
    s.point = X_WS * s.point + rounding * n_W;
    for (int i = 0; i < s.n_corners; ++i) s.corner[i].slope = X_WS.R * s.corner[i].slope;
    for (int i = 0; i < 2; ++i) {
      s.axis[i] = X_WS.R * s.axis[i];
      s.radius[i] += rounding;
    }
    const double size = size_of(core);
    return std::isfinite(size) ? size : norm(p_W - X_WS.p);
  });
}

// Call f(k, u, w) for each size k of the constructor, where the size moves the surface about the
// point by u and turns its normal by w, in W. Returns the number of sizes.
template <class F>
int for_each_size(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W, const Vec3d& n_W, F&& f) {
  return visit(shape, [&](const auto& core) {
    if constexpr (requires { core.n_sizes; }) {
      const Vec3d n = transpose_times(X_WS.R, n_W);
      const LocalSurface s =
          core.local_surface(transpose_times(X_WS.R, p_W - core.rounding() * n_W - X_WS.p), n);
      for (int k = 0; k < core.n_sizes; ++k) {
        Vec3d turn;
        if constexpr (requires { core.size_turn(k, s, n); })
          turn = X_WS.R * core.size_turn(k, s, n);
        f(k, X_WS.R * core.size_rate(k, s, n), turn);
      }
      return core.n_sizes;
    } else {
      return 0;
    }
  });
}

}  // namespace

LocalSurface local_surface(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W,
                           const Vec3d& n_W) {
  LocalSurface s;
  look_at(shape, X_WS, p_W, n_W, s);
  return s;
}

WitnessDerivatives witness_derivatives(const Witness& witness, const Shape& A, const SE3d& X_WA,
                                       const Shape& B, const SE3d& X_WB,
                                       const DerivativesWanted& wanted) {
  WitnessDerivatives d;
  const Vec3d& n = witness.normal;
  // Surfaces at both witness points, and the factors of the derivatives.
  const double size_A = look_at(A, X_WA, witness.p_WA, n, d.A),
               size_B = look_at(B, X_WB, witness.p_WB, -n, d.B);
  Vec3d t0, t1;
  tangents(n, t0, t1);
  using tangent_plane::Radii;
  const WitnessFactors factors = witness_factors(witness, t0, t1, {Radii(d.A, t0, t1), size_A, d.A},
                                                 {Radii(d.B, t0, t1), size_B, d.B});
  d.one_sided = factors.one_sided;
  if (!factors.finite) return d;
  // Poses.
  for (int side = 0; side < 2; ++side)
    if (wanted.pose[side]) expand(factors, side, side ? X_WB : X_WA, d.twist + 6 * side);
  // Scales, sizes of the constructors, and corners of the features.
  for (int side = 0; side < 2 && wanted.shapes; ++side) {
    const SE3d& X = side ? X_WB : X_WA;
    const Vec3d &p_W = side ? witness.p_WB : witness.p_WA, n_out = side ? -n : n;
    d.scale[side] = factors.rate(side, {p_W - X.p, {}});
    d.n_sizes[side] =
        for_each_size(side ? B : A, X, p_W, n_out, [&](int k, const Vec3d& u, const Vec3d& w) {
          d.size[side][k] = factors.rate(side, {u, side ? -w : w});
        });
    const LocalSurface& s = side ? d.B : d.A;
    for (int i = 0; i < s.n_corners; ++i)
      for (int k = 0; k < 3; ++k) {  // w turns n, which points from A to B; on side B n_out = -n
        const Vec3d axis = X.R.col(k), turn = dot(axis, n_out) * s.corner[i].slope;
        d.corner[side][i][k] = factors.rate(side, {s.corner[i].weight * axis, side ? turn : -turn});
      }
  }
  return d;
}

}  // namespace robosim

#include "geometry/contact_derivatives.h"

#include <cmath>

#include "geometry/directions.h"
#include "geometry/tangent_plane.h"

namespace robosim {
namespace {

double size_of(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W) {
  const double radius = bounding_ball(shape).radius;
  return std::isfinite(radius) ? radius : norm(p_W - X_WS.p);
}

}  // namespace

LocalSurface local_surface(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W, const Vec3d& n_W) {
  return visit(shape, [&](const auto& core) {
    const double rounding = core.rounding();
    const Vec3d p = transpose_times(X_WS.R, p_W - rounding * n_W - X_WS.p), n = transpose_times(X_WS.R, n_W);
    LocalSurface s = core.local_surface(p, n);
    s.point = X_WS * s.point + rounding * n_W;
    for (int i = 0; i < 2; ++i) s.axis[i] = X_WS.R * s.axis[i], s.radius[i] += rounding;
    return s;
  });
}

WitnessDerivatives witness_derivatives(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB) {
  using namespace tangent_plane;
  WitnessDerivatives d;
  const Vec3d& n = witness.normal;
  const double phi = witness.distance;
  d.A = local_surface(A, X_WA, witness.p_WA, n);
  d.B = local_surface(B, X_WB, witness.p_WB, -n);
  if (!std::isfinite(phi)) {
    d.one_sided = true;
    return d;
  }
  const Vec3d t0 = perpendicular(n), t1 = cross(n, t0);
  Radii S_A(d.A, t0, t1), S_B(d.B, t0, t1);
  const double size_A = size_of(A, X_WA, witness.p_WA), size_B = size_of(B, X_WB, witness.p_WB);
  if (share_a_straight_direction(S_A, S_B)) {
    (S_A.n_straight < S_B.n_straight ? S_A : S_B).hold();
    d.one_sided = true;
  }
  const Response r = response(phi, S_A, S_B, std::fmax(size_A, size_B));
  const double near = std::fmin(std::fmin(d.A.slide / size_A, d.A.tilt), std::fmin(d.B.slide / size_B, d.B.tilt));
  d.one_sided |= !r.regular || near < feature_tolerance;

  const auto plane = [&](const Vec3d& x) { return Vec2{robosim::dot(x, t0), robosim::dot(x, t1)}; };
  const auto space = [&](const Vec2& x) { return x.x * t0 + x.y * t1; };
  const Mat2 Q_At = transpose(r.Q_A), C_A = -1.0 * (phi * Q_At + r.H);
  for (int side = 0; side < 2; ++side) {
    const SE3d& X = side ? X_WB : X_WA;
    const Vec3d arm = (side ? witness.p_WB : witness.p_WA) - X.p;
    const double sign = side ? 1 : -1;  // of u in u_B - u_A
    for (int k = 0; k < 6; ++k) {
      const Vec3d direction = X.R.col(k % 3);
      const Vec3d u = k < 3 ? direction : cross(direction, arm), w = k < 3 ? Vec3d() : cross(direction, n);
      const Vec2 u2 = plane(u), w2 = plane(w);
      const double dphi = sign * robosim::dot(n, u);
      const Vec2 dn = sign * (r.P * u2) + (side ? r.Q_B : r.Q_A) * w2;
      const Vec2 slip = sign * (Q_At * u2) + (side ? r.H : C_A) * w2;
      const int c = 6 * side + k;
      d.distance[c] = dphi;
      d.normal[c] = space(dn);
      d.p_WA[c] = space(slip) + (side ? Vec3d() : u);
      d.p_WB[c] = d.p_WA[c] + dphi * n + phi * d.normal[c];
    }
  }
  return d;
}

}  // namespace robosim

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
    for (int i = 0; i < s.n_corners; ++i) s.corner[i].slope = X_WS.R * s.corner[i].slope;
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
  // Where the surface of A or B moves with velocity u and turns by w.
  const auto rate = [&](int side, const Vec3d& u, const Vec3d& w) {
    const double sign = side ? 1 : -1;  // of u in u_B - u_A
    const Vec2 u2 = plane(u), w2 = plane(w);
    WitnessRate x;
    x.distance = sign * robosim::dot(n, u);
    x.normal = space(sign * (r.P * u2) + (side ? r.Q_B : r.Q_A) * w2);
    x.p_WA = space(sign * (Q_At * u2) + (side ? r.H : C_A) * w2) + (side ? Vec3d() : u);
    x.p_WB = x.p_WA + x.distance * n + phi * x.normal;
    return x;
  };
  for (int side = 0; side < 2; ++side) {
    const SE3d& X = side ? X_WB : X_WA;
    const Vec3d arm = (side ? witness.p_WB : witness.p_WA) - X.p, n_out = side ? -n : n, n_S = transpose_times(X.R, n_out);
    for (int k = 0; k < 3; ++k) {
      const Vec3d axis = X.R.col(k);
      d.twist[6 * side + k] = rate(side, axis, Vec3d());
      d.twist[6 * side + 3 + k] = rate(side, cross(axis, arm), cross(axis, n));
    }
    d.scale[side] = rate(side, arm, Vec3d());
    visit(side ? B : A, [&](const auto& core) {
      if constexpr (requires { core.n_sizes; }) {
        const LocalSurface s = core.local_surface(transpose_times(X.R, arm - core.rounding() * n_out), n_S);
        d.n_sizes[side] = core.n_sizes;
        for (int k = 0; k < core.n_sizes; ++k) {
          Vec3d turn;
          if constexpr (requires { core.size_turn(k, s, n_S); }) turn = X.R * core.size_turn(k, s, n_S);
          d.size[side][k] = rate(side, X.R * core.size_rate(k, s, n_S), side ? -turn : turn);
        }
      }
    });
    const LocalSurface& s = side ? d.B : d.A;
    for (int i = 0; i < s.n_corners; ++i)
      for (int k = 0; k < 3; ++k) {  // w is about n, from A to B, and n_out turns with it
        const Vec3d turn = robosim::dot(X.R.col(k), n_out) * s.corner[i].slope;
        d.corner[side][i][k] = rate(side, s.corner[i].weight * X.R.col(k), side ? turn : -turn);
      }
  }
  return d;
}

}  // namespace robosim

#include "geometry/contact_derivatives.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "geometry/directions.h"
#include "geometry/tangent_plane.h"

namespace robosim {
namespace {

using namespace tangent_plane;

// The surface of a shape about its point p_W with outward normal n_W, axes in W, by one switch on its type. Returns the shape's size.
double look_at(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W, const Vec3d& n_W, LocalSurface& s) {
  return visit(shape, [&](const auto& core) {
    const double rounding = core.rounding();
    s = core.local_surface(transpose_times(X_WS.R, p_W - rounding * n_W - X_WS.p), transpose_times(X_WS.R, n_W));
    s.point = X_WS * s.point + rounding * n_W;
    for (int i = 0; i < s.n_corners; ++i) s.corner[i].slope = X_WS.R * s.corner[i].slope;
    for (int i = 0; i < 2; ++i) s.axis[i] = X_WS.R * s.axis[i], s.radius[i] += rounding;
    const double size = core.bounding_ball().radius;
    return std::isfinite(size) ? size : norm(p_W - X_WS.p);
  });
}

// f(k, u, w) for each size k of the constructor: how it moves and turns the surface about the point, in W. Returns how many there are.
template <class F>
int for_each_size(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W, const Vec3d& n_W, F&& f) {
  return visit(shape, [&](const auto& core) {
    if constexpr (requires { core.n_sizes; }) {
      const Vec3d n = transpose_times(X_WS.R, n_W);
      const LocalSurface s = core.local_surface(transpose_times(X_WS.R, p_W - core.rounding() * n_W - X_WS.p), n);
      for (int k = 0; k < core.n_sizes; ++k) {
        Vec3d turn;
        if constexpr (requires { core.size_turn(k, s, n); }) turn = X_WS.R * core.size_turn(k, s, n);
        f(k, X_WS.R * core.size_rate(k, s, n), turn);
      }
      return core.n_sizes;
    } else {
      return 0;
    }
  });
}

// What one side's velocity u and its normal's turn w change: the columns of a linear map from their components along t0, t1 and n to a
// WitnessRate as ten numbers in a row.
struct Effect {
  static constexpr int n = 10;
  static_assert(sizeof(WitnessRate) == n * sizeof(double) && std::is_trivially_copyable_v<WitnessRate>);
  double u0[n], u1[n], u_n[n], w0[n], w1[n];

  // normal: dn by a vector of the plane; point: dp_A, tangential; dp_B = dp_A + dphi n + phi dn.
  Effect(const Vec3d& t0, const Vec3d& t1, const Vec3d& normal, double phi, bool is_A, const Mat2& normal_u, const Mat2& normal_w,
         const Mat2& point_u, const Mat2& point_w) {
    const auto fill = [&](double* out, double n0, double n1, double p0, double p1) {
      const Vec3d dn = n0 * t0 + n1 * t1, dp = p0 * t0 + p1 * t1;
      write(out, 0, dn, dp, dp + phi * dn);
    };
    fill(u0, normal_u.row[0].x, normal_u.row[1].x, point_u.row[0].x, point_u.row[1].x);
    fill(u1, normal_u.row[0].y, normal_u.row[1].y, point_u.row[0].y, point_u.row[1].y);
    fill(w0, normal_w.row[0].x, normal_w.row[1].x, point_w.row[0].x, point_w.row[1].x);
    fill(w1, normal_w.row[0].y, normal_w.row[1].y, point_w.row[0].y, point_w.row[1].y);
    write(u_n, is_A ? -1 : 1, Vec3d(), is_A ? normal : Vec3d(), is_A ? Vec3d() : normal);
  }
  // The surface moves only, or turns too.
  ROBOSIM_INLINE void moves(double a, double b, double c, WitnessRate& out) const {
    double x[n];
    for (int i = 0; i < n; ++i) x[i] = a * u0[i] + b * u1[i] + c * u_n[i];
    std::memcpy(&out, x, sizeof x);
  }
  ROBOSIM_INLINE void moves_and_turns(double a, double b, double c, double d, double e, WitnessRate& out) const {
    double x[n];
    for (int i = 0; i < n; ++i) x[i] = a * u0[i] + b * u1[i] + c * u_n[i] + d * w0[i] + e * w1[i];
    std::memcpy(&out, x, sizeof x);
  }

 private:
  static void write(double* out, double distance, const Vec3d& dn, const Vec3d& dp_A, const Vec3d& dp_B) {
    const double x[n] = {distance, dn.x, dn.y, dn.z, dp_A.x, dp_A.y, dp_A.z, dp_B.x, dp_B.y, dp_B.z};
    std::memcpy(out, x, sizeof x);
  }
};

}  // namespace

LocalSurface local_surface(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W, const Vec3d& n_W) {
  LocalSurface s;
  look_at(shape, X_WS, p_W, n_W, s);
  return s;
}

WitnessDerivatives witness_derivatives(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB) {
  WitnessDerivatives d;
  witness_derivatives(witness, A, X_WA, B, X_WB, {}, d);
  return d;
}

void witness_derivatives(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                         const DerivativeParts& parts, WitnessDerivatives& d) {
  const Vec3d& n = witness.normal;
  const double phi = witness.distance;
  const double size_A = look_at(A, X_WA, witness.p_WA, n, d.A);
  const double size_B = look_at(B, X_WB, witness.p_WB, -n, d.B);
  if (!std::isfinite(phi)) {
    const LocalSurface s_A = d.A, s_B = d.B;
    d = WitnessDerivatives();
    d.A = s_A, d.B = s_B, d.one_sided = true;
    return;
  }
  Vec3d t0, t1;
  tangents(n, t0, t1);
  Radii S_A(d.A, t0, t1), S_B(d.B, t0, t1);
  d.one_sided = share_a_straight_direction(S_A, S_B);
  if (d.one_sided) (S_A.n_straight < S_B.n_straight ? S_A : S_B).hold();
  const Response r = response(phi, S_A, S_B, std::max(size_A, size_B));
  const double near_A = std::min(d.A.slide, d.A.tilt * size_A), near_B = std::min(d.B.slide, d.B.tilt * size_B);
  d.one_sided |= !r.regular || near_A < feature_tolerance * size_A || near_B < feature_tolerance * size_B;

  const Mat2 Q_At = transpose(r.Q_A);
  const Effect effects[2] = {{t0, t1, n, phi, true, -1.0 * r.P, r.Q_A, one - Q_At, -1.0 * (phi * Q_At + r.H)},
                             {t0, t1, n, phi, false, r.P, r.Q_B, Q_At, r.H}};
  for (int side = 0; side < 2; ++side) {
    const SE3d& X = side ? X_WB : X_WA;
    const Effect& e = effects[side];
    const Vec3d &p_W = side ? witness.p_WB : witness.p_WA, arm = p_W - X.p, n_out = side ? -n : n;
    // The body's axes, and what they are crossed with the arm and with n, along t0, t1 and n: t1 = n x t0, t0 = t1 x n.
    const Vec3d at_0 = transpose_times(X.R, t0), at_1 = transpose_times(X.R, t1), at_n = transpose_times(X.R, n);
    const double arm_0 = robosim::dot(arm, t0), arm_1 = robosim::dot(arm, t1), arm_n = robosim::dot(arm, n);
    for (int k = 0; k < 3; ++k) {
      e.moves(at_0[k], at_1[k], at_n[k], d.twist[6 * side + k]);
      e.moves_and_turns(arm_n * at_1[k] - arm_1 * at_n[k], arm_0 * at_n[k] - arm_n * at_0[k], arm_1 * at_0[k] - arm_0 * at_1[k], at_1[k],
                        -at_0[k], d.twist[6 * side + 3 + k]);
    }
    // Where the surface moves with velocity u and n turns by w, both in W.
    const auto rate = [&](const Vec3d& u, const Vec3d& w, WitnessRate& out) {
      e.moves_and_turns(robosim::dot(u, t0), robosim::dot(u, t1), robosim::dot(u, n), robosim::dot(w, t0), robosim::dot(w, t1), out);
    };
    if (parts.scale) rate(arm, Vec3d(), d.scale[side]);
    if (parts.sizes)
      d.n_sizes[side] = for_each_size(side ? B : A, X, p_W, n_out, [&](int k, const Vec3d& u, const Vec3d& w) {
        rate(u, side ? -w : w, d.size[side][k]);
      });
    if (!parts.corners) continue;
    const LocalSurface& s = side ? d.B : d.A;
    for (int i = 0; i < s.n_corners; ++i)
      for (int k = 0; k < 3; ++k) {  // w is about n, from A to B, and n_out turns with it
        const Vec3d axis = X.R.col(k), turn = robosim::dot(axis, n_out) * s.corner[i].slope;
        rate(s.corner[i].weight * axis, side ? turn : -turn, d.corner[side][i][k]);
      }
  }
}

}  // namespace robosim

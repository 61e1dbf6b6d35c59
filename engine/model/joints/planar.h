// Planar joint: q = (x, y, theta) in the plane normal to the axis; v = (vx, vy, omega) in the
// moving frame, so that a constant v is a motion along a circle, the exponential of SE(2).
#pragma once

#include <cmath>

#include "model/joint.h"
#include "model/joints/sampling.h"
#include "spatial/lie.h"

namespace robosim {

struct PlanarJoint {
  static constexpr const char* name = "planar";
  static constexpr int n_q = 3, n_v = 3;
  static constexpr const char *q_names[] = {"x", "y", "theta"}, *v_names[] = {"vx", "vy", "omega"};
  static constexpr Coordinate coordinates[] = {Coordinate::length, Coordinate::length,
                                               Coordinate::periodic_angle};
  static constexpr unsigned angular = 0b100;
  static constexpr bool has_axis = true;

  // Right-handed plane axes (e1, e2, n): for n = z they are x and y. Duff et al., "Building an
  // orthonormal basis, revisited" (2017).
  static Mat3d plane_axes(const Vec3d& n) {
    const double sign = std::copysign(1.0, n.z), a = -1 / (sign + n.z), b = n.x * n.y * a;
    return {{1 + sign * n.x * n.x * a, sign * b, -sign * n.x}, {b, sign + n.y * n.y * a, -n.y}, n};
  }

  template <class S>
  static SE3<S> placement(const Joint& joint, const S* q) {
    const Mat3<S> e(plane_axes(joint.axis));
    return {axis_angle<S>(joint.axis, q[2]), q[0] * e.row[0] + q[1] * e.row[1]};
  }

  static constexpr int angle = 2;
  template <class S>
  static ROBOSIM_INLINE Vec3<S> position_in_parent(const Joint& joint, const S* q) {
    const Mat3<S> e(plane_axes(joint.axis));
    return SE3<S>(joint.X_PJ) * (q[0] * e.row[0] + q[1] * e.row[1]);
  }

  template <class S>
  static Motion<S> column(const Joint& joint, int k) {
    const Mat3<S> e(plane_axes(joint.axis));
    return k == 2 ? Motion<S>{e.row[2], Vec3<S>()} : Motion<S>{Vec3<S>(), e.row[k]};
  }

  // p += R(theta) V(omega) (vx, vy),  V = (A, -omega B; omega B, A) of RotationSeries.
  template <class S>
  static void integrate(const S* q, const S* v, S* out) {
    using std::cos;
    using std::sin;
    const RotationSeries<S> f(v[2] * v[2]);
    const S wB = v[2] * f.B, dx = nmul_add(wB, v[1], f.A * v[0]),
            dy = mul_add(wB, v[0], f.A * v[1]);
    const S c = cos(q[2]), s = sin(q[2]);
    out[0] = nmul_add(s, dy, mul_add(c, dx, q[0]));
    out[1] = mul_add(c, dy, mul_add(s, dx, q[1]));
    out[2] = q[2] + v[2];
  }

  // As FloatingJoint::advance: straight, with v transformed to the axes at the end.
  template <class S>
  static void advance(const S* q, const S& dt, const S* u, S* v, S* out) {
    S s, c, turn_s, turn_c;
    sin_cos(q[2], s, c);
    sin_cos(dt * u[2], turn_s, turn_c);
    const S x = v[0], y = v[1];
    out[0] = mul_add(dt, nmul_add(s, u[1], c * u[0]), q[0]);
    out[1] = mul_add(dt, mul_add(c, u[1], s * u[0]), q[1]);
    out[2] = mul_add(dt, u[2], q[2]);
    v[0] = mul_add(turn_c, x, turn_s * y);
    v[1] = nmul_add(turn_s, x, turn_c * y);
  }
  template <class S>
  class AdvanceAdjoint {
   public:
    AdvanceAdjoint(const S& dt, const S* u, const S* v) : dt_(dt), u_(u), v_(v) {
      sin_cos(dt * u[2], s_, c_);
    }

    S vjp(const S* q_next_bar, const S* v_next_bar, S* q_bar, S* u_bar, S* v_bar) const {
      S px, py, vx, vy;
      turn(q_next_bar, px, py);
      turn(v_next_bar, vx, vy);
      const S spin = q_next_bar[2] + v_[1] * vx - v_[0] * vy;
      q_bar[0] = px;
      q_bar[1] = py;
      q_bar[2] = q_next_bar[2] + dt_ * (u_[0] * py - u_[1] * px);
      u_bar[0] = dt_ * px;
      u_bar[1] = dt_ * py;
      u_bar[2] = dt_ * spin;
      v_bar[0] = vx;
      v_bar[1] = vy;
      v_bar[2] = v_next_bar[2];
      return u_[0] * px + u_[1] * py + u_[2] * spin;
    }

   private:
    void turn(const S* x, S& to_x, S& to_y) const {
      to_x = nmul_add(s_, x[1], c_ * x[0]);
      to_y = mul_add(s_, x[0], c_ * x[1]);
    }

    S dt_, s_, c_;
    const S *u_, *v_;
  };
  template <class S>
  static void turning_rate(const S* v, S* rate) {
    rate[0] = v[2] * v[1];
    rate[1] = -(v[2] * v[0]);
    rate[2] = S(0);
  }
  template <class S>
  static void add_turning_rate_vjp(const S* v, const S* rate_bar, S* v_bar) {
    v_bar[0] -= v[2] * rate_bar[1];
    v_bar[1] += v[2] * rate_bar[0];
    v_bar[2] += v[1] * rate_bar[0] - v[0] * rate_bar[1];
  }

  // Shortest displacement: |omega| <= pi, whatever the number of turns in theta.
  template <class S>
  static void difference(const S* q0, const S* q1, S* v) {
    using std::cos;
    using std::sin;
    const S turn = q1[2] - q0[2], w = turn - S(2 * pi) * nearest(turn * S(0.5 / pi));
    const S c = cos(q0[2]), s = sin(q0[2]), px = q1[0] - q0[0], py = q1[1] - q0[1];
    const S dx = mul_add(c, px, s * py), dy = nmul_add(s, px, c * py);
    const S ww = w * w, diagonal = S(1) - ww * RotationSeries<S>(ww).D, half = S(0.5) * w;
    v[0] = mul_add(diagonal, dx, half * dy);
    v[1] = nmul_add(half, dx, diagonal * dy);
    v[2] = w;
  }

  template <class S>
  static void velocity(const S* q, const S* dq, S* v) {
    S s, c;
    sin_cos(q[2], s, c);
    v[0] = mul_add(c, dq[0], s * dq[1]);
    v[1] = nmul_add(s, dq[0], c * dq[1]);
    v[2] = dq[2];
  }

  static Travel travel(const Joint&, const double* dq) {
    return {std::abs(dq[2]), std::hypot(dq[0], dq[1])};
  }

  static void sample(const double* u, const double* lower, const double* upper, double* q) {
    for (int i = 0; i < 2; ++i) q[i] = sample_between(u[i], lower[i], upper[i], unbounded_reach);
    q[2] = sample_between(u[2], lower[2], upper[2], pi);
  }
};

}  // namespace robosim

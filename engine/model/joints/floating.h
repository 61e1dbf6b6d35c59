// Floating joint: q = (p, quaternion x y z w), v = (linear, angular) velocity in the moving frame,
// so that a constant v is a screw motion, the exponential of SE(3).
#pragma once

#include <cmath>

#include "model/joint.h"
#include "model/joints/sampling.h"
#include "spatial/lie.h"

namespace robosim {

struct FloatingJoint {
  static constexpr const char* name = "floating";
  static constexpr int n_q = 7, n_v = 6;
  static constexpr const char* q_names[] = {"x", "y", "z", "qx", "qy", "qz", "qw"};
  static constexpr const char* v_names[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
  static constexpr Coordinate coordinates[] = {
      Coordinate::length,     Coordinate::length,     Coordinate::length,    Coordinate::quaternion,
      Coordinate::quaternion, Coordinate::quaternion, Coordinate::quaternion};
  static constexpr unsigned angular = 0b111000;
  static constexpr bool has_axis = false;
  static constexpr bool unit_columns = true;

  // Any nonzero quaternion is a rotation: it is scaled to unit length.
  template <class S>
  static SE3<S> placement(const Joint&, const S* q) {
    return {quaternion_rotation<S>(q + 3), {q[0], q[1], q[2]}};
  }

  template <class S>
  static Motion<S> column(const Joint&, int k) {
    Motion<S> m;
    (k < 3 ? m.linear[k] : m.angular[k - 3]) = S(1);
    return m;
  }

  static UnitColumn unit_column(const Joint&, int k) { return {k < 3 ? 3 + k : k - 3, 1}; }

  template <class S>
  static ROBOSIM_INLINE void columns_in_ground(const Joint&, const Mat3<S>& R, const Vec3<S>& p,
                                               Motion<S>* J) {
    for (int k = 0; k < 3; ++k) {
      const Vec3<S> axis = R.col(k);
      J[k] = {Vec3<S>(), axis};
      J[3 + k] = {axis, cross(p, axis)};
    }
  }

  // p += R V(w) v, and the quaternion times exp(w), scaled to unit length.
  template <class S>
  static void integrate(const S* q, const S* v, S* out) {
    const Vec3<S> linear{v[0], v[1], v[2]}, w{v[3], v[4], v[5]};
    const Vec3<S> p =
        Vec3<S>{q[0], q[1], q[2]} + quaternion_rotation<S>(q + 3) * left_jacobian_times(w, linear);
    const Quaternion<S> turned =
        normalized(Quaternion<S>{{q[3], q[4], q[5]}, q[6]} * exp_quaternion(w));
    for (int i = 0; i < 3; ++i) {
      out[i] = p[i];
      out[3 + i] = turned.vec[i];
    }
    out[6] = turned.w;
  }

  // Advance for the time dt with a velocity u in the axes at the start: straight by p += dt R u,
  // and turned by exp(dt w), w of u. v: a velocity in the axes at the start, transformed to the
  // axes at the end. out may be q.
  template <class S>
  static void advance(const S* q, const S& dt, const S* u, S* v, S* out) {
    const Vec3<S> linear{u[0], u[1], u[2]}, w{dt * u[3], dt * u[4], dt * u[5]};
    const Vec3<S> p = Vec3<S>{q[0], q[1], q[2]} + dt * (quaternion_rotation<S>(q + 3) * linear);
    const Quaternion<S> turn = exp_quaternion(w),
                        turned = normalized(Quaternion<S>{{q[3], q[4], q[5]}, q[6]} * turn);
    const S turn_xyzw[4] = {turn.vec.x, turn.vec.y, turn.vec.z, turn.w};
    const Vec3<S> after =
        transpose_times(quaternion_rotation<S>(turn_xyzw), Vec3<S>{v[0], v[1], v[2]});
    for (int i = 0; i < 3; ++i) {
      out[i] = p[i];
      out[3 + i] = turned.vec[i];
      v[i] = after[i];
    }
    out[6] = turned.w;
  }

  // Transposed derivative of advance, with v before it: gradients in q (tangent space), in u and in
  // v, n_v entries each. Returns the gradient in dt. With (u, w) the parts of u, (v, s) those of v,
  // and E = exp(dt w),
  //   dp+ = E^T (dp + dt dtheta x u + dt du + ddt u),   dtheta+ = E^T dtheta + J_r d(dt w)
  //   dv+ = E^T dv + (E^T v) x J_r d(dt w),             ds+ = ds
  template <class S>
  class AdvanceAdjoint {
   public:
    AdvanceAdjoint(const S& dt, const S* u, const S* v)
        : dt_(dt), linear_(part(u, 0)), rate_(part(u, 3)), w_(dt * rate_), series_(dot(w_, w_)) {
      const Quaternion<S> turn = exp_quaternion(w_);
      const S turn_xyzw[4] = {turn.vec.x, turn.vec.y, turn.vec.z, turn.w};
      E_ = quaternion_rotation<S>(turn_xyzw);
      v_ = transpose_times(E_, part(v, 0));
    }

    S vjp(const S* q_next_bar, const S* v_next_bar, S* q_bar, S* u_bar, S* v_bar) const {
      const Vec3<S> p = E_ * part(q_next_bar, 0), v_after = part(v_next_bar, 0),
                    v_before = E_ * v_after;
      const Vec3<S> theta = E_ * part(q_next_bar, 3) + dt_ * cross(linear_, p);
      const Vec3<S> spin =
          left_jacobian_times(series_, w_, part(q_next_bar, 3) + cross(v_after, v_));
      for (int i = 0; i < 3; ++i) {
        q_bar[i] = p[i];
        q_bar[3 + i] = theta[i];
        u_bar[i] = dt_ * p[i];
        u_bar[3 + i] = dt_ * spin[i];
        v_bar[i] = v_before[i];
        v_bar[3 + i] = v_next_bar[3 + i];
      }
      return dot(linear_, p) + dot(rate_, spin);
    }

   private:
    static Vec3<S> part(const S* x, int i) { return {x[i], x[i + 1], x[i + 2]}; }

    S dt_;
    Vec3<S> linear_, rate_, w_, v_;
    RotationSeries<S> series_;
    Mat3<S> E_;
  };

  // Rates of the entries of v at constant velocity, as the axes turn: -w x v.
  template <class S>
  static void turning_rate(const S* v, S* rate) {
    const Vec3<S> x = cross(Vec3<S>{v[0], v[1], v[2]}, Vec3<S>{v[3], v[4], v[5]});
    for (int i = 0; i < 3; ++i) {
      rate[i] = x[i];
      rate[3 + i] = S(0);
    }
  }
  template <class S>
  static void add_turning_rate_vjp(const S* v, const S* rate_bar, S* v_bar) {
    const Vec3<S> linear{v[0], v[1], v[2]}, w{v[3], v[4], v[5]},
        bar{rate_bar[0], rate_bar[1], rate_bar[2]};
    const Vec3<S> of_v = cross(w, bar), of_w = cross(bar, linear);
    for (int i = 0; i < 3; ++i) {
      v_bar[i] += of_v[i];
      v_bar[3 + i] += of_w[i];
    }
  }

  // Shortest displacement: |w| <= pi.
  template <class S>
  static void difference(const S* q0, const S* q1, S* v) {
    const Quaternion<S> from = normalized(Quaternion<S>{{q0[3], q0[4], q0[5]}, q0[6]});
    const Quaternion<S> to = normalized(Quaternion<S>{{q1[3], q1[4], q1[5]}, q1[6]});
    const Vec3<S> w = log_quaternion(conjugate(from) * to);
    const Vec3<S> p = transpose_times(quaternion_rotation<S>(q0 + 3),
                                      Vec3<S>{q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2]});
    const Vec3<S> linear = inverse_left_jacobian_times(w, p);
    for (int i = 0; i < 3; ++i) {
      v[i] = linear[i];
      v[3 + i] = w[i];
    }
  }

  // v = R^T dp/dt, w = 2 vec(q^* dq/dt) / |q|^2: changes of the quaternion's length are ignored.
  template <class S>
  static void velocity(const S* q, const S* dq, S* v) {
    const Vec3<S> linear =
        transpose_times(quaternion_rotation<S>(q + 3), Vec3<S>{dq[0], dq[1], dq[2]});
    const Quaternion<S> at{{q[3], q[4], q[5]}, q[6]}, rate{{dq[3], dq[4], dq[5]}, dq[6]};
    const Vec3<S> turn_rate =
        (S(2) / (squared_norm(at.vec) + at.w * at.w)) * (conjugate(at) * rate).vec;
    for (int i = 0; i < 3; ++i) {
      v[i] = linear[i];
      v[3 + i] = turn_rate[i];
    }
  }

  // A unit quaternion that moves by s turns the body by at most 2 s.
  static Travel travel(const Joint&, const double* dq) {
    return {2 * std::sqrt(dq[3] * dq[3] + dq[4] * dq[4] + dq[5] * dq[5] + dq[6] * dq[6]),
            norm(Vec3d{dq[0], dq[1], dq[2]})};
  }

  // The quaternion is uniform over rotations. Shoemake, "Uniform random rotations", Graphics Gems
  // III (1992).
  static void sample(const double* u, const double* lower, const double* upper, double* q) {
    for (int i = 0; i < 3; ++i) q[i] = sample_between(u[i], lower[i], upper[i], unbounded_reach);
    const double r1 = std::sqrt(1 - u[3]), r2 = std::sqrt(u[3]), a = 2 * pi * u[4],
                 b = 2 * pi * u[5];
    q[3] = r1 * std::sin(a);
    q[4] = r1 * std::cos(a);
    q[5] = r2 * std::sin(b);
    q[6] = r2 * std::cos(b);
  }
};

}  // namespace robosim

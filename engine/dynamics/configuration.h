// Motion on the space of configurations, joint by joint: q is not a vector if it
// includes quaternions.
//
//   integrate(q, v)      configuration reached from q along the constant body-side velocity v in
//                        unit time
//   advance(q, dt, u)    as integrate for a time dt, but free joints translate straight
//   difference(q0, q1)   the v with integrate(q0, v) = q1: the shortest one where angles belong to
//                        poses (floating, planar)
//   velocity(q, dq)      the v of coordinates that change at the rates dq:
//                        d/dt integrate(q, v t) = dq
#pragma once

#include "model/data.h"
#include "model/joint_layout.h"

namespace robosim {

// Joints with velocities in axes that turn with the motion, as those of free bodies.
template <class J>
concept turns_axes = requires(const double* v, double* rate) {
  J::turning_rate(v, rate);
};

namespace detail {

// Call f(joint type, joint) for every joint with coordinates of its own.
template <class F>
void for_each_own_joint(const Model& model, F&& f) {
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    if (!joint.mimic) visit_joint(joint.type, [&](auto type) { f(type, joint); });
  }
}

}  // namespace detail

// Set all joints to zero, and quaternions to the identity.
template <class S>
void neutral(const Model& model, S* q) {
  for (int i = 0; i < model.n_q; ++i) q[i] = S(0);
  detail::for_each_own_joint(model, [&](auto, const Joint& joint) {
    if (const int k = joint_layout(joint.type).quaternion(); k >= 0)
      q[joint.q_index + k + 3] = S(1);
  });
}

// out may be q.
template <class S>
void integrate(const Model& model, const S* q, const S* v, S* out) {
  detail::for_each_own_joint(model, [&](auto type, const Joint& joint) {
    type.integrate(q + joint.q_index, v + joint.v_index, out + joint.q_index);
  });
}

// Advance for the time dt with velocities u in the axes at the start. Equal to integrate(q, dt u),
// except that free joints translate straight while they turn. v: velocities in the axes at the
// start, transformed to the axes at the end. out may be q.
template <class S>
void advance(const Model& model, const S* q, const S& dt, const S* u, S* v, S* out) {
  detail::for_each_own_joint(model, [&](auto type, const Joint& joint) {
    if constexpr (turns_axes<decltype(type)>) {
      type.advance(q + joint.q_index, dt, u + joint.v_index, v + joint.v_index,
                   out + joint.q_index);
    } else {
      S way[6];
      for (int k = 0; k < joint.n_v; ++k) way[k] = dt * u[joint.v_index + k];
      type.integrate(q + joint.q_index, way, out + joint.q_index);
    }
  });
}

// Transposed derivative of advance, with v before it. Fills q_bar (tangent space), u_bar and v_bar,
// n_v entries each and none of them an input. Returns the gradient in dt.
template <class S>
S advance_vjp(const Model& model, const S& dt, const S* u, const S* v, const S* q_next_bar,
              const S* v_next_bar, S* q_bar, S* u_bar, S* v_bar) {
  S dt_bar(0);
  detail::for_each_own_joint(model, [&](auto type, const Joint& joint) {
    const int k = joint.v_index;
    if constexpr (turns_axes<decltype(type)>) {
      const typename decltype(type)::template AdvanceAdjoint<S> adjoint(dt, u + k, v + k);
      dt_bar += adjoint.vjp(q_next_bar + k, v_next_bar + k, q_bar + k, u_bar + k, v_bar + k);
    } else {
      for (int i = k; i < k + joint.n_v; ++i) {
        q_bar[i] = q_next_bar[i];
        u_bar[i] = dt * q_next_bar[i];
        v_bar[i] = v_next_bar[i];
        dt_bar += u[i] * q_next_bar[i];
      }
    }
  });
  return dt_bar;
}

// Derivatives of advance for one joint whose axes turn: rows of q_next (tangent space) and then of
// v_next. Arguments as for advance_vjp.
template <class S, class J>
struct AdvanceRates {
  static constexpr int n = J::n_v;
  S by_q[2 * n][n] = {}, by_u[2 * n][n] = {}, by_v[2 * n][n] = {}, by_dt[2 * n];

  AdvanceRates(const S& dt, const S* u, const S* v) {
    const typename J::template AdvanceAdjoint<S> adjoint(dt, u, v);
    for (int row = 0; row < 2 * n; ++row) {
      S unit[2 * n] = {};
      unit[row] = S(1);
      by_dt[row] = adjoint.vjp(unit, unit + n, by_q[row], by_u[row], by_v[row]);
    }
  }
};

// Derivative of advance along directions of q (tangent space), dt, u and v. Fills dq_next and
// dv_next, which may be dq and dv.
template <class S>
void advance_jvp(const Model& model, const S& dt, const S* u, const S* v, const S* dq, const S& ddt,
                 const S* du, const S* dv, S* dq_next, S* dv_next) {
  detail::for_each_own_joint(model, [&](auto type, const Joint& joint) {
    const int k = joint.v_index, n = joint.n_v;
    if constexpr (turns_axes<decltype(type)>) {
      const AdvanceRates<S, decltype(type)> rates(dt, u + k, v + k);
      S next[2 * type.n_v];
      for (int row = 0; row < 2 * n; ++row) {
        next[row] = rates.by_dt[row] * ddt;
        for (int i = 0; i < n; ++i)
          next[row] += rates.by_q[row][i] * dq[k + i] + rates.by_u[row][i] * du[k + i] +
                       rates.by_v[row][i] * dv[k + i];
      }
      for (int i = 0; i < n; ++i) {
        dq_next[k + i] = next[i];
        dv_next[k + i] = next[n + i];
      }
    } else {
      for (int i = k; i < k + n; ++i) {
        dq_next[i] = dq[i] + dt * du[i] + u[i] * ddt;
        dv_next[i] = dv[i];
      }
    }
  });
}

// Rates of the entries of v at constant velocity, as the axes of free joints turn.
template <class S>
void turning_rates(const Model& model, const S* v, S* rates) {
  for (int k = 0; k < model.n_v; ++k) rates[k] = S(0);
  detail::for_each_own_joint(model, [&](auto type, const Joint& joint) {
    if constexpr (turns_axes<decltype(type)>)
      type.turning_rate(v + joint.v_index, rates + joint.v_index);
  });
}

// Derivative of turning_rates along dv, added for joints whose axes turn; other entries of `rates`
// are unchanged.
template <class S>
void add_turning_rates_jvp(const Model& model, const S* v, const S* dv, S* rates) {
  detail::for_each_own_joint(model, [&](auto type, const Joint& joint) {
    const int k = joint.v_index;
    if constexpr (turns_axes<decltype(type)>)
      for (int row = 0; row < joint.n_v; ++row) {
        S unit[6] = {}, v_bar[6] = {};
        unit[row] = S(1);
        type.add_turning_rate_vjp(v + k, unit, v_bar);
        for (int i = 0; i < joint.n_v; ++i) rates[k + row] += v_bar[i] * dv[k + i];
      }
  });
}

template <class S>
void add_turning_rates_vjp(const Model& model, const S* v, const S* rates_bar, S* v_bar) {
  detail::for_each_own_joint(model, [&](auto type, const Joint& joint) {
    const int k = joint.v_index;
    if constexpr (turns_axes<decltype(type)>)
      type.add_turning_rate_vjp(v + k, rates_bar + k, v_bar + k);
  });
}

template <class S>
void difference(const Model& model, const S* q0, const S* q1, S* v) {
  detail::for_each_own_joint(model, [&](auto type, const Joint& joint) {
    type.difference(q0 + joint.q_index, q1 + joint.q_index, v + joint.v_index);
  });
}

template <class S>
void velocity(const Model& model, const S* q, const S* dq, S* v) {
  detail::for_each_own_joint(model, [&](auto type, const Joint& joint) {
    type.velocity(q + joint.q_index, dq + joint.q_index, v + joint.v_index);
  });
}

// Sample a configuration within the limits from n_q numbers u uniform in [0, 1). Coordinates
// without limits: angles within pi of zero, positions within 1 m, rotations uniform.
inline void sample_configuration(const Model& model, const double* u, double* q) {
  detail::for_each_own_joint(model, [&](auto type, const Joint& joint) {
    const int k = joint.q_index;
    type.sample(u + k, model.limits.q_lower.data() + k, model.limits.q_upper.data() + k, q + k);
  });
}

}  // namespace robosim

// Transposed derivatives of integrate and difference (configuration.h), in the tangent spaces,
// body side.
#pragma once

#include "base/dual.h"
#include "dynamics/configuration.h"

namespace robosim {

namespace detail {

// Fill in_bar joint by joint: column(type, joint, unit, out) computes the derivative of the output
// along a unit vector of the input.
template <class F>
void pass_back_by_joints(const Model& model, const double* out_bar, double* in_bar, F&& column) {
  for_each_own_joint(model, [&](auto type, const Joint& joint) {
    double bar[6] = {};
    constexpr int n = decltype(type)::n_v;
    for (int k = 0; k < n; ++k) {
      double unit[6] = {}, along[6] = {};
      unit[k] = 1;
      column(type, joint, unit, along);
      for (int i = 0; i < n; ++i) bar[k] += along[i] * out_bar[joint.v_index + i];
    }
    for (int k = 0; k < n; ++k) in_bar[joint.v_index + k] = bar[k];
  });
}

}  // namespace detail

// Gradient of a loss with respect to v of integrate(q, v), from its gradient out_bar with respect
// to the result. v_bar may be out_bar.
inline void integrate_vjp(const Model& model, const double* q, const double* v,
                          const double* out_bar, double* v_bar) {
  detail::pass_back_by_joints(
      model, out_bar, v_bar, [&](auto type, const Joint& joint, const double* unit, double* along) {
        constexpr int n_q = decltype(type)::n_q, n_v = decltype(type)::n_v;
        Dual from[7], way[6], to[7];
        double reached[7], rates[7];
        for (int i = 0; i < n_q; ++i) from[i] = q[joint.q_index + i];
        for (int i = 0; i < n_v; ++i) way[i] = {v[joint.v_index + i], unit[i]};
        type.integrate(from, way, to);
        for (int i = 0; i < n_q; ++i) {
          reached[i] = to[i].value;
          rates[i] = to[i].derivative;
        }
        type.velocity(reached, rates, along);
      });
}

// Gradient of a loss with respect to q1 of difference(q0, q1). q1_bar may be v_bar.
inline void difference_vjp(const Model& model, const double* q0, const double* q1,
                           const double* v_bar, double* q1_bar) {
  detail::pass_back_by_joints(
      model, v_bar, q1_bar, [&](auto type, const Joint& joint, const double* unit, double* along) {
        constexpr int n_q = decltype(type)::n_q, n_v = decltype(type)::n_v;
        Dual from[7], to[7], way[6], difference[6];
        for (int i = 0; i < n_q; ++i) {
          from[i] = q0[joint.q_index + i];
          to[i] = q1[joint.q_index + i];
        }
        for (int i = 0; i < n_v; ++i) way[i] = {0.0, unit[i]};
        type.integrate(to, way, to);
        type.difference(from, to, difference);
        for (int i = 0; i < n_v; ++i) along[i] = difference[i].derivative;
      });
}

}  // namespace robosim

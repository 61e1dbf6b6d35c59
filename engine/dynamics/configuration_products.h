// Transposed derivatives of moving on the space of configurations (configuration.h), in its tangent
// spaces, body side.
#pragma once

#include "base/dual.h"
#include "dynamics/configuration.h"

namespace robosim {

namespace detail {

// Fills in_bar by each joint's columns: column(type, joint, unit, out) tells what changes along a
// unit of its in. Coordinates that simply add up pass on.
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

// Of integrate(q, v) in v: what a loss changes by with v, if with the result it changes by out_bar.
// v_bar may be out_bar.
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
        for (int i = 0; i < n_q; ++i) reached[i] = to[i].value, rates[i] = to[i].derivative;
        type.velocity(reached, rates, along);
      });
}

// Of difference(q0, q1) in q1. q1_bar may be v_bar.
inline void difference_vjp(const Model& model, const double* q0, const double* q1,
                           const double* v_bar, double* q1_bar) {
  detail::pass_back_by_joints(
      model, v_bar, q1_bar, [&](auto type, const Joint& joint, const double* unit, double* along) {
        constexpr int n_q = decltype(type)::n_q, n_v = decltype(type)::n_v;
        Dual from[7], to[7], way[6], difference[6];
        for (int i = 0; i < n_q; ++i)
          from[i] = q0[joint.q_index + i], to[i] = q1[joint.q_index + i];
        for (int i = 0; i < n_v; ++i) way[i] = {0.0, unit[i]};
        type.integrate(to, way, to);
        type.difference(from, to, difference);
        for (int i = 0; i < n_v; ++i) along[i] = difference[i].derivative;
      });
}

}  // namespace robosim

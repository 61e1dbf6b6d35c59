// Passive joint forces: viscous damping, dry friction and springs.
//
//   tau = -damping v - friction v / sqrt(v^2 + width^2) - stiffness (q - reference)
//
// per entry of v. Dry friction is regularized. For |v| above the width it is Coulomb's, less a
// fraction width^2 / (2 v^2). It is smooth through zero, so that it has derivatives everywhere. At
// rest it is zero, and for small v it acts as a damper of friction / width instead of sticking.
// Marques, Flores, Claro and Lankarani, "A survey and comparison of several friction force models
// for dynamic analysis of multibody mechanical systems", Nonlinear Dynamics 86 (2016), section 2.
// Only joints with one position have springs; springs of mimic joints are part of their source's
// (assembly.cpp). Passive forces are added to tau in forward dynamics and subtracted in inverse
// dynamics. Every derivative is diagonal. Cost O(n).
#pragma once

#include <cmath>

#include "base/scalar.h"
#include "model/model.h"

namespace robosim {

namespace detail {

// Call f(index into q, index into v) for every coordinate that may have a spring.
template <class F>
void for_each_spring(const Model& model, F&& f) {
  for (int i = 1; i < model.n_bodies(); ++i)
    if (const Joint& joint = model.joints[i]; !joint.mimic && joint.n_q == 1)
      f(joint.q_index, joint.v_index);
}

}  // namespace detail

// q: n_q, v: n_v entries. Fills tau (n_v), which may be v.
template <class S>
void joint_forces(const Model& model, const S* q, const S* v, S* tau) {
  using std::sqrt;
  for (int k = 0; k < model.n_v; ++k) {
    const S width(model.friction_width[k]), speed = sqrt(mul_add(v[k], v[k], width * width));
    tau[k] = -(S(model.damping[k]) * v[k] + S(model.friction[k]) * (v[k] / speed));
  }
  detail::for_each_spring(model, [&](int i, int k) {
    tau[k] -= S(model.stiffness[k]) * (q[i] - S(model.spring_reference[k]));
  });
}

// Diagonals of dtau_dq, in the tangent space, and dtau_dv: n_v entries each.
template <class S>
void joint_force_slopes(const Model& model, const S* v, S* dq, S* dv) {
  using std::sqrt;
  for (int k = 0; k < model.n_v; ++k) {
    const S width(model.friction_width[k]), speed = sqrt(mul_add(v[k], v[k], width * width)),
                                            share = width / speed;
    dq[k] = -S(model.stiffness[k]);
    dv[k] = -(S(model.damping[k]) + S(model.friction[k]) * (share * share) / speed);
  }
}

// Diagonals of the derivatives with respect to the parameters, n_v entries each; zero for
// coordinates without springs.
template <class S>
struct JointForceParameters {
  S *damping, *friction, *friction_width, *stiffness, *spring_reference;
};

template <class S>
void joint_force_parameter_derivatives(const Model& model, const S* q, const S* v,
                                       const JointForceParameters<S>& out) {
  using std::sqrt;
  for (int k = 0; k < model.n_v; ++k) {
    const S width(model.friction_width[k]), speed = sqrt(mul_add(v[k], v[k], width * width)),
                                            ratio = v[k] / speed;
    out.damping[k] = -v[k];
    out.friction[k] = -ratio;
    out.friction_width[k] = S(model.friction[k]) * ratio * (width / speed) / speed;
    out.stiffness[k] = S(0);
    out.spring_reference[k] = S(model.stiffness[k]);
  }
  detail::for_each_spring(
      model, [&](int i, int k) { out.stiffness[k] = S(model.spring_reference[k]) - q[i]; });
}

// Energy stored in the springs [J].
template <class S>
S spring_energy(const Model& model, const S* q) {
  S twice(2 * model.spring_rest_energy);
  detail::for_each_spring(model, [&](int i, int k) {
    const S stretch = q[i] - S(model.spring_reference[k]);
    twice += S(model.stiffness[k]) * (stretch * stretch);
  });
  return S(0.5) * twice;
}

}  // namespace robosim

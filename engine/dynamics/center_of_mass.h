// Center of mass of the subtree of a body, including links welded to it. For body 0, the world, it
// is that of all links, including those welded to the world. NaN if the subtree has no mass.
//
//   center_of_mass(model, data, body)               position in W [m], after forward_kinematics
//   center_of_mass_velocity(model, data, body)      [m/s], after forward_velocities
//   center_of_mass_acceleration(model, data, body)  [m/s^2], without gravity, after
//                                                   forward_accelerations
//   center_of_mass_jacobian(model, data, J, body)   3 x n_v, after mass_moments
//   mass_moments(model, data)                       mass and first moment of every subtree, after
//                                                   motion_subspaces
//
// all in world axes. The first three are sums over the bodies, m p = sum m_b c_b and its
// derivatives in time. Column j of the Jacobian is (m_c v + w x h_c) / m, with (w, v) the motion of
// column j. m_c and h_c are mass and first moment of the bodies that column j moves and that are in
// the subtree of `body`. Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot",
// Autonomous Robots 35 (2013). Cost O(n).
#pragma once

#include "dynamics/kinematics.h"

namespace robosim {

namespace detail {

// One past the last body of the subtree: bodies are numbered depth first.
inline int subtree_end(const Model& model, int body) {
  int end = body + 1;
  while (end < model.n_bodies() && model.joints[end].parent >= body) ++end;
  return end;
}

// Vector from O to the body's center of mass, in world axes.
template <class S>
ROBOSIM_INLINE Vec3<S> com_offset(const Model& model, const Data<S>& data, int i) {
  return times_add(data.X_WB[i].R, Vec3<S>(model.inertias[i].com), data.p_OB[i]);
}

}  // namespace detail

// Mass of the subtree of a body [kg].
inline double subtree_mass(const Model& model, int body) {
  double mass = 0;
  for (int i = body, end = detail::subtree_end(model, body); i < end; ++i)
    mass += model.inertias[i].mass;
  return mass;
}

inline double total_mass(const Model& model) { return subtree_mass(model, 0); }

// First moment of mass in W: mass times center of mass [kg m]. Requires forward_kinematics.
template <class S>
Vec3<S> mass_moment(const Model& model, const Data<S>& data, int body = 0) {
  Vec3<S> sum;
  for (int i = body, end = detail::subtree_end(model, body); i < end; ++i) {
    const Inertia& inertia = model.inertias[i];
    sum = mul_add(S(inertia.mass), data.X_WB[i] * Vec3<S>(inertia.com), sum);
  }
  return sum;
}

template <class S>
Vec3<S> center_of_mass(const Model& model, const Data<S>& data, int body = 0) {
  return S(1 / subtree_mass(model, body)) * mass_moment(model, data, body);
}

template <class S>
Vec3<S> center_of_mass_velocity(const Model& model, const Data<S>& data, int body = 0) {
  Vec3<S> sum;
  for (int i = body, end = detail::subtree_end(model, body); i < end; ++i)
    sum = mul_add(S(model.inertias[i].mass),
                  at_point(data.V[i], detail::com_offset(model, data, i)).linear, sum);
  return S(1 / subtree_mass(model, body)) * sum;
}

template <class S>
Vec3<S> center_of_mass_acceleration(const Model& model, const Data<S>& data, int body = 0) {
  Vec3<S> sum;
  for (int i = body, end = detail::subtree_end(model, body); i < end; ++i) {
    const Vec3<S> c = detail::com_offset(model, data, i);
    const Motion<S> V = at_point(data.V[i], c), A = at_point(data.A[i], c);
    sum = mul_add(S(model.inertias[i].mass), cross_add(V.angular, V.linear, A.linear), sum);
  }
  return S(1 / subtree_mass(model, body)) * sum;
}

// Fills data.mass_c and moment_c, except for the world's own moment, which no joint moves.
template <class S>
void mass_moments(const Model& model, Data<S>& data) {
  const int n = model.n_bodies();
  for (int i = 0; i < n; ++i) {
    data.mass_c[i] = S(model.inertias[i].mass);
    data.moment_c[i] = i > 0 ? data.mass_c[i] * detail::com_offset(model, data, i) : Vec3<S>();
  }
  for (int i = n - 1; i > 0; --i) {
    const int parent = model.joints[i].parent;
    data.mass_c[parent] += data.mass_c[i];
    data.moment_c[parent] += data.moment_c[i];
  }
}

template <class S>
void center_of_mass_jacobian(const Model& model, const Data<S>& data, S* J, int body = 0) {
  const int n_v = model.n_v;
  for (int k = 0; k < 3 * n_v; ++k) J[k] = S(0);
  const S per_mass = S(1) / data.mass_c[body];
  const auto add = [&](int c, int carried) {
    const Vec3<S> moved = cross_add(data.J[c].angular, data.moment_c[carried],
                                    data.mass_c[carried] * data.J[c].linear);
    for (int i = 0; i < 3; ++i) J[i * n_v + model.column_v[c]] += per_mass * moved[i];
  };
  for_each_on_path(model, body, [&](int c) { add(c, body); });
  for (int i = body + 1, end = detail::subtree_end(model, body); i < end; ++i) {
    const Joint& joint = model.joints[i];
    for (int c = joint.column; c < joint.column + joint.n_v; ++c) add(c, i);
  }
}

}  // namespace robosim

// Axes of friction: two unit vectors perpendicular to a contact's normal, as a smooth function of
// the normal alone.
//
// The axes turn with the normal n, by the smallest rotation that takes a fixed direction r to n:
//   t = a - (n . a) / (1 + r . n) (r + n),   a = a_1 or a_2,   a_1 x a_2 = r,   so t_1 x t_2 = n
// No such function is smooth everywhere. This one is smooth except at n = -r, where the axes are
// those of a nearby normal. r = (1, 1, 0) / sqrt(2) and the vectors a are chosen such that flat
// ground has the axes of W: (x, y) for n = z, and (-y, -x) for n = -z.
#pragma once

#include <cmath>

#include "spatial/vec3.h"

namespace robosim {

struct ContactAxes {
  Vec3d t[2];
};

namespace detail {

inline constexpr double half_sqrt = 0.70710678118654752440;  // 1 / sqrt(2)
inline constexpr double least_facing = 1e-12;                // smallest 1 + r . n
inline const Vec3d facing_reference{half_sqrt, half_sqrt, 0};
inline const Vec3d reference_axes[2] = {{0.5, -0.5, -half_sqrt}, {-0.5, 0.5, -half_sqrt}};

}  // namespace detail

inline ContactAxes contact_axes(const Vec3d& n) {
  const Vec3d& r = detail::facing_reference;
  const double facing = max_number(1 + dot(r, n), detail::least_facing);
  ContactAxes axes;
  for (int i = 0; i < 2; ++i) {
    const Vec3d& a = detail::reference_axes[i];
    axes.t[i] = a - (dot(n, a) / facing) * (r + n);
  }
  return axes;
}

// Change of the axes for a change dn of the normal; several changes at once if S has lanes.
template <class S>
struct ContactAxesChange {
  Vec3<S> t[2];
};

template <class S>
ContactAxesChange<S> contact_axes_moved(const Vec3d& n, const Vec3<S>& dn) {
  const Vec3d& r = detail::facing_reference;
  const double facing = max_number(1 + dot(r, n), detail::least_facing);
  ContactAxesChange<S> change;
  for (int i = 0; i < 2; ++i) {
    const Vec3d& a = detail::reference_axes[i];
    const double share = dot(n, a) / facing;
    const Vec3d across = (1 / facing) * (share * r - a);
    change.t[i] = dot(Vec3<S>(across), dn) * Vec3<S>(r + n) - S(share) * dn;
  }
  return change;
}

// Gradient with respect to the normal, from the gradient with respect to the axes (the transpose of
// contact_axes_moved).
inline Vec3d contact_axes_pulled_back(const Vec3d& n, const ContactAxes& bar) {
  const Vec3d& r = detail::facing_reference;
  const double facing = max_number(1 + dot(r, n), detail::least_facing);
  Vec3d out;
  for (int i = 0; i < 2; ++i) {
    const Vec3d& a = detail::reference_axes[i];
    const double share = dot(n, a) / facing;
    out += (dot(bar.t[i], r + n) / facing) * (share * r - a) - share * bar.t[i];
  }
  return out;
}

}  // namespace robosim

// The axes of friction: two unit vectors across a contact's normal, a smooth function of the normal
// alone.
//
// Turned with the normal from a fixed direction r, by the smallest rotation that takes r to n:
//   t = a - (n . a) / (1 + r . n) (r + n),   a = a_1 or a_2,   a_1 x a_2 = r,   so t_1 x t_2 = n
// No such function is smooth everywhere; this one is but at n = -r, where the axes are those of a
// normal beside it. r = (1, 1, 0) / sqrt(2) and the a are chosen so that flat ground has the axes
// of W: (x, y) where n = z, and (-y, -x) where n = -z.
#pragma once

#include <cmath>

#include "spatial/vec3.h"

namespace robosim {

struct ContactAxes {
  Vec3d t[2];
};

namespace detail {

inline constexpr double half_sqrt = 0.70710678118654752440;  // 1 / sqrt(2)
inline constexpr double least_facing = 1e-12;                // of 1 + r . n
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

// How they change as the normal changes by dn: by several at once, where S has lanes.
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

// The transpose of how they turn with the normal: a covector on the axes as one on the normal.
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

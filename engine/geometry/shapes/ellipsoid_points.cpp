#include "geometry/shapes/ellipsoid_points.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

// Usually fewer than ten rounds are needed. Near a double root, t grows by half in each round, for
// up to 46 rounds; then the terms that still change, (r / t)^2, are lost in the rounding of 1.
constexpr int max_ellipsoid_rounds = 64;

// Root t >= 0 of sum (r_i / (t + e_i))^2 = 1, or 0 if the sum is below 1 for all t.
double secular_root(const Vec3d& r, const Vec3d& e) {
  // Start: at or below r_i - e_i, that term alone is at least 1, so the root is not below it.
  double t = std::max({0.0, r.x - e.x, r.y - e.y, r.z - e.z});
  for (int round = 0; round < max_ellipsoid_rounds; ++round) {
    double sum = 0, slope = 0;  // -slope: half the sum's derivative
    for (int i = 0; i < 3; ++i) {
      if (!(r[i] > 0)) continue;
      const double q = r[i] / (t + e[i]);
      sum += q * q;
      slope += q * q / (t + e[i]);
    }
    if (!(sum > 1)) break;
    const double next = t + sum * (std::sqrt(sum) - 1) / slope;
    if (!(next > t)) break;
    t = next;
  }
  return t;
}

struct Stationary {
  double t;
  Vec3d u;  // x_i / a_i on the side of p: a unit vector
};

// `end`: the shortest axis (for the nearest point) or the longest one (for the farthest point).
Stationary stationary(const Vec3d& a, const Vec3d& p, int end) {
  Vec3d r, e;
  for (int i = 0; i < 3; ++i) {
    r[i] = std::fabs(a[i] * p[i]);
    if (r[i] < 1e-290) r[i] = 0;  // a denormal number has no digits to divide
    e[i] = std::fabs((a[i] - a[end]) * (a[i] + a[end]));
  }
  Stationary point{secular_root(r, e), {}};
  double rest = 1;
  for (int i = 0; i < 3; ++i) {
    if (r[i] > 0) point.u[i] = std::copysign(r[i] / (point.t + e[i]), p[i]);
    rest -= point.u[i] * point.u[i];
  }
  if (point.t == 0) point.u[end] = std::copysign(std::sqrt(std::max(0.0, rest)), p[end]);
  return point;
}

}  // namespace

EllipsoidPoint nearest_on_ellipsoid(const Vec3d& a, const Vec3d& p) {
  const int shortest = a.x <= a.y && a.x <= a.z ? 0 : (a.y <= a.z ? 1 : 2);
  const auto [t, u] = stationary(a, p, shortest);
  const Vec3d gradient(u.x / a.x, u.y / a.y, u.z / a.z);  // x_i / a_i^2
  const double length = norm(gradient), s = t - a[shortest] * a[shortest];
  return {s * length, {a.x * u.x, a.y * u.y, a.z * u.z}, gradient * (1 / length)};
}

Vec3d farthest_on_ellipsoid(const Vec3d& a, const Vec3d& p) {
  const int longest = a.x >= a.y && a.x >= a.z ? 0 : (a.y >= a.z ? 1 : 2);
  const Vec3d u = stationary(a, p, longest).u;
  return {-a.x * u.x, -a.y * u.y, -a.z * u.z};
}

}  // namespace robosim

// Bounding volumes: balls and axis-aligned boxes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "spatial/se3.h"

namespace robosim {

// Ball about `center`; the radius is infinite for an unbounded shape.
struct Ball {
  Vec3d center;
  double radius = 0;
};

// Box lower <= x <= upper in each coordinate; infinite where the shape is unbounded.
struct Aabb {
  Vec3d lower, upper;
};

inline bool overlap(const Aabb& a, const Aabb& b) {
  return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && a.lower.y <= b.upper.y &&
         b.lower.y <= a.upper.y && a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;
}

inline Aabb hull(const Aabb& a, const Aabb& b) {
  return {{std::min(a.lower.x, b.lower.x), std::min(a.lower.y, b.lower.y),
           std::min(a.lower.z, b.lower.z)},
          {std::max(a.upper.x, b.upper.x), std::max(a.upper.y, b.upper.y),
           std::max(a.upper.z, b.upper.z)}};
}

inline Aabb grown(const Aabb& a, double margin) {
  const Vec3d m(margin, margin, margin);
  return {a.lower - m, a.upper + m};
}

// Squared distance of a point from a box, zero inside.
inline double squared_distance(const Aabb& a, const Vec3d& p) {
  const double dx = std::max({a.lower.x - p.x, 0.0, p.x - a.upper.x});
  const double dy = std::max({a.lower.y - p.y, 0.0, p.y - a.upper.y});
  const double dz = std::max({a.lower.z - p.z, 0.0, p.z - a.upper.z});
  return dx * dx + dy * dy + dz * dz;
}

// Signed distance of two boxes. If the boxes overlap, minus the length of the shortest translation
// that separates them. A lower bound of the signed distance of any two convex sets in the boxes.
inline double signed_distance(const Aabb& a, const Aabb& b) {
  double squared = 0, deepest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const double gap = std::max(a.lower[i] - b.upper[i], b.lower[i] - a.upper[i]);
    deepest = std::max(deepest, gap);
    if (gap > 0) squared += gap * gap;
  }
  return deepest > 0 ? std::sqrt(squared) : deepest;
}

// Axis-aligned box, in frame A, around a box of frame B. The result is unbounded along every axis
// if the given box is unbounded along any axis.
inline Aabb bounding_box(const Aabb& box, const SE3d& X_AB) {
  const Vec3d half = 0.5 * (box.upper - box.lower), center = X_AB * (0.5 * (box.lower + box.upper));
  if (!std::isfinite(half.x + half.y + half.z)) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    return {{-inf, -inf, -inf}, {inf, inf, inf}};
  }
  Vec3d reach;
  for (int i = 0; i < 3; ++i) {
    const Vec3d& r = X_AB.R.row[i];
    reach[i] = std::fabs(r.x) * half.x + std::fabs(r.y) * half.y + std::fabs(r.z) * half.z;
  }
  return {center - reach, center + reach};
}

}  // namespace robosim

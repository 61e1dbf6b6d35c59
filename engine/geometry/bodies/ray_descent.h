// Descent of a tree of boxes along a ray, nearer boxes first. Source: Kay, Kajiya, "Ray tracing
// complex scenes", 1986.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "geometry/bodies/broadphase.h"
#include "geometry/casts/ray_cast.h"

namespace robosim {

// Parameter t at which a ray enters a box, or infinity if it misses the box; max_t may be infinite.
// The box is enlarged by `slack` [m].
inline double ray_entry(const Aabb& box, const Ray& ray, double slack, double max_t) {
  double first = 0, last = max_t;
  for (int i = 0; i < 3; ++i) {
    const double o = ray.origin[i], d = ray.direction[i], low = box.lower[i] - slack - o,
                 high = box.upper[i] + slack - o;
    if (d == 0) {
      if (low > 0 || high < 0) return std::numeric_limits<double>::infinity();
      continue;
    }
    first = std::max(first, (d > 0 ? low : high) / d);
    last = std::min(last, (d > 0 ? high : low) / d);
  }
  return first <= last ? first : std::numeric_limits<double>::infinity();
}

// Slack that covers the rounding of ray_entry, for a tree with this root and rays from this origin.
inline double ray_slack(const Aabb& root, const Vec3d& origin) {
  double largest = norm(origin);
  for (const Vec3d& corner : {root.lower, root.upper})
    for (int i = 0; i < 3; ++i)
      if (std::isfinite(corner[i])) largest = std::max(largest, std::fabs(corner[i]));
  return 1e-14 * largest;
}

// Call visit(leaf) for the leaves that the ray enters at t <= limit(), which may fall meanwhile.
// The ray is in the tree's frame.
template <class Limit, class Visit>
void descend(const AabbTree& tree, const Ray& ray, double slack, Limit&& limit, Visit&& visit) {
  struct Open {
    int node;
    double t;
  };
  if (tree.nodes().empty()) return;
  const double max_t = limit();
  Open stack[64];
  int depth = 0;
  stack[depth++] = {0, ray_entry(tree.node(0).box, ray, slack, max_t)};
  while (depth > 0) {
    const auto [number, t] = stack[--depth];
    if (!(t <= limit()) || t == std::numeric_limits<double>::infinity()) continue;
    const AabbTree::Node& node = tree.node(number);
    if (node.is_leaf()) {
      visit(node);
      continue;
    }
    Open child[2];
    for (int i = 0; i < 2; ++i)
      child[i] = {node.first + i, ray_entry(tree.node(node.first + i).box, ray, slack, max_t)};
    if (child[0].t < child[1].t) std::swap(child[0], child[1]);
    stack[depth++] = child[0];
    stack[depth++] = child[1];
  }
}

}  // namespace robosim

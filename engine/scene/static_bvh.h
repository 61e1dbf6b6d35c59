// A bounding-volume hierarchy over objects that do not move: a binary tree of axis-aligned boxes in W.
//
// Built top down by median split along the longest axis of the centres' box: O(n log n) once, depth ceil(log2 n), so that a
// fixed stack of 64 nodes traverses any tree that fits in memory. Children of an inner node are adjacent: left, left + 1.
#pragma once

#include <vector>

#include "geometry/query.h"

namespace robosim {

struct StaticBvh {
  struct Node {
    Aabb box;
    double radius = 0;  // half of the box's diagonal [m]; infinite with a half-space inside
    int left = -1;      // first child, or -1 in a leaf
    int object = -1;    // what a leaf holds: an entry of the list the tree was built from
  };
  std::vector<Node> nodes;  // nodes[0] is the root

  // One leaf per object; boxes[i] belongs to objects[i]. At least one object.
  StaticBvh(const std::vector<int>& objects, const std::vector<Aabb>& boxes);

  // Calls visit(object) for every leaf whose box is within `margin` of the box; stops when visit returns true, and says so.
  template <class F>
  bool visit_near(const Aabb& box, double margin, F&& visit) const;
};

// Distance between a point and an axis-aligned box, zero inside.
inline double distance(const Aabb& box, const Vec3d& p) {
  const auto gap = [](double lower, double upper, double x) { return x < lower ? lower - x : (x > upper ? x - upper : 0.0); };
  return norm(Vec3d{gap(box.lower.x, box.upper.x, p.x), gap(box.lower.y, box.upper.y, p.y), gap(box.lower.z, box.upper.z, p.z)});
}

// Whether two boxes come within `margin` of one another along every axis.
inline bool near(const Aabb& a, const Aabb& b, double margin) {
  return a.lower.x <= b.upper.x + margin && b.lower.x <= a.upper.x + margin && a.lower.y <= b.upper.y + margin &&
         b.lower.y <= a.upper.y + margin && a.lower.z <= b.upper.z + margin && b.lower.z <= a.upper.z + margin;
}

template <class F>
bool StaticBvh::visit_near(const Aabb& box, double margin, F&& visit) const {
  int stack[64], depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const Node& node = nodes[static_cast<std::size_t>(stack[--depth])];
    if (!near(node.box, box, margin)) continue;
    if (node.left < 0) {
      if (visit(node.object)) return true;
    } else {
      stack[depth++] = node.left + 1;
      stack[depth++] = node.left;
    }
  }
  return false;
}

}  // namespace robosim

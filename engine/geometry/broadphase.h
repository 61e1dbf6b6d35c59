// Broadphase: a static tree of axis-aligned boxes, asked which of them come near a box or a ball.
//
// Built top down by median split along the longest axis of the boxes' centres: O(n log n), depth ceil(log2 n), so that a fixed
// stack of 64 nodes traverses any tree that fits in memory. Queries cost O(log n + answers) and allocate nothing. Every bound is
// conservative: what is visited may still be farther than asked, what is not visited is not. Infinite boxes (half-spaces) are
// welcome but are visited nearly always.
#pragma once

#include <vector>

#include "geometry/bounds.h"

namespace robosim {

class AabbTree {
 public:
  struct Node {
    Aabb box;
    int left = -1;  // first child, its sibling is left + 1; -1 in a leaf
    int item = -1;  // what a leaf holds: an index into the boxes that the tree was built from
  };

  // boxes may be empty. Same boxes, same tree, on every machine.
  explicit AabbTree(const std::vector<Aabb>& boxes);

  // nodes()[0] is the root, unless there is nothing in the tree.
  const std::vector<Node>& nodes() const { return nodes_; }

  // Calls visit(item) for every leaf whose box comes within `margin` of the given one along each axis; stops when visit returns
  // true, and says so.
  template <class Visit>
  bool visit_near(const Aabb& box, double margin, Visit&& visit) const {
    const Aabb wide = grown(box, margin);
    return traverse([&](const Aabb& node) { return overlap(node, wide); }, visit);
  }

  // The same for leaves whose box touches the ball.
  template <class Visit>
  bool visit_near(const Ball& ball, Visit&& visit) const {
    const double r2 = ball.radius * ball.radius;
    return traverse([&](const Aabb& node) { return squared_distance(node, ball.centre) <= r2; }, visit);
  }

 private:
  void build(int self, std::vector<int>& order, const std::vector<Aabb>& boxes, int begin, int end);

  template <class Near, class Visit>
  bool traverse(Near&& near, Visit&& visit) const {
    if (nodes_.empty()) return false;
    int stack[64], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
      const Node& node = nodes_[static_cast<std::size_t>(stack[--depth])];
      if (!near(node.box)) continue;
      if (node.left < 0) {
        if (visit(node.item)) return true;
      } else {
        stack[depth++] = node.left + 1;
        stack[depth++] = node.left;
      }
    }
    return false;
  }

  std::vector<Node> nodes_;
};

}  // namespace robosim

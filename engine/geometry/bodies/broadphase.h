// Broad phase: a static tree of axis-aligned boxes, queried for the boxes near a box or a ball.
//
// The tree is built top down by median split along the longest axis of the boxes' centers: O(n log
// n), depth ceil(log2 n), so that a fixed stack of 64 nodes traverses any tree that fits in memory.
// Queries cost O(log n + answers) and allocate nothing. Every bound is conservative: a box that is
// visited may still be too far away, but no box within the margin is missed. Infinite boxes
// (half-spaces) are allowed, but are visited almost always.
#pragma once

#include <cstddef>
#include <vector>

#include "geometry/bounds.h"

namespace robosim {

class AabbTree {
 public:
  struct Node {
    Aabb box;
    // Inner node: its first child; the second child is first + 1. Leaf: its first place.
    int first = 0;
    int count = 0;  // number of places of a leaf; 0 in an inner node

    bool is_leaf() const { return count > 0; }
  };

  AabbTree() = default;
  // Build a tree of the boxes, which may be none. The same boxes make the same tree on every
  // machine. A leaf has at most leaf_size boxes. items: names of the boxes, if not their indices.
  explicit AabbTree(const std::vector<Aabb>& boxes, int leaf_size = 1,
                    const std::vector<int>& items = {});

  // Build a tree of items in a grid, item = row * columns + column, which needs no list of items.
  // box_of(row, first, end) returns the box of a part of a row. Leaves are such parts of at most
  // leaf_size items. O(n).
  template <class BoxOf>
  static AabbTree over_grid(int rows, int columns, int leaf_size, BoxOf&& box_of);

  // Nodes of the tree; nodes()[0] is the root, unless the tree is empty.
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(int i) const { return nodes_[i]; }
  // Item at a place of a leaf.
  int item(int place) const { return items_.empty() ? place : items_[place]; }

  // Call visit(item) for every item of the leaves whose box is within `margin` of the given box
  // along each axis. Stop and return true when visit returns true.
  template <class Visit>
  bool visit_near(const Aabb& box, double margin, Visit&& visit) const {
    const Aabb wide = grown(box, margin);
    return traverse([&](const Aabb& node) { return overlap(node, wide); }, visit);
  }

  // Call visit(item) for every item of the leaves whose box touches the ball. Stop and return true
  // when visit returns true.
  template <class Visit>
  bool visit_near(const Ball& ball, Visit&& visit) const {
    const double r2 = ball.radius * ball.radius;
    return traverse([&](const Aabb& node) { return squared_distance(node, ball.center) <= r2; },
                    visit);
  }

 private:
  struct Entry {
    Vec3d middle;  // twice a box's center
    int item;
  };
  void build(int self, const std::vector<Aabb>& boxes, Entry* entries, int begin, int end,
             int leaf_size);
  int add_children(int self);
  template <class BoxOf>
  void build_grid(int self, int columns, int leaf_size, BoxOf& box_of, int row, int row_end,
                  int column, int column_end);

  template <class Near, class Visit>
  bool traverse(Near&& near, Visit&& visit) const {
    if (nodes_.empty()) return false;
    int stack[64], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
      const Node& node = nodes_[stack[--depth]];
      if (!near(node.box)) continue;
      if (node.is_leaf()) {
        for (int place = node.first; place < node.first + node.count; ++place)
          if (visit(item(place))) return true;
      } else {
        stack[depth++] = node.first + 1;
        stack[depth++] = node.first;
      }
    }
    return false;
  }

  std::vector<Node> nodes_;
  std::vector<int> items_;  // by place; empty if items are the places themselves
};

template <class BoxOf>
AabbTree AabbTree::over_grid(int rows, int columns, int leaf_size, BoxOf&& box_of) {
  AabbTree tree;
  if (rows <= 0 || columns <= 0) return tree;
  const std::size_t leaves =
      static_cast<std::size_t>(rows) * static_cast<std::size_t>((2 * columns) / leaf_size + 1);
  tree.nodes_.reserve(2 * leaves);
  tree.nodes_.resize(1);
  tree.build_grid(0, columns, leaf_size, box_of, 0, rows, 0, columns);
  tree.nodes_.shrink_to_fit();
  return tree;
}

template <class BoxOf>
void AabbTree::build_grid(int self, int columns, int leaf_size, BoxOf& box_of, int row, int row_end,
                          int column, int column_end) {
  const int height = row_end - row, width = column_end - column;
  if (height == 1 && width <= leaf_size) {
    nodes_[self] = {box_of(row, column, column_end), row * columns + column, width};
    return;
  }
  const int left = add_children(self);
  // Halve the side that is longer in leaves.
  if (height > 1 && height * leaf_size >= width) {
    const int half = row + height / 2;
    build_grid(left, columns, leaf_size, box_of, row, half, column, column_end);
    build_grid(left + 1, columns, leaf_size, box_of, half, row_end, column, column_end);
  } else {
    const int half = column + (width / 2 + leaf_size - 1) / leaf_size * leaf_size;
    build_grid(left, columns, leaf_size, box_of, row, row_end, column, half);
    build_grid(left + 1, columns, leaf_size, box_of, row, row_end, half, column_end);
  }
  nodes_[self].box = hull(node(left).box, node(left + 1).box);
}

}  // namespace robosim

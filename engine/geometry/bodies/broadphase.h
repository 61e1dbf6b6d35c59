// Broadphase: a static tree of axis-aligned boxes, asked which of them come near a box or a ball.
//
// Built top down by median split along the longest axis of the boxes' centers: O(n log n), depth
// ceil(log2 n), so that a fixed stack of 64 nodes traverses any tree that fits in memory. Queries
// cost O(log n + answers) and allocate nothing. Every bound is conservative: what is visited may
// still be farther than asked, what is not visited is not. Infinite boxes (half-spaces) are welcome
// but are visited nearly always.
#pragma once

#include <cstddef>
#include <vector>

#include "geometry/bounds.h"

namespace robosim {

class AabbTree {
 public:
  struct Node {
    Aabb box;
    // Inner node: its first child, the other is first + 1; leaf: the first of its places.
    int first = 0;
    int count = 0;  // of a leaf's places; 0 in an inner node

    bool is_leaf() const { return count > 0; }
  };

  AabbTree() = default;
  // boxes may be empty. Same boxes, same tree, on every machine. At most leaf_size boxes in a leaf.
  // items: what to call the boxes, if not by their index.
  explicit AabbTree(const std::vector<Aabb>& boxes, int leaf_size = 1,
                    const std::vector<int>& items = {});

  // Items that lie in a grid, item = row * columns + column, need no list: box_of(row, first, end)
  // is the box of part of a row, and leaves are such parts of at most leaf_size items. O(n).
  template <class BoxOf>
  static AabbTree over_grid(int rows, int columns, int leaf_size, BoxOf&& box_of);

  // nodes()[0] is the root, unless there is nothing in the tree.
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  // What is in a place of a leaf.
  int item(int place) const {
    return items_.empty() ? place : items_[static_cast<std::size_t>(place)];
  }

  // Calls visit(item) for every item of the leaves whose box comes within `margin` of the given one
  // along each axis; stops when visit returns true, and says so.
  template <class Visit>
  bool visit_near(const Aabb& box, double margin, Visit&& visit) const {
    const Aabb wide = grown(box, margin);
    return traverse([&](const Aabb& node) { return overlap(node, wide); }, visit);
  }

  // The same for leaves whose box touches the ball.
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
      const Node& node = nodes_[static_cast<std::size_t>(stack[--depth])];
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
  std::vector<int> items_;  // by place; empty where they are the places
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
    nodes_[static_cast<std::size_t>(self)] = {box_of(row, column, column_end),
                                              row * columns + column, width};
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
  nodes_[static_cast<std::size_t>(self)].box = hull(node(left).box, node(left + 1).box);
}

}  // namespace robosim

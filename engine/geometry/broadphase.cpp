#include "geometry/broadphase.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace robosim {
namespace {

// Twice the centre; a side without end counts as centred on the origin.
double middle(const Aabb& box, int axis) {
  const double c = box.lower[axis] + box.upper[axis];
  return std::isfinite(c) ? c : 0.0;
}

}  // namespace

AabbTree::AabbTree(const std::vector<Aabb>& boxes) {
  if (boxes.empty()) return;
  std::vector<int> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  nodes_.reserve(2 * boxes.size());
  nodes_.resize(1);
  build(0, order, boxes, 0, static_cast<int>(boxes.size()));
}

// Fills nodes_[self] from the boxes order[begin, end).
void AabbTree::build(int self, std::vector<int>& order, const std::vector<Aabb>& boxes, int begin, int end) {
  const auto at = [&](int i) -> const Aabb& {
    return boxes[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
  };
  Aabb box = at(begin), centres;
  for (int i = begin; i < end; ++i) {
    const Vec3d c(middle(at(i), 0), middle(at(i), 1), middle(at(i), 2));
    centres = i == begin ? Aabb{c, c} : hull(centres, {c, c});
    box = hull(box, at(i));
  }
  Node node{box, -1, -1};
  if (end - begin == 1) {
    node.item = order[static_cast<std::size_t>(begin)];
    nodes_[static_cast<std::size_t>(self)] = node;
    return;
  }
  // Halve along the longest axis; ties by index keep the tree the same everywhere.
  const Vec3d size = centres.upper - centres.lower;
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : (size.y >= size.z ? 1 : 2);
  const int half = begin + (end - begin) / 2;
  std::nth_element(order.begin() + begin, order.begin() + half, order.begin() + end, [&](int a, int b) {
    const double ca = middle(boxes[static_cast<std::size_t>(a)], axis), cb = middle(boxes[static_cast<std::size_t>(b)], axis);
    return ca != cb ? ca < cb : a < b;
  });
  node.left = static_cast<int>(nodes_.size());
  nodes_[static_cast<std::size_t>(self)] = node;
  nodes_.resize(nodes_.size() + 2);
  build(node.left, order, boxes, begin, half);
  build(node.left + 1, order, boxes, half, end);
}

}  // namespace robosim

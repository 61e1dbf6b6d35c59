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

AabbTree::AabbTree(const std::vector<Aabb>& boxes, int leaf_size, const std::vector<int>& items) {
  if (boxes.empty()) return;
  items_.resize(boxes.size());
  std::iota(items_.begin(), items_.end(), 0);
  nodes_.reserve(2 * boxes.size() / static_cast<std::size_t>(leaf_size) + 2);
  nodes_.resize(1);
  build(0, boxes, 0, static_cast<int>(boxes.size()), leaf_size);
  nodes_.shrink_to_fit();
  if (!items.empty())
    for (int& i : items_) i = items[static_cast<std::size_t>(i)];
}

int AabbTree::add_children(int self) {
  const int left = static_cast<int>(nodes_.size());
  nodes_.resize(nodes_.size() + 2);
  nodes_[static_cast<std::size_t>(self)].first = left;
  return left;
}

// Fills nodes_[self] from the boxes items_[begin, end), which it sorts into two halves.
void AabbTree::build(int self, const std::vector<Aabb>& boxes, int begin, int end, int leaf_size) {
  const auto at = [&](int place) -> const Aabb& {
    return boxes[static_cast<std::size_t>(items_[static_cast<std::size_t>(place)])];
  };
  Aabb box = at(begin), centres;
  for (int i = begin; i < end; ++i) {
    const Vec3d c(middle(at(i), 0), middle(at(i), 1), middle(at(i), 2));
    centres = i == begin ? Aabb{c, c} : hull(centres, {c, c});
    box = hull(box, at(i));
  }
  nodes_[static_cast<std::size_t>(self)].box = box;
  if (end - begin <= leaf_size) {
    nodes_[static_cast<std::size_t>(self)].first = begin, nodes_[static_cast<std::size_t>(self)].count = end - begin;
    return;
  }
  // Halve along the longest axis; ties by index keep the tree the same everywhere.
  const Vec3d size = centres.upper - centres.lower;
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : (size.y >= size.z ? 1 : 2);
  const int half = begin + (end - begin) / 2;
  std::nth_element(items_.begin() + begin, items_.begin() + half, items_.begin() + end, [&](int a, int b) {
    const double ca = middle(boxes[static_cast<std::size_t>(a)], axis), cb = middle(boxes[static_cast<std::size_t>(b)], axis);
    return ca != cb ? ca < cb : a < b;
  });
  const int left = add_children(self);
  build(left, boxes, begin, half, leaf_size);
  build(left + 1, boxes, half, end, leaf_size);
}

}  // namespace robosim

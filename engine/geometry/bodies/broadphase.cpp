#include "geometry/bodies/broadphase.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

// Twice the center; an unbounded side is centered at the origin.
double middle(const Aabb& box, int axis) {
  const double c = box.lower[axis] + box.upper[axis];
  return std::isfinite(c) ? c : 0.0;
}

}  // namespace

AabbTree::AabbTree(const std::vector<Aabb>& boxes, int leaf_size, const std::vector<int>& items) {
  if (boxes.empty()) return;
  std::vector<Entry> entries(boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i)
    entries[i] = {{middle(boxes[i], 0), middle(boxes[i], 1), middle(boxes[i], 2)},
                  static_cast<int>(i)};
  nodes_.reserve(2 * boxes.size() / static_cast<std::size_t>(leaf_size) + 2);
  nodes_.resize(1);
  build(0, boxes, entries.data(), 0, static_cast<int>(boxes.size()), leaf_size);
  nodes_.shrink_to_fit();
  items_.reserve(boxes.size());
  for (const Entry& entry : entries)
    items_.push_back(items.empty() ? entry.item : items[entry.item]);
}

int AabbTree::add_children(int self) {
  const int left = static_cast<int>(nodes_.size());
  nodes_.resize(nodes_.size() + 2);
  nodes_[self].first = left;
  return left;
}

// Fill nodes_[self] from the entries [begin, end), which are sorted into two halves.
void AabbTree::build(int self, const std::vector<Aabb>& boxes, Entry* entries, int begin, int end,
                     int leaf_size) {
  if (end - begin <= leaf_size) {
    Aabb box = boxes[entries[begin].item];
    for (int i = begin + 1; i < end; ++i) box = hull(box, boxes[entries[i].item]);
    nodes_[self] = {box, begin, end - begin};
    return;
  }
  Aabb centers{entries[begin].middle, entries[begin].middle};
  for (int i = begin + 1; i < end; ++i)
    centers = hull(centers, {entries[i].middle, entries[i].middle});
  // Halve along the longest axis; ties by index keep the tree the same everywhere.
  const Vec3d size = centers.upper - centers.lower;
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : (size.y >= size.z ? 1 : 2);
  const int half = begin + (end - begin) / 2;
  std::nth_element(entries + begin, entries + half, entries + end,
                   [&](const Entry& a, const Entry& b) {
                     const double ca = a.middle[axis], cb = b.middle[axis];
                     return ca != cb ? ca < cb : a.item < b.item;
                   });
  const int left = add_children(self);
  build(left, boxes, entries, begin, half, leaf_size);
  build(left + 1, boxes, entries, half, end, leaf_size);
  nodes_[self].box = hull(node(left).box, node(left + 1).box);
}

}  // namespace robosim

#include "scene/static_bvh.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace robosim {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Aabb merged(const Aabb& a, const Aabb& b) {
  return {{std::min(a.lower.x, b.lower.x), std::min(a.lower.y, b.lower.y), std::min(a.lower.z, b.lower.z)},
          {std::max(a.upper.x, b.upper.x), std::max(a.upper.y, b.upper.y), std::max(a.upper.z, b.upper.z)}};
}

// Twice the centre; a box without bounds along an axis counts as centred on the origin there.
double centre(const Aabb& box, int axis) {
  const double c = box.lower[axis] + box.upper[axis];
  return std::isfinite(c) ? c : 0.0;
}

struct Builder {
  const std::vector<int>& objects;
  const std::vector<Aabb>& boxes;
  std::vector<StaticBvh::Node>& nodes;
  std::vector<int> order;  // entries of objects, partitioned in place

  // Fills nodes[self] from order[begin, end).
  void build(int self, int begin, int end) {
    Aabb box = boxes[static_cast<std::size_t>(order[static_cast<std::size_t>(begin)])];
    Aabb centres{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
    for (int i = begin; i < end; ++i) {
      const Aabb& b = boxes[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
      box = merged(box, b);
      const Vec3d c{centre(b, 0), centre(b, 1), centre(b, 2)};
      centres = merged(centres, {c, c});
    }
    StaticBvh::Node& node = nodes[static_cast<std::size_t>(self)];
    node.box = box;
    node.radius = 0.5 * norm(box.upper - box.lower);
    if (end - begin == 1) {
      node.object = objects[static_cast<std::size_t>(order[static_cast<std::size_t>(begin)])];
      return;
    }
    // Halve along the longest axis of the centres; ties by index keep the tree the same everywhere.
    const Vec3d size = centres.upper - centres.lower;
    const int axis = size.x >= size.y && size.x >= size.z ? 0 : (size.y >= size.z ? 1 : 2);
    const int middle = begin + (end - begin) / 2;
    std::nth_element(order.begin() + begin, order.begin() + middle, order.begin() + end, [&](int a, int b) {
      const double ca = centre(boxes[static_cast<std::size_t>(a)], axis), cb = centre(boxes[static_cast<std::size_t>(b)], axis);
      return ca != cb ? ca < cb : a < b;
    });
    const int left = static_cast<int>(nodes.size());
    node.left = left;
    nodes.resize(nodes.size() + 2);
    build(left, begin, middle);
    build(left + 1, middle, end);
  }
};

}  // namespace

StaticBvh::StaticBvh(const std::vector<int>& objects, const std::vector<Aabb>& boxes) : nodes(1) {
  Builder builder{objects, boxes, nodes, std::vector<int>(objects.size())};
  std::iota(builder.order.begin(), builder.order.end(), 0);
  nodes.reserve(2 * objects.size());
  builder.build(0, 0, static_cast<int>(objects.size()));
}

}  // namespace robosim

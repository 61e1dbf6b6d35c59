// For each direction the few points of a set that can be the farthest along it: support queries
// without a search.
//
// Directions are the cells of a cube's faces: of d the largest coordinate gives the face, the other
// two, divided by it, (u, v), the place in a grid of r x r cells. A point p cannot be the farthest
// along any direction of a cell when another point q is at least as far along all four corners c_i
// of it, since the directions between are sums of these with positive weights:
//
//   q.c_i >= p.c_i for all i, once more than equal   =>   q.d > p.d for all d inside.
//
// What is not left out by the farthest points along the corners and the middle is the cell's list,
// 2 to 4 points as a rule; it always holds the farthest. Built by halving cells, each from the list
// of the larger one: O(n) for each face, 0.3 ms for 200 points. Cost of a query: the cell, and a
// dot product per listed point, whether the direction is near the last one or not.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/lazy.h"
#include "spatial/vec3.h"

namespace robosim {

class SupportTable {
 public:
  explicit SupportTable(const std::vector<Vec3d>& points);

  // Cell (face r + i) r + j has list[begin[cell]] to list[begin[cell + 1] - 1]; face 2 k + (d_k >
  // 0), u and v of the axes after k.
  struct View {
    const Vec3d* points = nullptr;
    const std::int32_t *begin = nullptr, *list = nullptr;
    int r = 0;
  };
  View view(const std::vector<Vec3d>& points) const {
    return {points.data(), begin_.data(), list_.data(), r_};
  }

  // The number of a point farthest along d, of those that the table was built with; of equal ones
  // the first.
  int farthest(const std::vector<Vec3d>& points, const Vec3d& d) const {
    const double x = std::fabs(d.x), y = std::fabs(d.y), z = std::fabs(d.z);
    const int axis = x >= y && x >= z ? 0 : (y >= z ? 1 : 2);
    const double c[5] = {d.x, d.y, d.z, d.x, d.y}, m = std::fabs(c[axis]);
    if (!(m > 1e-250)) return m > 0 ? farthest(points, 0x1p600 * d) : 0;
    const double scale = half_r_ / m;
    const int i = place(c[axis + 1] * scale), j = place(c[axis + 2] * scale),
              cell = ((2 * axis + (c[axis] > 0)) * r_ + i) * r_ + j;
    const std::int32_t *k = list_.data() + begin_[static_cast<std::size_t>(cell)],
                       *end = list_.data() + begin_[static_cast<std::size_t>(cell) + 1];
    int best = *k;
    double reach = dot(points[static_cast<std::size_t>(best)], d);
    while (++k < end) {
      const double along = dot(points[static_cast<std::size_t>(*k)], d);
      best = along > reach ? *k : best;
      reach = along > reach ? along : reach;
    }
    return best;
  }

 private:
  int place(double from_middle) const {
    const int i = static_cast<int>(from_middle + half_r_);
    return i < r_ ? i : r_ - 1;
  }
  void divide(const std::vector<Vec3d>& points, int face, int i, int j, int size,
              const std::vector<std::int32_t>& from,
              std::vector<std::vector<std::int32_t>>& lists) const;

  int r_ = 1;
  double half_r_ = 0.5;
  std::vector<std::int32_t> begin_, list_;
};

// A table that is built when first asked for.
class LazySupportTable {
 public:
  const SupportTable& of(const std::vector<Vec3d>& points) const {
    const SupportTable* table = table_.get();
    return table ? *table : built(points);
  }

 private:
  const SupportTable& built(const std::vector<Vec3d>& points) const;
  Lazy<SupportTable> table_;
};

}  // namespace robosim

#include "geometry/bodies/voxels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "geometry/bounds.h"

namespace robosim {
namespace {

using Cell = std::array<std::int64_t, 3>;

constexpr double most_cells = 4503599627370496.0;  // 2^52: their numbers are exact

std::uint64_t hash_of(const Cell& cell) {
  std::uint64_t h = 0;
  for (const std::int64_t c : cell) {
    h ^= static_cast<std::uint64_t>(c);
    h *= 0x9E3779B97F4A7C15ull;  // 2^64 by the golden ratio: separates neighbors
    h ^= h >> 29;
  }
  return h;
}

}  // namespace

MergedPoints merged_points(std::span<const Vec3d> points, double edge) {
  if (!(edge > 0 && std::isfinite(edge)))
    throw InputError(message("the edge of a cell is ", edge, " m; it must be positive"));
  // Open addressing, at most half full.
  const std::size_t slots = std::bit_ceil(2 * points.size() + 1);
  std::vector<std::int32_t> table(slots, -1);
  std::vector<Cell> cells;
  std::vector<Aabb> boxes;
  std::vector<std::int32_t> cell_of(points.size());
  // Find the cell of each point, or add it, and grow the box of the cell's points.
  for (std::size_t i = 0; i < points.size(); ++i) {
    Cell cell;
    for (int k = 0; k < 3; ++k) {
      const double at = std::floor(points[i][k] / edge);
      if (!(std::abs(at) < most_cells))
        throw InputError(message("point ", i, " has the coordinate ", points[i][k],
                                 ", too many cells of ", edge, " m from the origin"));
      cell[k] = static_cast<std::int64_t>(at);
    }
    std::size_t slot = hash_of(cell) & (slots - 1);
    while (table[slot] >= 0 && cells[table[slot]] != cell) slot = (slot + 1) & (slots - 1);
    if (table[slot] < 0) {
      table[slot] = static_cast<std::int32_t>(cells.size());
      cells.push_back(cell);
      boxes.push_back({points[i], points[i]});
    }
    cell_of[i] = table[slot];
    Aabb& box = boxes[table[slot]];
    box = hull(box, {points[i], points[i]});
  }
  // Merge each cell's points into the middle of their box.
  MergedPoints merged;
  merged.points.reserve(boxes.size());
  for (const Aabb& box : boxes) merged.points.push_back(0.5 * (box.lower + box.upper));
  double squared = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    squared = std::max(squared, squared_norm(points[i] - merged.points[cell_of[i]]));
  // Differences and root each have a relative error below 2^-52.
  merged.farthest = std::sqrt(squared) * (1 + 1e-15);
  return merged;
}

}  // namespace robosim

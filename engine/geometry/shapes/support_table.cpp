#include "geometry/shapes/support_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace robosim {
namespace {

// Cells are enlarged by this part, so that rounding of a direction's (u, v) does no harm.
constexpr double margin = 1e-9;

// Two to six cells per point, fewer for the largest sets. More cells reduce the time of a distance
// of two meshes by a tenth, but a planner then finds the table out of the caches.
int resolution(std::size_t n) {
  std::size_t r = 1;
  while (r < 128 && 4 * r * r < n) r *= 2;
  return static_cast<int>(r);
}

}  // namespace

SupportTable::SupportTable(const std::vector<Vec3d>& points)
    : r_(resolution(points.size())), half_r_(0.5 * r_) {
  std::vector<std::vector<std::int32_t>> lists(static_cast<std::size_t>(6 * r_ * r_));
  std::vector<std::int32_t> all(points.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
  for (int face = 0; face < 6; ++face) divide(points, face, 0, 0, r_, all, lists);
  begin_.push_back(0);
  for (const auto& list : lists) {
    list_.insert(list_.end(), list.begin(), list.end());
    begin_.push_back(static_cast<std::int32_t>(list_.size()));
  }
}

// Divide the square of cells i to i + size - 1, j to j + size - 1 of a face. `from` are the points
// that may be the farthest in the square.
void SupportTable::divide(const std::vector<Vec3d>& points, int face, int i, int j, int size,
                          const std::vector<std::int32_t>& from,
                          std::vector<std::vector<std::int32_t>>& lists) const {
  const int axis = face / 2;
  const auto direction = [&](double u, double v) {
    Vec3d d;
    d[axis] = face % 2 == 0 ? -1 : 1;
    d[(axis + 1) % 3] = 2 * u / r_ - 1;
    d[(axis + 2) % 3] = 2 * v / r_ - 1;
    return d;
  };
  Vec3d corner[4];
  for (int k = 0; k < 4; ++k)
    corner[k] =
        direction(k & 1 ? i + size + margin : i - margin, k & 2 ? j + size + margin : j - margin);

  // Reach of each point along the corners and the middle, and the farthest point of each.
  const Vec3d middle = direction(i + 0.5 * size, j + 0.5 * size);
  std::vector<std::array<double, 5>> reach(from.size());
  std::size_t champion[5] = {};
  for (std::size_t p = 0; p < from.size(); ++p) {
    const Vec3d& at = points[from[p]];
    for (std::size_t k = 0; k < 5; ++k) {
      reach[p][k] = dot(at, k < 4 ? corner[k] : middle);
      if (reach[p][k] > reach[champion[k]][k]) champion[k] = p;
    }
  }
  // Exclude the points that one of the farthest points dominates.
  std::vector<std::int32_t> list;
  for (std::size_t p = 0; p < from.size(); ++p) {
    const bool is_behind =
        std::any_of(std::rbegin(champion), std::rend(champion), [&](std::size_t q) {
          bool never_less = true, once_more = false;
          for (std::size_t k = 0; k < 4; ++k) {
            never_less &= reach[q][k] >= reach[p][k];
            once_more |= reach[q][k] > reach[p][k];
          }
          return never_less && once_more;
        });
    if (!is_behind) list.push_back(from[p]);
  }
  if (size == 1) {
    lists[(face * r_ + i) * r_ + j] = std::move(list);
    return;
  }
  const int half = size / 2;
  for (int k = 0; k < 4; ++k)
    divide(points, face, k & 1 ? i + half : i, k & 2 ? j + half : j, half, list, lists);
}

const SupportTable& LazySupportTable::built(const std::vector<Vec3d>& points) const {
  return table_.of([&] { return SupportTable(points); });
}

}  // namespace robosim

#include "geometry/bodies/height_field.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "geometry/limits.h"

namespace robosim {
namespace {

constexpr double min_spacing = 1e-9;  // [m]

}  // namespace

HeightField::HeightField(std::vector<double> heights, int n_x, int n_y, double spacing_x,
                         double spacing_y)
    : heights_(std::move(heights)), n_x_(n_x), n_y_(n_y), dx_(spacing_x), dy_(spacing_y) {
  if (n_x < 2 || n_y < 2)
    throw InputError(
        message("height field: heights are ", n_x, " by ", n_y, "; at least 2 by 2 are needed"));
  if (static_cast<double>(n_x) * n_y > 5e8)
    throw InputError(
        message("height field: ", n_x, " by ", n_y, " heights; at most 5e8 are allowed"));
  if (heights_.size() != static_cast<std::size_t>(n_x) * static_cast<std::size_t>(n_y))
    throw InputError(
        message("height field: ", heights_.size(), " heights are not ", n_x, " by ", n_y));
  for (const double d : {dx_, dy_})
    if (!(d >= min_spacing && d * std::max(n_x, n_y) <= max_coordinate))
      throw InputError(message("height field: spacing is ", d, " m; it must be at least ",
                               min_spacing, " m and the field within ", max_coordinate, " m"));
  for (std::size_t i = 0; i < heights_.size(); ++i)
    if (!(std::fabs(heights_[i]) <= max_coordinate))
      throw InputError(message("height field: height (", i / static_cast<std::size_t>(n_y), ", ",
                               i % static_cast<std::size_t>(n_y), ") is ", heights_[i],
                               " m; each must be finite and within ", max_coordinate, " m"));
  for (int t = 0; t < n_triangles(); ++t)
    if (corners(t).is_degenerate())
      throw InputError(message("height field: the heights of cell (", t / 2 / (n_y_ - 1), ", ",
                               t / 2 % (n_y_ - 1), ") differ too much for a spacing of ",
                               std::min(dx_, dy_), " m"));
}

int HeightField::vertex(int t, int k) const {
  const int cell = t / 2, i = cell / (n_y_ - 1), j = cell % (n_y_ - 1);
  if (k == 0) return vertex_of(i, j);
  if (t % 2 == 0) return vertex_of(i + 1, j + k - 1);
  return vertex_of(i + 2 - k, j + 1);
}

TriangleSurface::Corners HeightField::corners(int t) const {
  return {{point(vertex(t, 0)), point(vertex(t, 1)), point(vertex(t, 2))}};
}

int HeightField::across(int t, int k) const {
  const int cell = t / 2, i = cell / (n_y_ - 1), j = cell % (n_y_ - 1);
  if (t % 2 == 0) {
    if (k == 0) return j > 0 ? 3 * triangle(i, j - 1, 1) + 1 : -1;
    if (k == 1) return i + 2 < n_x_ ? 3 * triangle(i + 1, j, 1) + 2 : -1;
    return 3 * triangle(i, j, 1);
  }
  if (k == 0) return 3 * triangle(i, j, 0) + 2;
  if (k == 1) return j + 2 < n_y_ ? 3 * triangle(i, j + 1, 0) : -1;
  return i > 0 ? 3 * triangle(i - 1, j, 0) + 1 : -1;
}

bool HeightField::holds(const Vec3d& p, int, const Vec3d&) const {
  const double x = p.x / dx_, y = p.y / dy_;
  if (!(x >= 0 && y >= 0 && x <= n_x_ - 1 && y <= n_y_ - 1)) return false;
  const int i = std::min(static_cast<int>(x), n_x_ - 2),
            j = std::min(static_cast<int>(y), n_y_ - 2);
  const double u = x - i, v = y - j, h = height(i, j), diagonal = height(i + 1, j + 1);
  const double below = u >= v ? h + (height(i + 1, j) - h) * (u - v) + (diagonal - h) * v
                              : h + (height(i, j + 1) - h) * (v - u) + (diagonal - h) * u;
  return p.z < below;
}

Aabb HeightField::box(int i, int first, int end) const {
  const int j0 = first / 2, j1 = (end + 1) / 2;
  Aabb box{{i * dx_, j0 * dy_, height(i, j0)}, {(i + 1) * dx_, j1 * dy_, height(i, j0)}};
  for (int j = j0; j <= j1; ++j)
    for (int k = 0; k < 2; ++k) {
      box.lower.z = std::min(box.lower.z, height(i + k, j));
      box.upper.z = std::max(box.upper.z, height(i + k, j));
    }
  return box;
}

}  // namespace robosim

// Terrain: heights on a regular grid over x and y, two triangles per cell, solid below.
//
// Vertex (i, j) is (i spacing_x, j spacing_y, heights[i n_y + j]). Cell (i, j) has the triangles
// 2 (i (n_y - 1) + j) and the next one,
//
//   (i, j), (i + 1, j), (i + 1, j + 1)   and   (i, j), (i + 1, j + 1), (i, j + 1),
//
// which share the diagonal. Neighbors follow from the numbers: only the heights are stored.
#pragma once

#include <vector>

#include "geometry/bodies/triangle_surface.h"

namespace robosim {

class HeightField final : public TriangleSurface {
 public:
  // heights: n_x rows of n_y. InputError naming the fault: fewer than two rows or columns, a height
  // that is not finite or beyond 1e6 m, a spacing outside [1e-9, 1e6] m, or cells so much higher
  // than wide that their triangles are degenerate.
  HeightField(std::vector<double> heights, int n_x, int n_y, double spacing_x, double spacing_y);

  int n_x() const { return n_x_; }
  int n_y() const { return n_y_; }
  double spacing_x() const { return dx_; }
  double spacing_y() const { return dy_; }
  const std::vector<double>& heights() const { return heights_; }
  double height(int i, int j) const { return heights_[vertex_of(i, j)]; }

  int n_triangles() const override { return 2 * (n_x_ - 1) * (n_y_ - 1); }
  Corners corners(int t) const override;
  int vertex(int t, int k) const override;
  int across(int t, int k) const override;
  bool has_solid() const override { return true; }
  std::vector<int> connected_parts() const override { return {0}; }
  // True if p is below the surface; t and m do not matter.
  bool holds(const Vec3d& p, int t, const Vec3d& m) const override;

  // Box of the triangles [first, end) of the cells in row i.
  Aabb box(int i, int first, int end) const;

 private:
  int vertex_of(int i, int j) const { return i * n_y_ + j; }
  Vec3d point(int vertex) const {
    return {vertex / n_y_ * dx_, vertex % n_y_ * dy_, heights_[vertex]};
  }
  int triangle(int i, int j, int which) const { return 2 * (i * (n_y_ - 1) + j) + which; }

  std::vector<double> heights_;
  int n_x_, n_y_;
  double dx_, dy_;
};

}  // namespace robosim

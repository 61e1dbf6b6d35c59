// Surface of arbitrary triangles: concave, closed or open, in any order.
#pragma once

#include <array>
#include <vector>

#include "geometry/bodies/triangle_surface.h"

namespace robosim {

class TriangleMesh final : public TriangleSurface {
 public:
  // Faces are counter-clockwise from outside. Vertices at one place count as one. Degenerate faces,
  // needles lower than 1e-12 of their length, keep their numbers but are not part of the surface.
  // O(n log n). solid: false for a surface with nothing behind it, even if it is closed. InputError
  // naming the vertex or face: a coordinate that is not finite or beyond 1e6 m, an index that is no
  // vertex, or no face with an area.
  TriangleMesh(std::vector<Vec3d> vertices, std::vector<std::array<int, 3>> faces,
               bool solid = true);

  const std::vector<Vec3d>& vertices() const { return vertices_; }
  const std::vector<std::array<int, 3>>& faces() const { return faces_; }
  // True if every edge has a triangle on either side and the enclosed volume is positive, so that
  // the surface may enclose a solid.
  bool is_closed() const { return closed_; }
  int n_degenerate() const { return n_degenerate_; }

  int n_triangles() const override { return static_cast<int>(faces_.size()); }
  Corners corners(int t) const override {
    const std::array<int, 3>& f = faces_[t];
    return {{at(f[0]), at(f[1]), at(f[2])}};
  }
  int vertex(int t, int k) const override { return faces_[t][k]; }
  int across(int t, int k) const override { return across_[3 * t + k]; }
  bool has_solid() const override { return closed_ && solid_; }
  // One triangle of each part; triangles that share a vertex belong to one part.
  std::vector<int> connected_parts() const override { return connected_parts_; }
  bool holds(const Vec3d&, int t, const Vec3d& m) const override {
    return has_solid() && dot(m, pseudonormal(t, m)) < 0;
  }

 private:
  const Vec3d& at(int vertex) const { return vertices_[vertex]; }
  void connect();

  std::vector<Vec3d> vertices_;
  std::vector<std::array<int, 3>> faces_;
  std::vector<int> across_;  // see TriangleSurface::across, per half-edge
  std::vector<int> connected_parts_;
  bool solid_, closed_ = false;
  int n_degenerate_ = 0;
};

}  // namespace robosim

// Compound: a body made of convex pieces, over a tree of their boxes. The one idea behind triangle
// meshes, height fields, point clouds and shapes fixed to each other: what a query asks of any of
// them is its tree and, at the leaves, a convex piece.
//
// Pieces are made on demand: a mesh or a height field stays its vertices, a point cloud its points.
// A compound consists of parts, each of one kind and with a pose in the body's frame B; pieces are
// numbered through them, so that a mesh's triangles, a cloud's points and a list of shapes keep
// their numbers. Building takes O(n log n), of a height field alone O(n); some 30 to 60 bytes per
// piece. The first question that goes down the packed tree makes it: in 1 ms for 10,000 triangles,
// with 100 to 160 bytes for each, and 60 to 100 for another piece.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/lazy.h"
#include "geometry/bodies/broadphase.h"
#include "geometry/bodies/height_field.h"
#include "geometry/bodies/packed_tree.h"
#include "geometry/bodies/triangle_mesh.h"
#include "geometry/query.h"

namespace robosim {

// Spheres of one radius.
struct PointCloud {
  std::vector<Vec3d> points;  // [m]
  double radius = 0;          // [m]

  // InputError naming the point that is not finite or beyond 1e6 m, or a radius that is no
  // sphere's; at least one point.
  PointCloud(std::vector<Vec3d> points, double radius);
};

class Compound {
 public:
  using Geometry = std::variant<Shape, std::shared_ptr<const PointCloud>,
                                std::shared_ptr<const TriangleSurface>>;
  struct Part {
    Geometry geometry;
    SE3d X_BP;
    int first = 0;  // number of its first piece; set by the compound
  };
  struct Piece {
    const Shape& shape;
    SE3d X_BP;
    const TriangleSurface* surface;  // of which it is one triangle, or nullptr
    int triangle;
  };

  virtual ~Compound() = default;
  Compound(const Compound&) = default;
  Compound(Compound&&) = default;
  Compound& operator=(const Compound&) = default;
  Compound& operator=(Compound&&) = default;

  // InputError when there are none.
  explicit Compound(std::vector<Part> parts);
  explicit Compound(Geometry geometry)
      : Compound(std::vector<Part>{{std::move(geometry), SE3d(), 0}}) {}

  const std::vector<Part>& parts() const { return parts_; }
  // Pieces are 0 .. n_pieces() - 1. Degenerate triangles of a mesh have a number, but are not in
  // the tree.
  int n_pieces() const { return n_pieces_; }
  const AabbTree& tree() const { return tree_; }  // in B; its items are pieces
  bool has_surface() const { return has_surface_; }
  // True if it has a packed tree: all but terrain, which stays its heights, and what has a
  // half-space.
  bool is_packed() const { return packed_ != nullptr; }
  // The same tree packed, made when it is first asked for; copies share it.
  const PackedTree& packed() const {
    return packed_->of([&] { return PackedTree(*this); });
  }

  // The part that holds piece i.
  const Part& part_of(int i) const {
    if (parts_.size() == 1) return parts_[0];
    return *(std::upper_bound(parts_.begin(), parts_.end(), i,
                              [](int n, const Part& part) { return n < part.first; }) -
             1);
  }
  // f(piece i), which lives as long as the call.
  template <class F>
  auto with_piece(int i, F&& f) const;
  // In B.
  Aabb piece_box(int i) const;
  // Least coordinate of piece i along n_B, or a lower bound on it.
  double lowest(int i, const Vec3d& n_B) const;
  // Holds all that is solid behind surfaces; nothing where none is closed or a height field.
  const std::optional<Aabb>& solid_box() const { return solid_box_; }
  // A piece of each connected part: every shape and ball, a triangle of each connected part of a
  // surface.
  const std::vector<int>& connected_parts() const { return connected_parts_; }
  // Whether a number names a piece that is in the tree.
  bool is_piece(int i) const;

 private:
  void build_tree();

  std::vector<Part> parts_;
  AabbTree tree_;
  std::shared_ptr<const Lazy<PackedTree>> packed_;
  int n_pieces_ = 0;
  std::vector<int> connected_parts_;
  bool has_surface_ = false;
  std::optional<Aabb> solid_box_;
};

template <class F>
auto Compound::with_piece(int i, F&& f) const {
  const Part& part = part_of(i);
  const int k = i - part.first;
  if (const Shape* shape = std::get_if<Shape>(&part.geometry))
    return f(Piece{*shape, part.X_BP, nullptr, 0});
  if (const auto* cloud = std::get_if<std::shared_ptr<const PointCloud>>(&part.geometry)) {
    Shape ball{ShapeType::sphere};
    ball.radius = (*cloud)->radius;
    return f(Piece{ball,
                   {part.X_BP.R, part.X_BP * (*cloud)->points[static_cast<std::size_t>(k)]},
                   nullptr,
                   0});
  }
  const TriangleSurface& surface = *std::get<2>(part.geometry);
  const TriangleSurface::Corners c = surface.corners(k);
  Shape triangle{ShapeType::triangle};
  for (int j = 0; j < 3; ++j) triangle.vertex[j] = c[j];
  return f(Piece{triangle, part.X_BP, &surface, k});
}

// Axis-aligned, in W, the smallest around all pieces: O(n).
Aabb bounding_box(const Compound& compound, const SE3d& X_WB);

}  // namespace robosim

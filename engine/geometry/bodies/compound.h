// Compound: a body of convex pieces, with a tree of their boxes. Triangle meshes, height fields,
// point clouds and shapes fixed to each other are all compounds. A query needs only the tree and,
// at the leaves, a convex piece.
//
// Pieces are constructed on demand: a mesh or a height field stores its vertices, a point cloud its
// points. A compound consists of parts, each of one kind and with a pose in the body's frame B.
// Pieces are numbered consecutively through the parts, so that a mesh's triangles, a cloud's points
// and a list of shapes keep their numbers. Building takes O(n log n), for a height field alone
// O(n), and about 30 to 60 bytes per piece. The packed tree is built by the first query that
// descends it: in 1 ms for 10,000 triangles, with 100 to 160 bytes per triangle and 60 to 100 bytes
// per other piece.
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

  // InputError if there are no points, if a point is not finite or beyond 1e6 m (the message names
  // it), or if the radius is not valid for a sphere.
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
    const TriangleSurface* surface;  // surface that contains the triangle, or nullptr
    int triangle;
  };

  virtual ~Compound() = default;
  Compound(const Compound&) = default;
  Compound(Compound&&) = default;
  Compound& operator=(const Compound&) = default;
  Compound& operator=(Compound&&) = default;

  // InputError if there are no parts.
  explicit Compound(std::vector<Part> parts);
  explicit Compound(Geometry geometry)
      : Compound(std::vector<Part>{{std::move(geometry), SE3d(), 0}}) {}

  const std::vector<Part>& parts() const { return parts_; }
  // Pieces are 0 .. n_pieces() - 1. Degenerate triangles have a number, but are not in the tree.
  int n_pieces() const { return n_pieces_; }
  const AabbTree& tree() const { return tree_; }  // in B; its items are pieces
  bool has_surface() const { return has_surface_; }
  // True if the compound has a packed tree. Compounds with terrain, which stores only its heights,
  // or with a half-space have none.
  bool is_packed() const { return packed_ != nullptr; }
  // Packed form of the tree, built at the first call; copies share it.
  const PackedTree& packed() const {
    return packed_->of([&] { return PackedTree(*this); });
  }

  // Part that contains piece i.
  const Part& part_of(int i) const {
    if (parts_.size() == 1) return parts_[0];
    return *(std::upper_bound(parts_.begin(), parts_.end(), i,
                              [](int n, const Part& part) { return n < part.first; }) -
             1);
  }
  // Call f(piece i); the piece exists during the call only.
  template <class F>
  auto with_piece(int i, F&& f) const;
  // Box of piece i, in B.
  Aabb piece_box(int i) const;
  // Least coordinate of piece i along n_B, or a lower bound on it.
  double lowest(int i, const Vec3d& n_B) const;
  // Box of all solids behind surfaces; none if no surface is closed or a height field.
  const std::optional<Aabb>& solid_box() const { return solid_box_; }
  // One piece of each connected part: every shape and ball, and one triangle of each connected part
  // of a surface.
  const std::vector<int>& connected_parts() const { return connected_parts_; }
  // True if i is the number of a piece in the tree.
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
    return f(Piece{ball, {part.X_BP.R, part.X_BP * (*cloud)->points[k]}, nullptr, 0});
  }
  const TriangleSurface& surface = *std::get<2>(part.geometry);
  const TriangleSurface::Corners c = surface.corners(k);
  Shape triangle{ShapeType::triangle};
  for (int j = 0; j < 3; ++j) triangle.vertex[j] = c[j];
  return f(Piece{triangle, part.X_BP, &surface, k});
}

// Smallest axis-aligned box around all pieces, in W: O(n).
Aabb bounding_box(const Compound& compound, const SE3d& X_WB);

}  // namespace robosim

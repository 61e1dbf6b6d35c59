#include "geometry/bodies/compound.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "geometry/limits.h"

namespace robosim {
namespace {

constexpr int leaf_size = 4;  // pieces; their own boxes are tested first

int n_pieces_of(const Compound::Geometry& geometry) {
  if (const auto* cloud = std::get_if<1>(&geometry))
    return static_cast<int>((*cloud)->points.size());
  if (const auto* surface = std::get_if<2>(&geometry)) return (*surface)->n_triangles();
  return 1;
}

bool is_identity(const SE3d& X) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (X.R(i, j) != (i == j ? 1 : 0)) return false;
  return squared_norm(X.p) == 0;
}

// Box of a piece. The box of a triangle is exact; queries allow for the rounding of its corners in
// another frame.
Aabb box_of(const Compound::Piece& piece, const SE3d& X) {
  if (!piece.surface) return bounding_box(piece.shape, X);
  const Vec3d first = X * piece.shape.vertex[0];
  Aabb box{first, first};
  for (int k = 1; k < 3; ++k) {
    const Vec3d p = X * piece.shape.vertex[k];
    box = hull(box, {p, p});
  }
  return box;
}

}  // namespace

PointCloud::PointCloud(std::vector<Vec3d> points_, double radius_)
    : points(std::move(points_)), radius(Shape::sphere(radius_).radius) {
  if (points.empty()) throw InputError("point cloud: it has no points");
  if (points.size() > 500'000'000)
    throw InputError(message("point cloud: ", points.size(), " points; at most 5e8 are allowed"));
  for (std::size_t i = 0; i < points.size(); ++i)
    for (int k = 0; k < 3; ++k)
      if (!(std::fabs(points[i][k]) <= max_coordinate))
        throw InputError(message("point cloud: point ", i, " has the coordinate ", points[i][k],
                                 " m; each must be finite and within ", max_coordinate, " m"));
}

Compound::Compound(std::vector<Part> parts) : parts_(std::move(parts)) {
  if (parts_.empty()) throw InputError("compound: it has no parts");
  double n = 0;
  for (Part& part : parts_) {
    part.first = static_cast<int>(n);
    n += n_pieces_of(part.geometry);
    if (n > 1e9) throw InputError("compound: it has more than 1e9 pieces");
    has_surface_ |= part.geometry.index() == 2;
  }
  n_pieces_ = static_cast<int>(n);
  build_tree();
  // Decide whether the compound can have a packed tree.
  const auto packs = [](const Part& part) {
    if (const Shape* shape = std::get_if<Shape>(&part.geometry))
      return shape->type != ShapeType::half_space;
    const auto* surface = std::get_if<2>(&part.geometry);
    return !surface || !dynamic_cast<const HeightField*>(surface->get());
  };
  if (std::all_of(parts_.begin(), parts_.end(), packs))
    packed_ = std::make_shared<Lazy<PackedTree>>();
  // List one piece of each connected part.
  for (const Part& part : parts_) {
    if (const auto* surface = std::get_if<2>(&part.geometry))
      for (const int triangle : (*surface)->connected_parts())
        connected_parts_.push_back(part.first + triangle);
    else
      for (int i = 0; i < n_pieces_of(part.geometry); ++i)
        connected_parts_.push_back(part.first + i);
  }
  // Use one box for all parts: finding the part that is solid is not worth the search.
  for (const Part& part : parts_)
    if (const auto* surface = std::get_if<2>(&part.geometry); surface && (*surface)->has_solid()) {
      solid_box_ = tree_.node(0).box;
      if (!dynamic_cast<const HeightField*>(surface->get())) continue;
      constexpr double inf = std::numeric_limits<double>::infinity();
      if (!is_identity(part.X_BP)) solid_box_ = Aabb{{-inf, -inf, -inf}, {inf, inf, inf}};
      solid_box_->lower.z = -inf;  // the solid is unbounded below
      if (parts_.size() > 1) return;
    }
}

void Compound::build_tree() {
  // Terrain is already ordered in a grid.
  if (const auto* surface = std::get_if<2>(&parts_[0].geometry);
      surface && parts_.size() == 1 && is_identity(parts_[0].X_BP))
    if (const auto* field = dynamic_cast<const HeightField*>(surface->get())) {
      tree_ =
          AabbTree::over_grid(field->n_x() - 1, 2 * (field->n_y() - 1), 2 * leaf_size,
                              [&](int i, int first, int end) { return field->box(i, first, end); });
      return;
    }
  std::vector<Aabb> boxes;
  std::vector<int> items;
  boxes.reserve(n_pieces_);
  items.reserve(n_pieces_);
  for (int i = 0; i < n_pieces_; ++i)
    if (is_piece(i)) {
      boxes.push_back(piece_box(i));
      items.push_back(i);
    }
  tree_ = AabbTree(boxes, leaf_size, items);
}

Aabb Compound::piece_box(int i) const {
  const Part& part = part_of(i);
  if (const auto* cloud = std::get_if<1>(&part.geometry)) {
    const Vec3d p = part.X_BP * (*cloud)->points[i - part.first];
    return grown({p, p}, (*cloud)->radius);
  }
  return with_piece(i, [](const Piece& piece) { return box_of(piece, piece.X_BP); });
}

double Compound::lowest(int i, const Vec3d& n_B) const {
  const Part& part = part_of(i);
  const int k = i - part.first;
  const Vec3d n = transpose_times(part.X_BP.R, n_B);
  const double shift = dot(n_B, part.X_BP.p);
  if (const auto* surface = std::get_if<2>(&part.geometry)) {
    const TriangleSurface::Corners c = (*surface)->corners(k);
    return shift + std::min({dot(n, c[0]), dot(n, c[1]), dot(n, c[2])});
  }
  if (const auto* cloud = std::get_if<1>(&part.geometry))
    return shift + dot(n, (*cloud)->points[k]) - norm(n) * (*cloud)->radius;
  const Shape& shape = *std::get_if<Shape>(&part.geometry);
  if (shape.type == ShapeType::half_space) return -std::numeric_limits<double>::infinity();
  return shift + dot(n, support(shape, -n));
}

bool Compound::is_piece(int i) const {
  if (i < 0 || i >= n_pieces_) return false;
  const Part& part = part_of(i);
  const auto* surface = std::get_if<2>(&part.geometry);
  return !surface || !(*surface)->corners(i - part.first).is_degenerate();
}

Aabb bounding_box(const Compound& compound, const SE3d& X_WB) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  Aabb all{{inf, inf, inf}, {-inf, -inf, -inf}};
  for (int i = 0; i < compound.n_pieces(); ++i)
    if (compound.is_piece(i))
      all = hull(all, compound.with_piece(i, [&](const Compound::Piece& piece) {
        return box_of(piece, X_WB * piece.X_BP);
      }));
  return all;
}

}  // namespace robosim

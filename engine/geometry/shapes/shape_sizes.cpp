#include "geometry/shapes/shape_sizes.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <memory>

#include "base/error.h"
#include "geometry/shapes/convex_mesh.h"

namespace robosim {

int n_sizes(ShapeType type) {
  switch (type) {
    case ShapeType::sphere:
    case ShapeType::convex:
    case ShapeType::triangle:
      return 1;
    case ShapeType::capsule:
    case ShapeType::cylinder:
    case ShapeType::cone:
      return 2;
    case ShapeType::ellipsoid:
      return 3;
    case ShapeType::box:
      return 4;
    case ShapeType::half_space:
    case ShapeType::count:
      break;
  }
  return 0;
}

void read_sizes(const Shape& s, double* sizes) {
  const Vec3d& half = s.half_extents;
  const auto put = [sizes](std::initializer_list<double> x) {
    std::copy(x.begin(), x.end(), sizes);
  };
  switch (s.type) {
    case ShapeType::sphere:
      return put({s.radius});
    case ShapeType::convex:
    case ShapeType::triangle:
      return put({s.rounding});
    case ShapeType::capsule:
    case ShapeType::cylinder:
    case ShapeType::cone:
      return put({s.radius, 2 * s.half_length});
    case ShapeType::ellipsoid:
      return put({half.x, half.y, half.z});
    case ShapeType::box:
      return put({2 * half.x, 2 * half.y, 2 * half.z, s.rounding});
    case ShapeType::half_space:
    case ShapeType::count:
      break;
  }
}

Shape with_sizes(const Shape& s, const double* sizes) {
  switch (s.type) {
    case ShapeType::sphere:
      return Shape::sphere(sizes[0]);
    case ShapeType::convex:
      return Shape::convex(s.mesh, sizes[0]);
    case ShapeType::triangle:
      return Shape::triangle(s.vertex[0], s.vertex[1], s.vertex[2], sizes[0]);
    case ShapeType::capsule:
      return Shape::capsule(sizes[0], sizes[1] / 2);
    case ShapeType::cylinder:
      return Shape::cylinder(sizes[0], sizes[1] / 2);
    case ShapeType::cone:
      return Shape::cone(sizes[0], sizes[1] / 2);
    case ShapeType::ellipsoid:
      return Shape::ellipsoid(vec3_at(sizes));
    case ShapeType::box:
      return Shape::box(0.5 * vec3_at(sizes), sizes[3]);
    case ShapeType::half_space:
    case ShapeType::count:
      break;
  }
  return s;
}

Shape scaled(const Shape& s, double factor) {
  double sizes[max_shape_sizes] = {};
  read_sizes(s, sizes);
  for (double& x : sizes) x *= factor;
  Shape larger = with_sizes(s, sizes);
  if (!s.has_vertices()) return larger;
  std::vector<Vec3d> vertices = vertices_of(s);
  for (Vec3d& x : vertices) x *= factor;
  return with_vertices(larger, vertices);
}

std::vector<Vec3d> vertices_of(const Shape& s) {
  if (s.mesh) return s.mesh->vertices;
  if (!s.has_vertices()) return {};
  return {std::begin(s.vertex), std::end(s.vertex)};
}

Shape with_vertices(const Shape& s, const std::vector<Vec3d>& vertices) {
  if (!s.mesh) return Shape::triangle(vertices[0], vertices[1], vertices[2], s.rounding);
  auto mesh = std::make_shared<const ConvexMesh>(convex_hull_mesh(vertices));
  if (mesh->vertices.size() != vertices.size())
    throw InputError(message("convex: ", vertices.size() - mesh->vertices.size(), " of ",
                             vertices.size(),
                             " vertices are no corners of their hull; all must be"));
  return Shape::convex(std::move(mesh), s.rounding);
}

}  // namespace robosim

// Bodies of many pieces for tests: surfaces, terrain, clouds, and compounds of everything.
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "geometry/bodies/compound.h"
#include "random_shapes.h"

namespace robosim::testing {

struct Triangles {
  std::vector<Vec3d> vertices;
  std::vector<std::array<int, 3>> faces;
};

// Surface of a box, each side with n x n squares of two triangles.
inline Triangles box_triangles(const Vec3d& half, int n) {
  Triangles mesh;
  std::map<std::array<int, 3>, int> number;
  const auto vertex = [&](std::array<int, 3> at) {
    const auto [entry, is_new] = number.try_emplace(at, static_cast<int>(mesh.vertices.size()));
    if (is_new)
      mesh.vertices.push_back({half.x * (2.0 * at[0] / n - 1), half.y * (2.0 * at[1] / n - 1),
                               half.z * (2.0 * at[2] / n - 1)});
    return entry->second;
  };
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          const auto at = [&](int u, int v) {
            std::array<int, 3> p{};
            p[axis] = side * n;
            p[(axis + 1) % 3] = u;
            p[(axis + 2) % 3] = v;
            return vertex(p);
          };
          std::array<int, 3> a{at(i, j), at(i + 1, j), at(i + 1, j + 1)},
              b{at(i, j), at(i + 1, j + 1), at(i, j + 1)};
          if (side == 0) {
            std::swap(a[1], a[2]);
            std::swap(b[1], b[2]);
          }
          mesh.faces.push_back(a);
          mesh.faces.push_back(b);
        }
  return mesh;
}

// Surface of a ball, projected from that of a cube.
inline Triangles ball_triangles(double radius, int n) {
  Triangles mesh = box_triangles({1, 1, 1}, n);
  for (Vec3d& p : mesh.vertices) p *= radius / norm(p);
  return mesh;
}

// The triangles of a height field, as a mesh.
inline Triangles triangles_of(const TriangleSurface& surface, int n_vertices) {
  Triangles mesh;
  mesh.vertices.resize(n_vertices);
  for (int t = 0; t < surface.n_triangles(); ++t) {
    const TriangleSurface::Corners c = surface.corners(t);
    mesh.faces.push_back({surface.vertex(t, 0), surface.vertex(t, 1), surface.vertex(t, 2)});
    for (int k = 0; k < 3; ++k) mesh.vertices[surface.vertex(t, k)] = c[k];
  }
  return mesh;
}

inline std::shared_ptr<const TriangleMesh> mesh_of(const Triangles& t) {
  return std::make_shared<TriangleMesh>(t.vertices, t.faces);
}

struct RandomBodies : RandomShapes {
  std::shared_ptr<const TriangleMesh> bumpy_ball(int n) {
    Triangles mesh = ball_triangles(0.4, n);
    for (Vec3d& p : mesh.vertices) p *= uniform(0.7, 1.1);
    return mesh_of(mesh);
  }
  std::shared_ptr<const HeightField> terrain(int n_x, int n_y, double height = 0.1) {
    std::vector<double> heights(static_cast<std::size_t>(n_x * n_y));
    for (double& h : heights) h = uniform(-height, height);
    return std::make_shared<HeightField>(heights, n_x, n_y, 1.0 / n_x, 1.2 / n_y);
  }
  std::shared_ptr<const PointCloud> cloud(int n) {
    std::vector<Vec3d> points(static_cast<std::size_t>(n));
    for (Vec3d& p : points) p = 0.25 * Vec3d(sign_free(), sign_free(), sign_free());
    return std::make_shared<PointCloud>(points, 0.03);
  }
  ShapeType type() { return static_cast<ShapeType>(uniform(0, n_shape_types)); }
  Shape small_shape() {
    for (;;) {
      Shape s = shape(type());
      if (s.type == ShapeType::half_space) continue;
      s.radius *= 0.3;
      s.half_length *= 0.3;
      s.half_extents *= 0.3;
      return s;
    }
  }
  // kind: 0 shapes, 1 a cloud, 2 a mesh, 3 terrain, 4 all of these.
  static constexpr int n_kinds = 5;
  Compound compound(int kind) {
    if (kind == 1) return Compound(cloud(60));
    if (kind == 2) return Compound(bumpy_ball(4));
    if (kind == 3) return Compound(terrain(7, 9));
    std::vector<Compound::Part> parts;
    for (int i = 0; i < 12; ++i) parts.push_back({small_shape(), pose(0.4), 0});
    if (kind == 4) {
      parts.push_back({cloud(20), pose(0.4), 0});
      parts.push_back({bumpy_ball(2), pose(0.4), 0});
      parts.push_back({terrain(4, 3), pose(0.4), 0});
    }
    return Compound(parts);
  }
};

}  // namespace robosim::testing

// Shapes of coal from plain numbers, for code that the benchmarks compile against coal's wheel.
#pragma once

#include <memory>
#include <vector>

#include <coal/BVH/BVH_model.h>
#include <coal/shape/convex.h>
#include <coal/shape/geometric_shapes.h>

// Types: 0 sphere (radius), 1 box (three full sizes), 2 capsule, 3 cylinder (radius, length), 4
// half-space z <= 0, 5 convex (n_vertices x 3 vertices, n_faces x 3 indices), 6 ellipsoid (three
// radii), 7 cone (radius, length), 8 triangle (vertices). Returns null for other types.
inline std::shared_ptr<coal::ShapeBase> coal_shape(int type, const double* size, int n_vertices,
                                                   const double* vertices, int n_faces,
                                                   const int* faces) {
  if (type == 0) return std::make_shared<coal::Sphere>(size[0]);
  if (type == 1) return std::make_shared<coal::Box>(size[0], size[1], size[2]);
  if (type == 2) return std::make_shared<coal::Capsule>(size[0], size[1]);
  if (type == 3) return std::make_shared<coal::Cylinder>(size[0], size[1]);
  if (type == 4) return std::make_shared<coal::Halfspace>(coal::Vec3s(0, 0, 1), 0);
  if (type == 6) return std::make_shared<coal::Ellipsoid>(size[0], size[1], size[2]);
  if (type == 7) return std::make_shared<coal::Cone>(size[0], size[1]);
  const auto vertex = [&](int i) {
    return coal::Vec3s(vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]);
  };
  if (type == 8) return std::make_shared<coal::TriangleP>(vertex(0), vertex(1), vertex(2));
  if (type != 5) return nullptr;
  auto points = std::make_shared<std::vector<coal::Vec3s>>();
  for (int i = 0; i < n_vertices; ++i) points->push_back(vertex(i));
  auto triangles = std::make_shared<std::vector<coal::Triangle>>();
  for (int i = 0; i < n_faces; ++i)
    triangles->emplace_back(faces[3 * i], faces[3 * i + 1], faces[3 * i + 2]);
  return std::make_shared<coal::Convex<coal::Triangle>>(points, n_vertices, triangles, n_faces);
}

// Triangle mesh with a bounding volume tree of boxes. Triangles are used as they are.
inline std::shared_ptr<coal::CollisionGeometry> coal_mesh(int n_vertices, const double* vertices,
                                                          int n_faces, const int* faces) {
  std::vector<coal::Vec3s> points;
  for (int i = 0; i < n_vertices; ++i)
    points.emplace_back(vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]);
  std::vector<coal::Triangle> triangles;
  for (int i = 0; i < n_faces; ++i)
    triangles.emplace_back(faces[3 * i], faces[3 * i + 1], faces[3 * i + 2]);
  auto model = std::make_shared<coal::BVHModel<coal::OBBRSS>>();
  model->beginModel(static_cast<unsigned>(n_faces), static_cast<unsigned>(n_vertices));
  model->addSubModel(points, triangles);
  model->endModel();
  return model;
}

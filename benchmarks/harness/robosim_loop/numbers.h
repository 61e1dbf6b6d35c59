// Vectors, poses and shapes from plain numbers, for code that the benchmarks compile against the
// engine.
#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "geometry/shape.h"

namespace robosim {

inline Vec3d vec3_from(const double* x) { return {x[0], x[1], x[2]}; }
inline Mat3d mat3_from(const double* m, int stride) {
  return {vec3_from(m), vec3_from(m + stride), vec3_from(m + 2 * stride)};
}
// Read a pose from a row-major 4x4 matrix.
inline SE3d pose_from(const double* X) { return {mat3_from(X, 4), {X[3], X[7], X[11]}}; }

// Types: 0 sphere (radius), 1 box (three full sizes), 2 capsule, 3 cylinder (radius, length), 4
// half-space z <= 0, 5 convex (n_vertices x 3 vertices), 6 ellipsoid (three radii), 7 cone (radius,
// length), 8 triangle (vertices).
inline Shape shape_from(int type, const double* size, int n_vertices, const double* vertices) {
  switch (type) {
    case 0:
      return Shape::sphere(size[0]);
    case 1:
      return Shape::box(0.5 * vec3_from(size));
    case 2:
      return Shape::capsule(size[0], 0.5 * size[1]);
    case 3:
      return Shape::cylinder(size[0], 0.5 * size[1]);
    case 4:
      return Shape::half_space();
    case 5: {
      std::vector<Vec3d> points;
      for (int i = 0; i < n_vertices; ++i) points.push_back(vec3_from(vertices + 3 * i));
      return Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(points)));
    }
    case 6:
      return Shape::ellipsoid(vec3_from(size));
    case 7:
      return Shape::cone(size[0], 0.5 * size[1]);
    case 8:
      return Shape::triangle(vec3_from(vertices), vec3_from(vertices + 3), vec3_from(vertices + 6));
    default:
      throw std::invalid_argument("no such type of shape");
  }
}

}  // namespace robosim

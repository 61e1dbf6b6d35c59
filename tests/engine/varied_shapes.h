// Shapes with one parameter changed, in the numbering of the derivatives.
#pragma once

#include <memory>

#include "geometry/shape.h"

namespace robosim::testing {

// Increase size k, as the constructors in Python count, by t.
inline Shape with_size(Shape s, int k, double t) {
  const bool of_rounding = s.has_vertices() || (s.type == ShapeType::box && k == 3);
  if (of_rounding)
    s.rounding += t;
  else if (s.type == ShapeType::box)
    s.half_extents[k] += t / 2;
  else if (s.type == ShapeType::ellipsoid)
    s.half_extents[k] += t;
  else if (k == 0)
    s.radius += t;
  else
    s.half_length += t / 2;
  return s;
}

// Increase coordinate k of a vertex of a convex mesh or a triangle by t. Data that a mesh derives
// from its vertices do not change.
inline Shape with_vertex(Shape s, int v, int k, double t) {
  if (!s.mesh) {
    s.vertex[v][k] += t;
    return s;
  }
  auto mesh = std::make_shared<ConvexMesh>(*s.mesh);
  mesh->vertices[v][k] += t;
  s.mesh = mesh;
  return s;
}

inline Shape with_scale(Shape s, double factor) {
  s.radius *= factor;
  s.half_length *= factor;
  s.half_extents *= factor;
  s.rounding *= factor;
  for (Vec3d& v : s.vertex) v *= factor;
  if (!s.mesh) return s;
  auto mesh = std::make_shared<ConvexMesh>(*s.mesh);
  for (Vec3d& v : mesh->vertices) v *= factor;
  mesh->centroid *= factor;
  mesh->ball = {mesh->ball.center * factor, mesh->ball.radius * factor};
  s.mesh = mesh;
  return s;
}

}  // namespace robosim::testing

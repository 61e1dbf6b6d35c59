#include "geometry/shape.h"

#include <utility>

#include "base/error.h"

namespace robosim {
namespace {

double checked(const char* shape, const char* what, double half, double full) {
  // Written so that NaN fails too.
  if (half >= Shape::min_size && half <= Shape::max_size) return half;
  throw InputError(message(shape, ": ", what, " is ", full, " m; it must be a finite number from ", Shape::min_size, " to ",
                           Shape::max_size, " m"));
}

}  // namespace

Shape Shape::sphere(double radius) {
  Shape s;
  s.type = ShapeType::sphere;
  s.radius = checked("sphere", "radius", radius, radius);
  return s;
}

Shape Shape::box(const Vec3d& half_extents) {
  Shape s;
  s.type = ShapeType::box;
  const char* names[] = {"size along x", "size along y", "size along z"};
  for (int i = 0; i < 3; ++i) s.half_extents[i] = checked("box", names[i], half_extents[i], 2 * half_extents[i]);
  return s;
}

Shape Shape::capsule(double radius, double half_length) {
  Shape s;
  s.type = ShapeType::capsule;
  s.radius = checked("capsule", "radius", radius, radius);
  s.half_length = checked("capsule", "length", half_length, 2 * half_length);
  return s;
}

Shape Shape::cylinder(double radius, double half_length) {
  Shape s;
  s.type = ShapeType::cylinder;
  s.radius = checked("cylinder", "radius", radius, radius);
  s.half_length = checked("cylinder", "length", half_length, 2 * half_length);
  return s;
}

Shape Shape::half_space() {
  Shape s;
  s.type = ShapeType::half_space;
  return s;
}

Shape Shape::convex(std::shared_ptr<const ConvexMesh> mesh) {
  if (!mesh || mesh->vertices.size() < 4) throw InputError("convex: the mesh has fewer than four vertices");
  Shape s;
  s.type = ShapeType::convex;
  s.mesh = std::move(mesh);
  return s;
}

}  // namespace robosim

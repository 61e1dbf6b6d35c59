// Collision shapes, each convex and given in its own frame S: what a collider or an obstacle is made of.
//
//   sphere      ball of `radius` about the origin
//   box         |x| <= half_extents.x and so on
//   capsule     ball of `radius` swept along the segment from (0, 0, -half_length) to (0, 0, half_length)
//   cylinder    x^2 + y^2 <= radius^2, |z| <= half_length (flat ends)
//   half_space  z <= 0, unbounded below; its outward normal is the frame's z axis
//   convex      convex hull of `mesh->vertices`
//
// A new shape costs three files: shapes/x.h (its core), its name, constructor and row here, its constructor in
// bindings/geometry.cpp. GJK and EPA then answer it against every other shape, the half-space too. A core is a struct with
//
//   static constexpr bool curved      whether its surface is curved after `rounding` is taken off (asks for the polish)
//   double rounding() const           the shape is all points within this distance of the core
//   Vec3d centre() const              any point inside
//   Vec3d support(Vec3d d) const      a point of the core farthest in direction d, of any length; finite for a zero d
//   Ball bounding_ball() const        of the shape, in its frame
//   double farthest_from(Vec3d p) const
#pragma once

#include <cstdint>
#include <memory>

#include "geometry/convex_mesh.h"
#include "geometry/shapes/box.h"
#include "geometry/shapes/capsule.h"
#include "geometry/shapes/convex.h"
#include "geometry/shapes/cylinder.h"
#include "geometry/shapes/half_space.h"
#include "geometry/shapes/sphere.h"
#include "spatial/se3.h"

namespace robosim {

enum class ShapeType : std::uint8_t { sphere, box, capsule, cylinder, half_space, convex };
inline constexpr int n_shape_types = 6;
inline constexpr const char* shape_type_names[n_shape_types] = {"sphere",   "box",        "capsule",
                                                                "cylinder", "half_space", "convex"};

struct Shape {
  ShapeType type = ShapeType::sphere;
  double radius = 0;                       // sphere, capsule, cylinder [m]
  double half_length = 0;                  // capsule, cylinder [m]
  Vec3d half_extents;                      // box [m]
  std::shared_ptr<const ConvexMesh> mesh;  // convex

  // Each throws InputError for a size outside [min_size, max_size].
  static Shape sphere(double radius);
  static Shape box(const Vec3d& half_extents);
  static Shape capsule(double radius, double half_length);
  static Shape cylinder(double radius, double half_length);
  static Shape half_space();
  static Shape convex(std::shared_ptr<const ConvexMesh> mesh);

  static constexpr double min_size = 1e-9, max_size = 1e6;  // [m]
};

// The core of a shape of type T: the set whose points within `rounding()` of it are the shape, so that a sphere is a point, a
// capsule a segment. Distances between cores are exact distances between shapes plus a constant. One row per shape.
template <ShapeType T>
auto core(const Shape& s) {
  if constexpr (T == ShapeType::sphere) return SphereCore{s.radius};
  else if constexpr (T == ShapeType::box) return BoxCore{s.half_extents};
  else if constexpr (T == ShapeType::capsule) return CapsuleCore{s.radius, s.half_length};
  else if constexpr (T == ShapeType::cylinder) return CylinderCore{s.radius, s.half_length};
  else if constexpr (T == ShapeType::half_space) return HalfSpaceCore{};
  else return ConvexCore{s.mesh.get()};
}

// visit(shape, f): f(core of the shape), by one switch on its type.
template <int T = 0, class F>
auto visit(const Shape& s, F&& f) {
  if constexpr (T + 1 < n_shape_types) {
    if (static_cast<int>(s.type) != T) return visit<T + 1>(s, f);
  }
  return f(core<static_cast<ShapeType>(T)>(s));
}

}  // namespace robosim

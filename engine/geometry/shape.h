// Collision shapes, each convex and given in its own frame S: what a collider or an obstacle is made of.
//
//   sphere      ball of `radius` about the origin
//   box         |x| <= half_extents.x and so on
//   capsule     ball of `radius` swept along the segment from (0, 0, -half_length) to (0, 0, half_length)
//   cylinder    x^2 + y^2 <= radius^2, |z| <= half_length (flat ends)
//   half_space  z <= 0, unbounded below; its outward normal is the frame's z axis
//   convex      convex hull of `mesh->vertices`
#pragma once

#include <cstdint>
#include <memory>

#include "geometry/convex_mesh.h"
#include "spatial/se3.h"

namespace robosim {

enum class ShapeType : std::uint8_t { sphere, box, capsule, cylinder, half_space, convex };
inline constexpr int n_shape_types = 6;

struct Shape {
  ShapeType type = ShapeType::sphere;
  double radius = 0;        // sphere, capsule, cylinder [m]
  double half_length = 0;   // capsule, cylinder [m]
  Vec3d half_extents;       // box [m]
  std::shared_ptr<const ConvexMesh> mesh;  // convex

  static Shape sphere(double radius);
  static Shape box(const Vec3d& half_extents);
  static Shape capsule(double radius, double half_length);
  static Shape cylinder(double radius, double half_length);
  static Shape half_space();
  static Shape convex(std::shared_ptr<const ConvexMesh> mesh);
};

}  // namespace robosim

// Collision shapes of colliders and obstacles. Each shape is convex and given in its own frame S.
//
//   sphere      ball of `radius` about the origin
//   box         |x| <= half_extents.x, and likewise for y and z
//   capsule     ball of `radius` swept along the segment from (0, 0, -half_length) to
//               (0, 0, half_length)
//   cylinder    x^2 + y^2 <= radius^2, |z| <= half_length (flat ends)
//   half_space  z <= 0, unbounded below; its outward normal is the frame's z axis
//   convex      convex hull of `mesh->vertices`
//   ellipsoid   (x / half_extents.x)^2 + (y / half_extents.y)^2 + (z / half_extents.z)^2 <= 1
//   cone        convex hull of the base disc of `radius` at z = -half_length and the apex at
//               z = +half_length
//   triangle    convex hull of the three points `vertex`: flat, with two sides
//
// A box, a convex mesh and a triangle may be rounded. The rounded shape is all points within
// `rounding` of the given set, which keeps its size and becomes the core of the shape. So sizes
// keep their meaning, and the core and the rounded shape have the same features (corners become
// balls, edges become lateral surfaces). The distance of the rounded shape is the distance of its
// core less a constant.
//
// A new shape requires changes in three files: shapes/x.h (its core), this file (ShapeType,
// shape_type_names, a constructor in Shape, a row in core), and bindings/shapes.cpp (its
// constructor and sizes). GJK and EPA then support the shape against every other shape, the
// half-space included. A core is a struct with
//
//   static constexpr bool curved      true if the surface is curved without its `rounding`, so that
//                                     results need the polish: false for a polytope or a capsule's
//                                     segment, true for a cylinder
//   double rounding() const           the shape is all points within this distance of the core
//   Vec3d center() const              any point inside
//   Vec3d support(Vec3d d) const      a point of the core farthest in direction d, of any length;
//                                     finite for a zero d
//   Ball bounding_ball() const        bounding ball of the shape, in the shape's frame
//   double farthest_from(Vec3d p) const
//                                     distance of the shape's farthest point from p, or an upper
//                                     bound: edge checks then take shorter steps and miss nothing
//
// and, for derivatives (local_surface.h), about a point p of the core with outward normal n,
//
//   LocalSurface local_surface(Vec3d p, Vec3d n, double precision) const
//       surface about p; `precision` is that of p, relative to the shape's size
//   TangentRadii radii_over(Vec3d p, Vec3d n, Vec3d t0, Vec3d t1) const
//       radii of curvature over these tangents (tangent_plane.h), computed the fastest way
//   Vec3d on_feature(LocalSurface s, Vec3d p, Vec3d n) const
//       if curved: point of the feature with normal n, near p
//   Curvature curvature(LocalSurface s, Vec3d p, Vec3d n) const
//       if curved: curvature of the feature at p
//   double inner_radius(Vec3d p, Vec3d n) const
//   Growth growth(LocalSurface s, Vec3d n) const
//       where known: bounds that prove a penetration depth (way_out.h)
//   static constexpr int n_sizes
//   Vec3d size_rate(int k, LocalSurface s, Vec3d n) const
//       velocity of the point with fixed normal when size k of the Python constructor (a full size)
//       grows; vertices are corners of LocalSurface
//   Vec3d size_turn(int k, LocalSurface s, Vec3d n) const
//       if not always zero: turn of the normal when size k turns a straight direction
//
// and, for contact manifolds (patch.h), if the shape has a face or a straight line,
//
//   void patch(Vec3d n, Patch& out) const
//       the face or line that is turned most towards n, outward
//   Vec3d stretch(int k, Vec3d p, Vec3d m) const
//       velocity of the patch's points when size k grows
//
// shapes/capsule.h is a short example, shapes/cylinder.h one with a curved core. Only the
// half-space has no support function: it is unbounded.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include "base/error.h"
#include "geometry/shapes/box.h"
#include "geometry/shapes/capsule.h"
#include "geometry/shapes/cone.h"
#include "geometry/shapes/convex.h"
#include "geometry/shapes/convex_mesh.h"
#include "geometry/shapes/cylinder.h"
#include "geometry/shapes/ellipsoid.h"
#include "geometry/shapes/half_space.h"
#include "geometry/shapes/sphere.h"
#include "geometry/shapes/triangle.h"
#include "spatial/se3.h"

namespace robosim {

enum class ShapeType : std::uint8_t {
  sphere,
  box,
  capsule,
  cylinder,
  half_space,
  convex,
  ellipsoid,
  cone,
  triangle,
  count
};
inline constexpr const char* shape_type_names[] = {"sphere",    "box",        "capsule",
                                                   "cylinder",  "half_space", "convex",
                                                   "ellipsoid", "cone",       "triangle"};

inline constexpr int n_shape_types = static_cast<int>(ShapeType::count);
static_assert(std::size(shape_type_names) == n_shape_types, "every ShapeType has one name");
constexpr const char* name_of(ShapeType type) { return shape_type_names[static_cast<int>(type)]; }

// A type and its sizes. The constructors show which sizes a type uses.
struct Shape {
  ShapeType type = ShapeType::sphere;
  double radius = 0;       // [m]
  double half_length = 0;  // along z [m]
  Vec3d half_extents{};    // along x, y and z [m]; the radii of an ellipsoid
  double rounding = 0;     // of a box, a convex mesh or a triangle [m]
  Vec3d vertex[3]{};       // of a triangle [m]
  std::shared_ptr<const ConvexMesh> mesh{};

  bool has_vertices() const { return mesh || type == ShapeType::triangle; }

  // Constructors. Each throws InputError for a size outside [min_size, max_size]; a rounding may
  // also be zero.
  static Shape sphere(double radius) {
    Shape s{ShapeType::sphere};
    s.radius = checked(s, "radius", radius);
    return s;
  }
  static Shape box(const Vec3d& half_extents, double rounding = 0) {
    Shape s{ShapeType::box};
    s.half_extents = checked_halves(s, "size", half_extents);
    s.rounding = checked_rounding(s, rounding);
    return s;
  }
  static Shape capsule(double radius, double half_length) {
    Shape s{ShapeType::capsule};
    s.radius = checked(s, "radius", radius);
    s.half_length = checked_half(s, "length", half_length);
    return s;
  }
  static Shape cylinder(double radius, double half_length) {
    Shape s{ShapeType::cylinder};
    s.radius = checked(s, "radius", radius);
    s.half_length = checked_half(s, "length", half_length);
    return s;
  }
  static Shape half_space() { return {ShapeType::half_space}; }
  static Shape convex(std::shared_ptr<const ConvexMesh> mesh, double rounding = 0) {
    if (!mesh || mesh->vertices.size() < 4)
      throw InputError("convex: the mesh has fewer than four vertices");
    Shape s{ShapeType::convex};
    s.mesh = std::move(mesh);
    s.rounding = checked_rounding(s, rounding);
    return s;
  }
  static Shape ellipsoid(const Vec3d& radii) {
    Shape s{ShapeType::ellipsoid};
    s.half_extents = checked(s, "radii", radii);
    return s;
  }
  static Shape cone(double radius, double half_length) {
    Shape s{ShapeType::cone};
    s.radius = checked(s, "radius", radius);
    s.half_length = checked_half(s, "length", half_length);
    return s;
  }
  // Throws InputError for coordinates beyond max_size, and for a degenerate triangle: lower than
  // 1e-9 of its longest edge.
  static Shape triangle(const Vec3d& a, const Vec3d& b, const Vec3d& c, double rounding = 0);

  static constexpr double min_size = 1e-9, max_size = 1e6;  // [m]

  // Return the value, or throw InputError that names the shape, the size and its value (for half a
  // size, the full value).
  static double checked(const Shape& s, const char* size, double value);
  static Vec3d checked(const Shape& s, const char* size, const Vec3d& values);  // along x, y and z
  static double checked_half(const Shape& s, const char* size, double half);
  static Vec3d checked_halves(const Shape& s, const char* size, const Vec3d& halves);
  static double checked_rounding(const Shape& s, double value);
};

// Core of a shape of type T: the shape is the set of points within `rounding()` of the core. So the
// core of a sphere is a point, that of a capsule a segment. Distances between cores are exact
// distances between shapes plus a constant. One row per shape.
template <ShapeType T>
auto core(const Shape& s) {
  if constexpr (T == ShapeType::sphere)
    return SphereCore{s.radius};
  else if constexpr (T == ShapeType::box)
    return BoxCore{s.half_extents, s.rounding};
  else if constexpr (T == ShapeType::capsule)
    return CapsuleCore{s.radius, s.half_length};
  else if constexpr (T == ShapeType::cylinder)
    return CylinderCore{s.radius, s.half_length};
  else if constexpr (T == ShapeType::half_space)
    return HalfSpaceCore{};
  else if constexpr (T == ShapeType::convex)
    return ConvexCore{s.mesh.get(), s.rounding};
  else if constexpr (T == ShapeType::ellipsoid)
    return EllipsoidCore{s.half_extents};
  else if constexpr (T == ShapeType::cone)
    return ConeCore{s.radius, s.half_length};
  else {
    static_assert(T == ShapeType::triangle, "this ShapeType has no row in core");
    return TriangleCore{{s.vertex[0], s.vertex[1], s.vertex[2]}, s.rounding};
  }
}

// Length that a shape's tolerances are relative to [m]: the radius of its bounding ball, or a
// cheaper size if the core has one. Infinite for a half-space.
template <class Core>
ROBOSIM_INLINE double size_of(const Core& core) {
  if constexpr (requires { core.size(); })
    return core.size() + core.rounding();
  else
    return core.bounding_ball().radius;
}

// Call f(core of the shape) for the shape's type.
template <int T = 0, class F>
auto visit(const Shape& s, F&& f) {
  if constexpr (T + 1 < n_shape_types) {
    if (static_cast<int>(s.type) != T) return visit<T + 1>(s, f);
  }
  return f(core<static_cast<ShapeType>(T)>(s));
}

}  // namespace robosim

// Where a ray first meets a shape: for sensors, picking and line-of-sight tests.
//
// The ray is o + t d, t >= 0, with d of any length but zero: t is in lengths of d, meters for a
// unit d. The line's point nearest to the shape's bounding ball is the origin of all arithmetic, so
// that a ray from far away loses no more digits than its own coordinates have.
//
//   sphere, capsule, cylinder, cone, ellipsoid   roots of one quadratic equation; its discriminant,
//                                                which decides between a hit and a miss,
//                                                from the moment q x u of the line, without
//                                                  cancellation
//   box, half-space, small convex mesh           clipping by the planes of their faces (Cyrus, Beck
//                                                1978)
//   triangle                                     areas in the plane across the ray: no ray passes
//                                                between two triangles that share an edge
//                                                (Woop, Benthin, Wald, "Watertight ray/triangle
//                                                  intersection", 2013)
//   large convex mesh, rounded box, convex       Newton's method for distance = 0 along the ray.
//                                                The distance from a convex set is convex
//   mesh or triangle                             along a line, so no step passes the first hit, and
//                                                a distance that grows proves a miss;
//                                                the steps are those of van den Bergen, "Ray
//                                                  casting against general convex objects with
//                                                application to continuous collision detection",
//                                                  2004, each with the exact
//                                                distance: some five of them, each a closed form or
//                                                  one run of GJK.
#pragma once

#include <limits>

#include "geometry/query.h"

namespace robosim {

struct Ray {
  Vec3d origin, direction;  // in W
};

struct RayHit {
  bool hit = false;
  // The ray starts in the shape: then t = 0, point = origin, normal against the direction.
  bool inside = false;
  double t = std::numeric_limits<double>::infinity();
  // In W; normal outward and unit, of a triangle on the side that the ray comes from; zero without
  // a hit.
  Vec3d point, normal;
};

// The first point of the ray, with t <= max_t, that belongs to the shape. A ray that only grazes
// may be answered either way; a zero direction meets nothing.
RayHit ray_cast(const Shape& shape, const SE3d& X_WS, const Ray& ray,
                double max_t = std::numeric_limits<double>::infinity());

// What one parameter moves, per unit of it.
struct RayHitRate {
  double t = 0;
  Vec3d point, normal;
};

// A surface whose material point at the hit moves by u and turns there by w moves the hit by
//
//   dt = n . (u - do - t dd) / (n . d),   dp = do + t dd + dt d,   dn = w + K (dp - u),
//
// K = sum e_i e_i^T / r_i being the surface's curvature (local_surface.h): the implicit function
// theorem. A size moves the surface with its normal held and enters as u.
struct RayCastDerivatives {
  static constexpr int max_sizes = 4;
  RayHitRate origin[3], direction[3];
  RayHitRate twist[6];  // of the shape, [linear; angular] in its own frame
  RayHitRate size[max_sizes];
  int n_sizes = 0;
  // When the shape grows about the origin of its frame: per unit of a factor at 1.
  RayHitRate scale;
  // Per coordinate, in the shape's frame, of the feature's corners (LocalSurface::corner).
  RayHitRate corner[3][3];
  LocalSurface surface;  // at the hit; axes in W
  // Of derivatives that hold on one side only, because another feature takes over right here or the
  // point is a sharp edge's; of a hit that grazes, where the rates are infinite, and of one from
  // inside: there they are all zero.
  bool one_sided = false;
};

// Of a hit that ray_cast gave for these. Without a hit all are zero.
RayCastDerivatives ray_cast_derivatives(const RayHit& hit, const Shape& shape, const SE3d& X_WS,
                                        const Ray& ray);

}  // namespace robosim

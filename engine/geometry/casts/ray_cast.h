// Ray casts: the first point of a ray on a shape, for sensors, picking and line-of-sight tests.
//
// The ray is o + t d, t >= 0, with d of any nonzero length. t is in lengths of d: meters for a unit
// d. The origin of all arithmetic is the line's point nearest to the center of the shape's bounding
// ball. So a ray from far away loses no more digits than its own coordinates have.
//
//   sphere, capsule,     roots of one quadratic equation. Its discriminant, which decides between
//   cylinder, cone,      hit and miss, is computed from the moment q x u of the line, without
//   ellipsoid            cancellation.
//   box, half-space,     clipping by the planes of the faces (Cyrus, Beck 1978)
//   small convex mesh
//   triangle             areas in the plane across the ray: no ray passes between two triangles
//                        that share an edge (Woop, Benthin, Wald, "Watertight ray/triangle
//                        intersection", 2013)
//   large convex mesh,   Newton's method for distance = 0 along the ray. The distance from a convex
//   rounded box,         set is convex along a line, so no step passes the first hit, and an
//   rounded convex mesh, increasing distance proves a miss. The steps are those of van den Bergen,
//   rounded triangle     "Ray casting against general convex objects with application to
//                        continuous collision detection", 2004, with the exact distance in each
//                        step. Some five steps, each a closed form or one run of GJK.
#pragma once

#include <limits>

#include "geometry/query.h"

namespace robosim {

struct Ray {
  Vec3d origin, direction;  // in W
};

struct RayHit {
  bool hit = false;
  // The ray starts in the shape: t = 0, point = origin, and the normal is opposite to the
  // direction.
  bool inside = false;
  double t = std::numeric_limits<double>::infinity();
  // In W. The normal is unit and outward; of a triangle, on the side that the ray comes from. Zero
  // without a hit.
  Vec3d point, normal;
};

// First point of the ray, with t <= max_t, that belongs to the shape. A ray that only grazes the
// shape may hit or miss. A ray with zero direction hits nothing.
RayHit ray_cast(const Shape& shape, const SE3d& X_WS, const Ray& ray,
                double max_t = std::numeric_limits<double>::infinity());

// Derivative of a hit with respect to one parameter.
struct RayHitRate {
  double t = 0;
  Vec3d point, normal;
};

// Derivatives of a hit. If the material point of the surface at the hit moves by u, and the surface
// turns by w there, the hit moves by
//
//   dt = n . (u - do - t dd) / (n . d),   dp = do + t dd + dt d,   dn = w + K (dp - u),
//
// where K = sum e_i e_i^T / r_i is the surface's curvature (local_surface.h). Follows from the
// implicit function theorem. A size moves the surface with fixed normal and enters as u.
struct RayCastDerivatives {
  static constexpr int max_sizes = 4;
  RayHitRate origin[3], direction[3];
  RayHitRate twist[6];  // of the shape, [linear; angular] in its own frame
  RayHitRate size[max_sizes];
  int n_sizes = 0;
  // Per unit of a factor, at 1, that scales the shape about the origin of its frame.
  RayHitRate scale;
  // Per coordinate, in the shape's frame, of the feature's corners (LocalSurface::corner).
  RayHitRate corner[3][3];
  LocalSurface surface;  // at the hit; axes in W
  // True if the derivatives are valid on one side only, because another feature takes over at the
  // hit or the point is on a sharp edge. Also true, with all derivatives zero, for a hit that
  // grazes, where the rates are infinite, and for a ray that starts inside.
  bool one_sided = false;
};

// Derivatives of a hit that ray_cast returned for these arguments. All are zero without a hit.
RayCastDerivatives ray_cast_derivatives(const RayHit& hit, const Shape& shape, const SE3d& X_WS,
                                        const Ray& ray);

}  // namespace robosim

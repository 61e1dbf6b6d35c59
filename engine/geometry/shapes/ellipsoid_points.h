// Points of an ellipsoid's surface that are nearest to a point and farthest from it. The point may
// be inside or outside.
//
// At a stationary point x of |x - p| on sum (x_i / a_i)^2 = 1, p - x is along the normal:
// p_i - x_i = s x_i / a_i^2. So
//
//   x_i = a_i^2 p_i / (a_i^2 + s)   and   sum (a_i p_i / (a_i^2 + s))^2 = 1.
//
// The nearest point belongs to the largest root, s >= -min a_i^2, the farthest point to the least
// root, s <= -max a_i^2. Let t be the distance of s from that bound, and
// e_i = |a_i^2 - min or max a_i^2|. Then both points follow from one equation,
//
//   sum (r_i / (t + e_i))^2 = 1,   r_i = |a_i p_i|,   t >= 0.
//
// The left side to the power -1/2 is a power mean of linear functions of t, and thus concave. So
// Newton's method for the left side equal to 1 increases monotonically to the root from any start
// below it. t and e_i are free of cancellation, and so are the points. If p is on a plane of
// symmetry, there may be no root with t > 0. Then t = 0, and the coordinates with e_i = 0 follow
// from the remainder to 1.
//
// Source of the equation and its cases: Eberly, "Distance from a point to an ellipse, an ellipsoid,
// or a hyperellipsoid", 2013. Newton's method on the power -1/2: More, Sorensen, "Computing a trust
// region step", 1983, sec. 3.
#pragma once

#include "spatial/vec3.h"

namespace robosim {

struct EllipsoidPoint {
  double distance = 0;  // of p from the surface, negative inside
  Vec3d x, normal;      // p - x = distance * normal; the normal is unit and outward
};

// Point of the surface nearest to p; if there are several, one of them.
EllipsoidPoint nearest_on_ellipsoid(const Vec3d& radii, const Vec3d& p);

// Point of the ellipsoid farthest from p; if there are several, one of them.
Vec3d farthest_on_ellipsoid(const Vec3d& radii, const Vec3d& p);

}  // namespace robosim

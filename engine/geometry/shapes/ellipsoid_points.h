// The points of an ellipsoid's surface nearest to a point and farthest from it, anywhere inside or
// outside.
//
// Stationary points x of |x - p| on sum (x_i / a_i)^2 = 1 have p - x along the normal, p_i - x_i =
// s x_i / a_i^2, so that
//
//   x_i = a_i^2 p_i / (a_i^2 + s)   and   sum (a_i p_i / (a_i^2 + s))^2 = 1.
//
// The nearest is that of the largest root, s >= -min a_i^2, the farthest that of the least, s <=
// -max a_i^2. With the distance t of s from that end and e_i = |a_i^2 - min or max a_i^2| both are
// one equation,
//
//   sum (r_i / (t + e_i))^2 = 1,   r_i = |a_i p_i|,   t >= 0.
//
// Its left side to the power -1/2 is a power mean of linear functions of t, thus concave: Newton's
// method for "it is 1" rises to the root from any start on its left, without overshoot, and t and
// e_i being free of cancellation, so are the points. On planes of symmetry there may be no root
// with t > 0: then t = 0, and the coordinates with e_i = 0 are what the others leave of 1.
//
// Source of the equation and its cases: Eberly, "Distance from a point to an ellipse, an ellipsoid,
// or a hyperellipsoid", 2013; of Newton on the power -1/2: More, Sorensen, "Computing a trust
// region step", 1983, sec. 3.
#pragma once

#include "spatial/vec3.h"

namespace robosim {

struct EllipsoidPoint {
  double distance = 0;  // of p from the surface, negative inside
  Vec3d x, normal;      // p - x = distance * normal; the normal is unit and outward
};

// The point of the surface nearest to p; where several are, one of them.
EllipsoidPoint nearest_on_ellipsoid(const Vec3d& radii, const Vec3d& p);

// The point of the ellipsoid farthest from p; where several are, one of them.
Vec3d farthest_on_ellipsoid(const Vec3d& radii, const Vec3d& p);

}  // namespace robosim

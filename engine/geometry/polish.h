// Last digits of the nearest or least-penetrating points of curved shapes.
//
// GJK and EPA approach a curved surface by chords: near touch the direction of a short v drowns in rounding, and inside a body a
// facet's points lie under the surface. Here D = B - A is moved along the normal n until the origin is a clearance t away from
// it, where GJK's normal has all its digits, and the new normal replaces n: a fixed point at the answer, at which the nearest
// point of the moved D is the same. The error of n shrinks by (t + depth) / (t + r) each time, with r the radius of curvature
// of D (zero error at once on a flat face). That is slow where the depth is nearly r, as for round bodies of which one holds the
// other's centre; so the iteration is accelerated by Anderson's mixing. Every n on the way gives min over D of n.x, a lower bound
// on the signed distance that is exact to rounding; the largest is the answer.
//
// Source of the mixing: Anderson, "Iterative procedures for nonlinear integral equations", 1965, in the form of Walker, Ni,
// "Anderson acceleration for fixed-point iterations", 2011.
#pragma once

#include "geometry/support_function.h"

namespace robosim {

struct Contact {
  Vec3d normal;         // unit, from A to B
  double distance = 0;  // signed: min over D of normal.x
  Vec3d a, w;           // nearest point of A, and of D = B - A: distance * normal, were everything exact
};

// scale: of the coordinates of D's points. Gives the contact of the largest distance; of those equal to 1e-11 of the scale, that
// whose w agrees best with its distance and normal. It may be the given one. At most 16 runs of GJK.
Contact polished(const SupportFunction& D, const Contact& contact, double scale);

}  // namespace robosim

// Tests for points and bodies in the solid that surfaces enclose (triangle_surface.h).
//
// A point is in the solid of a closed mesh if its winding number is positive: a ray from the point
// leaves more triangles through their front than it enters. So shells of one mesh that overlap are
// one solid, and an inner shell that faces inwards is a hollow. A ray that passes an edge within
// rounding is repeated in another direction. A point that no ray decides counts as inside. Under a
// height field, a point is in the solid if it is below the surface.
//
// A connected set that touches no triangle is either wholly inside or wholly outside, so one point
// of each connected part decides. Cost: the boxes and triangles along one ray, about 1 us; one box
// if the point is outside of that box.
#pragma once

#include "geometry/bodies/compound_query.h"

namespace robosim {

// Some point of a piece, in the body's frame.
Vec3d point_of(const Compound::Piece& piece);

// Return true if p_B, in the body's frame B, is in the solid of one of the body's surfaces.
bool in_solid(const Compound& compound, const Vec3d& p_B);

// Return the first piece of S, among one for each connected part, that lies in the solid of a
// surface of T, or -1 if there is none. No piece of S may touch a piece of T.
int piece_in_solid(const Body& S, const SE3d& X_WS, const Body& T, const SE3d& X_WT);

}  // namespace robosim

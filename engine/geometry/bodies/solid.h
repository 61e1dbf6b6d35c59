// Whether something lies in the solid that the surfaces of a body enclose (triangle_surface.h),
// without meeting them.
//
// A point is in the solid of a closed mesh where its winding number is positive: of a ray from
// there on, as many triangles more are left through their front than entered. So shells of one mesh
// that overlap are one solid, and an inner shell that faces inwards is a hollow. A ray that passes
// an edge within rounding is taken again in another direction; what none of them decides counts as
// inside. Under a height field a point is in the solid where it is below the surface.
//
// A connected set that meets no triangle is inside as a whole or not at all: one point of each
// connected part decides. Cost: the boxes and triangles along one ray, some 1 us; a look at one box
// where the point is outside that.
#pragma once

#include "geometry/bodies/compound_query.h"

namespace robosim {

// Some point of a piece, in the body's frame.
Vec3d point_of(const Compound::Piece& piece);

// Whether p, in the body's frame B, is in the solid of one of its surfaces.
bool in_solid(const Compound& compound, const Vec3d& p_B);

// The first piece of S, of one for each connected part, that lies in the solid of a surface of T,
// where no piece of S meets one of T; -1 where none does.
int piece_in_solid(const Body& S, const SE3d& X_WS, const Body& T, const SE3d& X_WT);

}  // namespace robosim

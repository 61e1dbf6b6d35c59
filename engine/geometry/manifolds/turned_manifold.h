// Contact manifolds of patches that will face each other once two shapes have turned a little.
//
// A manifold has the points of the faces that face each other now. As a box tips over its edge, or
// a hull rolls over its faces, others do before long; this gives their points, with gaps along the
// normal of now.
#pragma once

#include "geometry/manifolds/manifold.h"

namespace robosim {

// As contact_manifold, with the patches of A and B that turn most towards these directions, in W,
// in place of the normal and its opposite.
Manifold turned_manifold(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B,
                         const SE3d& X_WB, double margin, const Vec3d (&facing)[2]);

// The points of two shapes along the normal of a face, that of A for side 0 and of B for side 1,
// which n is (from A to B, in W). None but those of patches, with gaps from `least` to `margin`:
// what is round may have none.
Manifold face_manifold(int side, const Vec3d& n, const Shape& A, const SE3d& X_WA, const Shape& B,
                       const SE3d& X_WB, double least, double margin);

}  // namespace robosim

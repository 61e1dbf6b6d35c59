// Contact manifolds of patches that face each other after two shapes turn a little.
//
// A manifold has the points of the faces that face each other in the present poses. As a box tips
// over its edge, or a hull rolls over its faces, other faces follow. These functions compute the
// points of such faces, with gaps along the present normal.
#pragma once

#include "geometry/manifolds/manifold.h"

namespace robosim {

// Compute the manifold as contact_manifold does, with the patches of A and B that turn most towards
// the directions facing[0] and facing[1], in W, in place of the normal and its opposite.
Manifold turned_manifold(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B,
                         const SE3d& X_WB, double margin, const Vec3d (&facing)[2]);

// Compute the points of two shapes along the normal n of a face of A (side 0) or of B (side 1); n
// points from A to B, in W. Only points of patches with gaps from `least` to `margin` are found, so
// round shapes may have none.
Manifold face_manifold(int side, const Vec3d& n, const Shape& A, const SE3d& X_WA, const Shape& B,
                       const SE3d& X_WB, double least, double margin);

}  // namespace robosim

// Derivatives of the closest pieces of two bodies: those of the pair of pieces
// (contact_derivatives.h), carried from the pieces' frames to the bodies'. And of the contact
// manifolds of pieces.
//
// A piece P is fixed in its body B, X_WP = X_WB X_BP. A twist of B moves P by
//
//   v_P = R_BP^T v,   v_P += R_BP^T (w x p_BP),   w_P = R_BP^T w,
//
// and growing about B's origin by a factor s is growing about P's and moving P by (s - 1) p_BP.
//
// A way out of a triangle along a normal n that is not the touching surfaces' own m (one_sided.h)
// is differentiated through its equation, phi(S + t n, T) = 0: with rates at fixed t and n of what
// touches at its end, S moves besides by dt n + t dn, where dt keeps phi zero. Such a normal is
// fixed in the triangle's frame: it turns with that body alone, and with the vertices of the face
// that it belongs to.
#pragma once

#include "geometry/bodies/compound_query.h"
#include "geometry/contact_derivatives.h"
#include "geometry/manifolds/manifold_derivatives.h"

namespace robosim {

// Of the witness that a query gave for these two pieces. twist and scale are those of the bodies;
// sizes are those of the pieces; corners are numbered within the piece, those of a triangle 0, 1, 2
// (TriangleSurface::vertex tells which of the surface's they are), in the frame of the piece's
// part; a neighbor whose normal a way out takes has one more, which is not among them. one_sided
// also where another pair of pieces is as close, to 1e-9 of their size, with other points or
// another normal; and where the shortest way out is barely a normal of the surface, or barely none.
WitnessDerivatives piece_derivatives(const PieceWitness& closest, const Body& A, const SE3d& X_WA,
                                     const Body& B, const SE3d& X_WB);

// Of a manifold that contact_manifolds gave for these pieces, all in the pieces' frames; corners as
// above. Where the normal is the nearest one that a surface has, it turns with that surface alone.
// one_sided as above, but for other pairs, which have manifolds of their own.
void manifold_derivatives(const Manifold& manifold, const Body& A, const SE3d& X_WA, int piece_A,
                          const Body& B, const SE3d& X_WB, int piece_B, ManifoldDerivatives& out,
                          const DerivativesWanted& wanted = {});

}  // namespace robosim

// Derivatives of the closest pieces of two bodies, and of the contact manifolds of pieces. The
// derivatives of a pair of pieces (contact_derivatives.h) are carried from the pieces' frames to
// the bodies' frames.
//
// A piece P is fixed in its body B, X_WP = X_WB X_BP. A twist of B moves P by
//
//   v_P = R_BP^T v,   v_P += R_BP^T (w x p_BP),   w_P = R_BP^T w.
//
// Growth about B's origin by a factor s is growth about P's origin and a displacement of P by
// (s - 1) p_BP.
//
// A translation that separates S from a triangle T may be along a normal n that is not the normal m
// of the touching surfaces (one_sided.h). It is differentiated through its equation,
// phi(S + t n, T) = 0: in addition to the rates at fixed t and n of the features that touch at its
// end, S moves by dt n + t dn, where dt keeps phi zero. The normal n is fixed in the triangle's
// frame. It turns with that body alone, and with the vertices of the face that it belongs to.
#pragma once

#include "geometry/bodies/compound_query.h"
#include "geometry/contact_derivatives.h"
#include "geometry/manifolds/manifold_derivatives.h"

namespace robosim {

// Compute the derivatives of the witness that a query returned for these two pieces. twist and
// scale are those of the bodies; sizes are those of the pieces. Corners are numbered within the
// piece, those of a triangle 0, 1, 2 (TriangleSurface::vertex returns their numbers in the
// surface), in the frame of the piece's part. A neighboring triangle whose normal separates the
// pieces has one more vertex, which is not included. one_sided is also set
// * if another pair of pieces is as close, to 1e-9 of their size, with other points or normal;
// * if the shortest separating translation is barely along a normal of the surface, or barely not.
WitnessDerivatives piece_derivatives(const PieceWitness& closest, const Body& A, const SE3d& X_WA,
                                     const Body& B, const SE3d& X_WB);

// Compute the derivatives of a manifold of these pieces (PieceManifolds), all in the pieces'
// frames, with corners as above. If the normal is the nearest one that a surface has, it turns with
// that surface alone. one_sided is set as above, except for other pairs, which have manifolds of
// their own.
void manifold_derivatives(const Manifold& manifold, const Body& A, const SE3d& X_WA, int piece_A,
                          const Body& B, const SE3d& X_WB, int piece_B, ManifoldDerivatives& out,
                          const DerivativesWanted& wanted = {});

}  // namespace robosim

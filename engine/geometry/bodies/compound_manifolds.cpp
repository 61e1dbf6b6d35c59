#include "geometry/bodies/compound_manifolds.h"

namespace robosim {

void contact_manifolds(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB, std::vector<PieceManifold>& out) {
  std::vector<PieceWitness> found;
  contacts(margin, A, X_WA, B, X_WB, found);
  for (const PieceWitness& x : found)
    out.push_back({A.with_piece(x.piece_A,
                                [&](const Compound::Piece& P) {
                                  return B.with_piece(x.piece_B, [&](const Compound::Piece& Q) {
                                    return contact_manifold(x.witness, P.shape, X_WA * P.X_BP, Q.shape, X_WB * Q.X_BP, margin);
                                  });
                                }),
                   x.piece_A, x.piece_B});
}

}  // namespace robosim

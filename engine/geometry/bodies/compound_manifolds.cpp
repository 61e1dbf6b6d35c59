#include "geometry/bodies/compound_manifolds.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace robosim {
namespace {

// Of a triangle of a surface what lies farthest along its contact's normal m: the vertices of a corner or a side, in order, or of the whole face. And a
// neighbour whose face has that normal.
struct Reach {
  std::array<int, 3> vertices{-1, -1, -1};
  int count = 0;            // of vertices; none of what is no triangle of a surface
  double height = 0, slack = 0;  // along m in the frame of the surface, and what counts as so high
  int flat_neighbour = -1;  // a triangle
  int first = -1;           // piece of the surface
};

bool has_normal(const TriangleSurface& surface, int t, const Vec3d& m) {
  const TriangleSurface::Corners c = surface.corners(t);
  return !c.is_degenerate() && norm(c.normal() - m) <= Manifold::flat_faces;
}

Reach reach_along(const Compound::Piece& T, const Vec3d& m) {
  const TriangleSurface::Corners c = T.surface->corners(T.triangle);
  Reach x;
  if (has_normal(*T.surface, T.triangle, m)) {
    x.count = 3;
    return x;
  }
  x.slack = feature_tolerance * (norm(c[1] - c[0]) + norm(c[2] - c[0]));
  const double height[3] = {dot(c[0], m), dot(c[1], m), dot(c[2], m)};
  x.height = *std::max_element(height, height + 3);
  for (int k = 0; k < 3; ++k) {
    if (height[k] > x.height - x.slack) x.vertices[static_cast<std::size_t>(x.count++)] = T.surface->vertex(T.triangle, k);
    if (const int other = T.surface->across(T.triangle, k); other >= 0 && has_normal(*T.surface, other / 3, m)) x.flat_neighbour = other / 3;
  }
  std::sort(x.vertices.begin(), x.vertices.end());
  return x;
}

// Of each contact, of one side.
std::vector<Reach> reaches(const std::vector<PieceWitness>& found, int side, const Body& body, const Mat3d& R_WB) {
  std::vector<Reach> out;
  for (const PieceWitness& x : found) {
    const int piece = side ? x.piece_B : x.piece_A;
    out.push_back(body.with_piece(piece, [&](const Compound::Piece& T) {
      if (!T.surface) return Reach();
      Reach reach = reach_along(T, transpose_times(R_WB * T.X_BP.R, side ? -x.witness.normal : x.witness.normal));
      reach.first = piece - T.triangle;
      return reach;
    }));
  }
  return out;
}

// Whether contact i with this side's triangle may be one with another of its surface as well: with the face of the neighbour that lies behind a side
// along which the two things are flat on each other, or by the same corner or side, which the first of its triangles has.
bool is_of_another(const std::vector<PieceWitness>& found, const std::vector<Reach>& reach, std::size_t i, int side) {
  const Reach& here = reach[i];
  if (here.count == 0) return false;
  for (std::size_t j = 0; j < found.size(); ++j) {
    const Reach& there = reach[j];
    if (j == i || there.first != here.first || (side ? found[j].piece_A != found[i].piece_A : found[j].piece_B != found[i].piece_B)) continue;
    if (here.flat_neighbour >= 0 && (side ? found[j].piece_B : found[j].piece_A) == here.first + here.flat_neighbour) return true;
    if (here.count < 3 && j < i && there.count == here.count && there.vertices == here.vertices &&
        norm(found[j].witness.normal - found[i].witness.normal) <= feature_tolerance)
      return true;
  }
  return false;
}

// Whether a manifold has no points but such as lie on what reaches farthest.
bool is_all_there(const Manifold& m, const Reach& reach, int side, const SE3d& X_WT) {
  const Vec3d outward = transpose_times(X_WT.R, side ? -m.normal() : m.normal());
  for (int k = 0; k < m.n_points; ++k)
    if (dot(inverse_times(X_WT, side ? m.points[k].p_WB : m.points[k].p_WA), outward) < reach.height - 10 * reach.slack) return false;
  return true;
}

}  // namespace

void contact_manifolds(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB, std::vector<PieceManifold>& out) {
  std::vector<PieceWitness> found;
  contacts(margin, A, X_WA, B, X_WB, found);
  const std::vector<Reach> of_A = reaches(found, 0, A, X_WA.R), of_B = reaches(found, 1, B, X_WB.R);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const PieceWitness& x = found[i];
    A.with_piece(x.piece_A, [&](const Compound::Piece& P) {
      B.with_piece(x.piece_B, [&](const Compound::Piece& Q) {
        const SE3d X_WP = X_WA * P.X_BP, X_WQ = X_WB * Q.X_BP;
        const Manifold m = contact_manifold(x.witness, P.shape, X_WP, Q.shape, X_WQ, margin);
        if (is_of_another(found, of_A, i, 0) && is_all_there(m, of_A[i], 0, X_WP)) return;
        if (is_of_another(found, of_B, i, 1) && is_all_there(m, of_B[i], 1, X_WQ)) return;
        out.push_back({m, x.piece_A, x.piece_B});
      });
    });
  }
}

}  // namespace robosim

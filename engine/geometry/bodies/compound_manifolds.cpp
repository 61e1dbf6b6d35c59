#include "geometry/bodies/compound_manifolds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace robosim {
namespace {

// Points of manifolds along one normal that are closer to each other than this part of the smaller piece are one.
constexpr double merged = 1e-6;

bool is_normal_of_face(const Compound::Piece& T, const Mat3d& R_WT, const Vec3d& outward) {
  if (!T.surface) return false;
  const TriangleSurface::Corners c = T.surface->corners(T.triangle);
  return !c.is_degenerate() && norm(R_WT * c.normal() - outward) <= Manifold::flat_faces;
}

double size_of(const Shape& P, const Shape& Q) {
  const double size = min_number(bounding_ball(P).radius, bounding_ball(Q).radius);
  return std::isfinite(size) ? size : 1;
}

}  // namespace

// False where there is such a point already.
bool PieceManifolds::add_point(const Vec3d& n, const ManifoldPoint& p, double size) {
  const double near = merged * size;
  auto i = std::lower_bound(points_.begin(), points_.end(), p.p_WA.x - near, [](const Point& x, double at) { return x.p_WA.x < at; });
  for (auto j = i; j != points_.end() && j->p_WA.x <= p.p_WA.x + near; ++j)
    if (squared_norm(j->p_WA - p.p_WA) <= near * near && squared_norm(j->p_WB - p.p_WB) <= near * near && norm(j->n - n) <= Manifold::flat_faces) return false;
  while (i != points_.end() && i->p_WA.x < p.p_WA.x) ++i;
  points_.insert(i, {p.p_WA, p.p_WB, n});
  return true;
}

void PieceManifolds::keep_new_points(Manifold& m, double size) {
  int kept = 0;
  for (int i = 0; i < m.n_points; ++i)
    if (add_point(m.n, m.points[i], size)) {
      if (kept != i) m.points[kept] = m.points[i];
      ++kept;
    }
  m.n_points = kept, m.deepest = 0;
  for (int i = 1; i < kept; ++i)
    if (m.points[i].gap < m.points[m.deepest].gap) m.deepest = i;
}

void PieceManifolds::find(double margin, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB, std::vector<PieceManifold>& out) {
  found_.clear(), pairs_.clear(), points_.clear();
  contacts(margin, A, X_WA, B, X_WB, found_);
  const std::size_t first = out.size();
  bool any_surface = false;
  for (const PieceWitness& x : found_)
    A.with_piece(x.piece_A, [&](const Compound::Piece& P) {
      B.with_piece(x.piece_B, [&](const Compound::Piece& Q) {
        const SE3d X_WP = X_WA * P.X_BP, X_WQ = X_WB * Q.X_BP;
        out.push_back({contact_manifold(x.witness, P.shape, X_WP, Q.shape, X_WQ, margin), x.piece_A, x.piece_B});
        const Vec3d& n = out.back().manifold.n;
        pairs_.push_back({size_of(P.shape, Q.shape), is_normal_of_face(P, X_WP.R, n) || is_normal_of_face(Q, X_WQ.R, -n)});
        any_surface |= P.surface || Q.surface;
      });
    });
  if (!any_surface || found_.size() < 2) return;
  for (const bool of_faces : {true, false})
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      if (pairs_[i].is_of_face == of_faces) keep_new_points(out[first + i].manifold, pairs_[i].size);
  std::erase_if(out, [](const PieceManifold& x) { return x.manifold.n_points == 0; });
}

}  // namespace robosim

#include "geometry/bodies/compound_manifolds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "geometry/manifolds/turned_manifold.h"

namespace robosim {
namespace {

// Tolerance within which points of manifolds along one normal coincide, relative to the size of the
// smaller piece.
constexpr double merged = 1e-6;

bool is_normal_of_face(const Compound::Piece& T, const Mat3d& R_WT, const Vec3d& outward) {
  if (!T.surface) return false;
  const TriangleSurface::Corners c = T.surface->corners(T.triangle);
  return !c.is_degenerate() && norm(R_WT * c.normal() - outward) <= Manifold::flat_faces;
}

// Face of a triangle along which two pieces touch, if a one-sided triangle faces the other piece.
struct Face {
  int side;
  Vec3d n;  // from A to B
};

std::optional<Face> face_between(const Compound::Piece& P, const SE3d& X_WP,
                                 const Compound::Piece& Q, const SE3d& X_WQ) {
  const Compound::Piece* pieces[2] = {&P, &Q};
  Vec3d outward[2];
  double size[2] = {-1, -1};
  for (int s = 0; s < 2; ++s) {
    if (!pieces[s]->surface) continue;
    const TriangleSurface::Corners c = pieces[s]->surface->corners(pieces[s]->triangle);
    if (c.is_degenerate()) return std::nullopt;
    outward[s] = (s ? X_WQ : X_WP).R * c.normal();
    size[s] = bounding_ball(pieces[s]->shape).radius;
  }
  if (size[0] >= 0 && size[1] >= 0 && !(dot(outward[0], outward[1]) < 0)) return std::nullopt;
  const int side = size[1] >= size[0] ? 1 : 0;
  return Face{side, side ? -outward[1] : outward[0]};
}

double size_of(const Shape& P, const Shape& Q) {
  const double size = min_number(bounding_ball(P).radius, bounding_ball(Q).radius);
  return std::isfinite(size) ? size : 1;
}

}  // namespace

// Insert a point. Return false if there is such a point already.
bool PieceManifolds::add_point(const Vec3d& n, const ManifoldPoint& p, double size) {
  const double near = merged * size;
  auto i = std::lower_bound(points_.begin(), points_.end(), p.p_WA.x - near,
                            [](const Point& x, double at) { return x.p_WA.x < at; });
  for (auto j = i; j != points_.end() && j->p_WA.x <= p.p_WA.x + near; ++j)
    if (squared_norm(j->p_WA - p.p_WA) <= near * near &&
        squared_norm(j->p_WB - p.p_WB) <= near * near && norm(j->n - n) <= Manifold::flat_faces)
      return false;
  while (i != points_.end() && i->p_WA.x < p.p_WA.x) ++i;
  points_.insert(i, {p.p_WA, p.p_WB, n});
  return true;
}

// Return true if a point of another normal touches the same place. The crossing of two sides
// depends on the normal along which the sides are seen.
bool PieceManifolds::has_place(const Vec3d& n, const ManifoldPoint& p, double size) const {
  return std::any_of(points_.begin(), points_.end(), [&](const Point& x) {
    const double near =
        merged * size +
        (p.anchor == ManifoldPoint::Anchor::crossing ? std::fabs(p.gap) * norm(x.n - n) : 0);
    return squared_norm(x.p_WA - p.p_WA) <= near * near ||
           squared_norm(x.p_WB - p.p_WB) <= near * near;
  });
}

void PieceManifolds::keep_new_points(Manifold& m, const Pair& pair) {
  int kept = 0;
  for (int i = 0; i < m.n_points; ++i) {
    const ManifoldPoint& p = m.points[i];
    if ((pair.is_left_out && has_place(m.n, p, pair.size)) || !add_point(m.n, p, pair.size))
      continue;
    if (kept != i) m.points[kept] = p;
    ++kept;
  }
  m.n_points = kept;
  m.deepest = 0;
  for (int i = 1; i < kept; ++i)
    if (m.points[i].gap < m.points[m.deepest].gap) m.deepest = i;
}

void PieceManifolds::find(double margin, const Body& A, const SE3d& X_WA, const Body& B,
                          const SE3d& X_WB, std::vector<PieceManifold>& out) {
  found_.clear();
  pairs_.clear();
  points_.clear();
  left_out_.pairs.clear();
  contacts(margin, A, X_WA, B, X_WB, found_, &left_out_);
  const std::size_t first = out.size();
  bool any_surface = false;
  // Manifolds of contacts.
  for (const PieceWitness& x : found_)
    A.with_piece(x.piece_A, [&](const Compound::Piece& P) {
      B.with_piece(x.piece_B, [&](const Compound::Piece& Q) {
        const SE3d X_WP = X_WA * P.X_BP, X_WQ = X_WB * Q.X_BP;
        out.push_back({contact_manifold(x.witness, P.shape, X_WP, Q.shape, X_WQ, margin), x.piece_A,
                       x.piece_B});
        const Vec3d& n = out.back().manifold.n;
        pairs_.push_back({size_of(P.shape, Q.shape),
                          is_normal_of_face(P, X_WP.R, n) || is_normal_of_face(Q, X_WQ.R, -n),
                          false});
        any_surface |= P.surface || Q.surface;
      });
    });
  // Manifolds of the pairs left out, along the face of a triangle.
  for (const PieceWitness& x : left_out_.pairs)
    A.with_piece(x.piece_A, [&](const Compound::Piece& P) {
      B.with_piece(x.piece_B, [&](const Compound::Piece& Q) {
        const SE3d X_WP = X_WA * P.X_BP, X_WQ = X_WB * Q.X_BP;
        const std::optional<Face> face = face_between(P, X_WP, Q, X_WQ);
        if (!face) return;
        const double least = std::min(0.0, -left_out_.depth);
        const Manifold m =
            face_manifold(face->side, face->n, P.shape, X_WP, Q.shape, X_WQ, least, margin);
        if (m.n_points == 0) return;
        out.push_back({m, x.piece_A, x.piece_B});
        pairs_.push_back({size_of(P.shape, Q.shape), true, true});
      });
    });
  if (!any_surface || pairs_.size() < 2) return;
  // Keep each point once: normals of faces first, then other normals, then pairs left out.
  const auto keep = [&](bool left_out, bool of_face) {
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      if (pairs_[i].is_left_out == left_out && pairs_[i].is_of_face == of_face)
        keep_new_points(out[first + i].manifold, pairs_[i]);
  };
  keep(false, true);
  keep(false, false);
  keep(true, true);
  std::erase_if(out, [](const PieceManifold& x) { return x.manifold.n_points == 0; });
  const auto place = [](const PieceManifold& x) { return std::pair(x.piece_A, x.piece_B); };
  if (!left_out_.pairs.empty())
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
              [&](const PieceManifold& x, const PieceManifold& y) { return place(x) < place(y); });
}

}  // namespace robosim

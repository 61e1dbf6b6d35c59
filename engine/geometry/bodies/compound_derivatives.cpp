#include "geometry/bodies/compound_derivatives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "geometry/bodies/one_sided.h"
#include "geometry/directions.h"
#include "geometry/shapes/triangle.h"

namespace robosim {
namespace {

using Piece = Compound::Piece;

WitnessRate operator+(WitnessRate a, const WitnessRate& b) { return a += b; }
WitnessRate operator*(double s, const WitnessRate& a) {
  return {s * a.distance, s * a.normal, s * a.p_WA, s * a.p_WB};
}

// Rate of the witness as a side moves by v_W, from the rates in its linear twist along the axes of
// its frame.
WitnessRate moved(const WitnessRate* linear, const Mat3d& R_WP, const Vec3d& v_W) {
  const Vec3d v = transpose_times(R_WP, v_W);
  return v.x * linear[0] + v.y * linear[1] + v.z * linear[2];
}

WitnessRate swapped(const WitnessRate& a) { return {a.distance, -a.normal, a.p_WB, a.p_WA}; }

// Exchange the two sides.
WitnessDerivatives swapped(const WitnessDerivatives& d) {
  WitnessDerivatives x = d;
  for (int k = 0; k < 12; ++k) x.twist[k] = swapped(d.twist[(k + 6) % 12]);
  for (int side = 0; side < 2; ++side) {
    const int other = 1 - side;
    x.n_sizes[side] = d.n_sizes[other];
    x.scale[side] = swapped(d.scale[other]);
    for (int k = 0; k < WitnessDerivatives::max_sizes; ++k)
      x.size[side][k] = swapped(d.size[other][k]);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) x.corner[side][i][k] = swapped(d.corner[other][i][k]);
  }
  std::swap(x.A, x.B);
  return x;
}

// Rotation of a face's normal n, along which a translation separates, by the vertices of triangle
// T: n turns by -slope (n . d) as a vertex moves by d. The face is T itself or a neighbor, which
// shares two vertices with T.
struct NormalSlopes {
  Vec3d of[3];

  NormalSlopes(const Piece& T, const Mat3d& R_WT, const Vec3d& n_W) {
    const Vec3d n = transpose_times(R_WT, n_W);
    const TriangleSurface::Corners own = T.surface->corners(T.triangle);
    set(own, {0, 1, 2});
    double nearest = dot(own.normal(), n);
    for (int k = 0; k < 3; ++k) {
      const int h = T.surface->across(T.triangle, k);
      if (h < 0) continue;
      const TriangleSurface::Corners c = T.surface->corners(h / 3);
      if (!(dot(c.normal(), n) > nearest + 1e-15)) continue;
      nearest = dot(c.normal(), n);
      std::array<int, 3> of_T{-1, -1, -1};  // the shared edge has opposite directions
      of_T[h % 3] = (k + 1) % 3;
      of_T[(h % 3 + 1) % 3] = k;
      set(c, of_T);
    }
    for (Vec3d& slope : of) slope = R_WT * slope;
  }

 private:
  // of_T: numbers of the face's corners among T's corners, or -1.
  void set(const TriangleSurface::Corners& c, const std::array<int, 3>& of_T) {
    const TriangleCore face{{c[0], c[1], c[2]}};
    const LocalSurface s = face.local_surface(face.center(), c.normal());
    for (Vec3d& slope : of) slope = {};
    for (int i = 0; i < s.n_corners; ++i)
      if (const int k = of_T[s.corner[i].vertex]; k >= 0) of[k] = s.corner[i].slope;
  }
};

// Derivatives of the translation of S (side A) out of triangle T (side B) along the outward normal
// -w.normal, which is fixed in T's frame.
WitnessDerivatives way_out_derivatives(const Witness& w, const Piece& S, const SE3d& X_WS,
                                       const Piece& T, const SE3d& X_WT) {
  const Vec3d n = -w.normal;
  const WayOut out = way_out(S.shape, X_WS, T.shape, X_WT, n);
  // Features that touch at the end of the translation, and their rates.
  const SE3d X_end{X_WS.R, X_WS.p - out.witness.distance * n};
  Witness touch = out.touch;
  touch.distance = 0;
  WitnessDerivatives d = witness_derivatives(touch, S.shape, X_end, T.shape, X_WT);
  const double t = -w.distance, slope = -dot(touch.normal, n);
  if (!out.found || !(slope > 1e-9)) {
    WitnessDerivatives none;
    none.A = d.A;
    none.B = d.B;
    none.one_sided = true;
    return none;
  }
  const WitnessDerivatives at_end = d;
  // r: rate at fixed t and n. dn: change of n.
  const auto rate = [&](const WitnessRate& r, const Vec3d& dn) {
    const WitnessRate turned = r + moved(at_end.twist, X_WS.R, t * dn);
    const double dt = -turned.distance / slope;
    WitnessRate x = turned + moved(at_end.twist, X_WS.R, dt * n);
    x.p_WA = x.p_WA - dt * n - t * dn;
    x.distance = -dt;
    x.normal = -dn;
    return x;
  };
  // Poses, sizes and the vertices of S.
  const Vec3d none;
  for (int k = 0; k < 12; ++k)
    d.twist[k] = rate(d.twist[k], k < 9 ? none : cross(X_WT.R.col(k - 9), n));
  for (int side = 0; side < 2; ++side) {
    for (int k = 0; k < d.n_sizes[side]; ++k) d.size[side][k] = rate(d.size[side][k], none);
    d.scale[side] = rate(d.scale[side], none);
  }
  for (int i = 0; i < d.A.n_corners; ++i)
    for (int k = 0; k < 3; ++k) d.corner[0][i][k] = rate(d.corner[0][i][k], none);
  // Vertices of T, which move the point and turn n.
  const NormalSlopes slopes(T, X_WT.R, n);
  const LocalSurface touching = d.B;
  d.B.n_corners = 3;
  for (int i = 0; i < 3; ++i) {
    d.B.corner[i] = {i, 0, slopes.of[i]};
    WitnessRate moves[3];  // with the feature that touches
    for (int j = 0; j < touching.n_corners; ++j)
      if (touching.corner[j].vertex == i) {
        d.B.corner[i].weight = touching.corner[j].weight;
        std::copy(at_end.corner[1][j], at_end.corner[1][j] + 3, moves);
      }
    for (int k = 0; k < 3; ++k)
      d.corner[1][i][k] = rate(moves[k], -dot(n, X_WT.R.col(k)) * slopes.of[i]);
  }
  return d;
}

// Return true if m and all directions barely beside it are normals of the surface of T. With
// edge_W, only the directions that m may turn to while it stays perpendicular to that edge count.
bool has_normals_about(const Piece& T, const Mat3d& R_WT, const Vec3d& m_W, const Vec3d* edge_W) {
  constexpr double turn = 1e-8;  // [rad] ten times the angular tolerance of TriangleSurface
  const Vec3d m = transpose_times(R_WT, m_W);
  if (!T.surface->has_normal(T.triangle, m)) return false;
  Vec3d t0, t1;
  if (edge_W) {
    t1 = transpose_times(R_WT, *edge_W);
    t0 = cross(t1, m);
  } else
    tangents(m, t0, t1);
  for (int i = 0; i < 8; i += edge_W ? 4 : 1) {
    const double angle = 0.25 * std::numbers::pi * i;
    const Vec3d turned = m + turn * (std::cos(angle) * t0 + (edge_W ? 0 : std::sin(angle)) * t1);
    if (!T.surface->has_normal(T.triangle, turned * (1 / norm(turned)))) return false;
  }
  return true;
}

// Check the normals of a contact that touches T at the feature s with T's outward normal m_W.
bool has_normals_about(const Piece& T, const Mat3d& R_WT, const Vec3d& m_W, const LocalSurface& s) {
  return s.kind == FeatureKind::face ||
         has_normals_about(T, R_WT, m_W, s.kind == FeatureKind::edge ? &s.axis[0] : nullptr);
}

// Witness of the convex pieces themselves, computed in the order that one_sided_distance uses.
Witness plain_witness(const Piece& P, const SE3d& X_WP, const Piece& Q, const SE3d& X_WQ) {
  return Q.surface ? signed_distance(P.shape, X_WP, Q.shape, X_WQ)
                   : swapped(signed_distance(Q.shape, X_WQ, P.shape, X_WP));
}

double size_of(const Piece& P, const Piece& Q) {
  double size = 0;
  for (const double radius : {bounding_ball(P.shape).radius, bounding_ball(Q.shape).radius})
    if (std::isfinite(radius)) size = std::max(size, radius);
  return size;
}

// Return true if a translation out of surfaces is along a normal of Q. tied: set if the
// translations along normals of both surfaces are equally short.
bool leaves_second(const Witness& w, const Witness& plain, const Piece& P, const SE3d& X_WP,
                   const Piece& Q, const SE3d& X_WQ, bool& tied) {
  if (!P.surface || !Q.surface) return Q.surface;
  if (plain.distance > 0)
    return squared_norm(X_WQ.R * Q.surface->corners(Q.triangle).normal() + w.normal) < 1e-24;
  const Witness from_Q = one_sided_distance(P.shape, X_WP, Q.shape, *Q.surface, Q.triangle, X_WQ);
  const Witness from_P =
      swapped(one_sided_distance(Q.shape, X_WQ, P.shape, *P.surface, P.triangle, X_WP));
  tied = std::fabs(from_Q.distance - from_P.distance) < feature_tolerance * size_of(P, Q);
  return dot(from_Q.normal, w.normal) >= dot(from_P.normal, w.normal);
}

// Derivatives for two pieces, in their own frames.
WitnessDerivatives pair_derivatives(const Witness& w, const Piece& P, const SE3d& X_WP,
                                    const Piece& Q, const SE3d& X_WQ,
                                    const DerivativesWanted& wanted = {}) {
  const bool has_half_space =
      P.shape.type == ShapeType::half_space || Q.shape.type == ShapeType::half_space;
  if ((!P.surface && !Q.surface) || w.distance > 0 || has_half_space)
    return witness_derivatives(w, P.shape, X_WP, Q.shape, X_WQ, wanted);
  const Witness plain = plain_witness(P, X_WP, Q, X_WQ);
  const double turn = plain.distance > 0 ? 2 : norm(plain.normal - w.normal);
  // The shortest translation of all depends on the pieces alone, provided that it is along an
  // outward normal.
  if (turn <= 1e-12) {
    WitnessDerivatives d = witness_derivatives(w, P.shape, X_WP, Q.shape, X_WQ, wanted);
    d.one_sided |= !(P.surface && has_normals_about(P, X_WP.R, w.normal, d.A)) &&
                   !(Q.surface && has_normals_about(Q, X_WQ.R, -w.normal, d.B));
    return d;
  }
  bool tied = false;
  WitnessDerivatives d = leaves_second(w, plain, P, X_WP, Q, X_WQ, tied)
                             ? way_out_derivatives(w, P, X_WP, Q, X_WQ)
                             : swapped(way_out_derivatives(swapped(w), Q, X_WQ, P, X_WP));
  d.one_sided |= tied || turn < feature_tolerance;
  return d;
}

// Convert the twist and scale of a piece to those of its body, for `side`.
void carry_to_body(WitnessDerivatives& d, int side, const SE3d& X_WB, const SE3d& X_WP) {
  WitnessRate* twist = d.twist + 6 * side;
  WitnessRate linear[3], angular[3];
  std::copy(twist, twist + 3, linear);
  std::copy(twist + 3, twist + 6, angular);
  const Vec3d arm = X_WP.p - X_WB.p;
  for (int k = 0; k < 3; ++k) {
    const Vec3d axis = X_WB.R.col(k);
    twist[k] = moved(linear, X_WP.R, axis);
    twist[3 + k] = moved(angular, X_WP.R, axis) + moved(linear, X_WP.R, cross(axis, arm));
  }
  d.scale[side] = d.scale[side] + moved(linear, X_WP.R, arm);
}

}  // namespace

WitnessDerivatives piece_derivatives(const PieceWitness& closest, const Body& A, const SE3d& X_WA,
                                     const Body& B, const SE3d& X_WB) {
  const Witness& w = closest.witness;
  WitnessDerivatives d;
  double size = 0;
  A.with_piece(closest.piece_A, [&](const Piece& P) {
    B.with_piece(closest.piece_B, [&](const Piece& Q) {
      const SE3d X_WP = X_WA * P.X_BP, X_WQ = X_WB * Q.X_BP;
      d = pair_derivatives(w, P, X_WP, Q, X_WQ);
      carry_to_body(d, 0, X_WA, X_WP);
      carry_to_body(d, 1, X_WB, X_WQ);
      size = size_of(P, Q);
    });
  });
  // Look for another pair that is as close.
  const double near = feature_tolerance * size;
  if (d.one_sided || !std::isfinite(w.distance)) return d;
  d.one_sided = visit_near(std::max(0.0, w.distance + near), A, X_WA, B, X_WB, [&](int a, int b) {
    if (a == closest.piece_A && b == closest.piece_B) return false;
    const Witness x = piece_distance(A, X_WA, a, B, X_WB, b);
    return x.distance <= w.distance + near &&
           (norm(x.normal - w.normal) > feature_tolerance ||
            std::max(norm(x.p_WA - w.p_WA), norm(x.p_WB - w.p_WB)) > near);
  });
  return d;
}

void manifold_derivatives(const Manifold& manifold, const Body& A, const SE3d& X_WA, int piece_A,
                          const Body& B, const SE3d& X_WB, int piece_B, ManifoldDerivatives& out,
                          const DerivativesWanted& wanted) {
  A.with_piece(piece_A, [&](const Piece& P) {
    B.with_piece(piece_B, [&](const Piece& Q) {
      const SE3d X_WP = X_WA * P.X_BP, X_WQ = X_WB * Q.X_BP;
      const Witness& w = manifold.witness;
      manifold_derivatives(
          manifold, P.shape, X_WP, Q.shape, X_WQ,
          [&] { return pair_derivatives(w, P, X_WP, Q, X_WQ, wanted); }, out, wanted);
      if (manifold.reference < 0 || w.distance > 0) return;
      // A shape's face on corners of a triangle has the normal only while the corners may be
      // touched along it.
      const Piece &face = manifold.reference ? Q : P, &corners = manifold.reference ? P : Q;
      if (face.surface || !corners.surface || face.shape.type == ShapeType::half_space) return;
      if (has_normals_about(corners, (manifold.reference ? X_WP : X_WQ).R,
                            manifold.reference ? w.normal : -w.normal, nullptr))
        return;
      for (int i = 0; i < out.n_points; ++i) out.points[i].one_sided = true;
    });
  });
}

}  // namespace robosim

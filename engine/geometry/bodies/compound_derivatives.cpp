#include "geometry/bodies/compound_derivatives.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/bodies/one_sided.h"

namespace robosim {
namespace {

using Piece = Compound::Piece;

WitnessRate operator+(WitnessRate a, const WitnessRate& b) { return a += b; }
WitnessRate operator*(double s, const WitnessRate& a) { return {s * a.distance, s * a.normal, s * a.p_WA, s * a.p_WB}; }

// What moving a side by v_W does: rates in its linear twist, along the axes of its frame.
WitnessRate moved(const WitnessRate* linear, const Mat3d& R_WP, const Vec3d& v_W) {
  const Vec3d v = transpose_times(R_WP, v_W);
  return v.x * linear[0] + v.y * linear[1] + v.z * linear[2];
}

WitnessRate swapped(const WitnessRate& a) { return {a.distance, -a.normal, a.p_WB, a.p_WA}; }

// The same with the two sides exchanged.
WitnessDerivatives swapped(const WitnessDerivatives& d) {
  WitnessDerivatives x = d;
  for (int k = 0; k < 12; ++k) x.twist[k] = swapped(d.twist[(k + 6) % 12]);
  for (int side = 0; side < 2; ++side) {
    const int other = 1 - side;
    x.n_sizes[side] = d.n_sizes[other], x.scale[side] = swapped(d.scale[other]);
    for (int k = 0; k < WitnessDerivatives::max_sizes; ++k) x.size[side][k] = swapped(d.size[other][k]);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) x.corner[side][i][k] = swapped(d.corner[other][i][k]);
  }
  std::swap(x.A, x.B);
  return x;
}

// Of the way out of triangle T (side B) that S (side A) takes along the outward normal -w.normal.
WitnessDerivatives way_out_derivatives(const Witness& w, const Piece& S, const SE3d& X_WS, const Piece& T, const SE3d& X_WT) {
  const Vec3d n = -w.normal;
  const WayOut out = way_out(S.shape, X_WS, T.shape, X_WT, n);
  // What touches at the end supports S and T along n itself: a contact like any other.
  if (out.found && squared_norm(out.touch.normal - w.normal) < 1e-18) return witness_derivatives(w, S.shape, X_WS, T.shape, X_WT);
  const SE3d X_end{X_WS.R, X_WS.p - out.witness.distance * n};
  Witness touch = out.touch;
  touch.distance = 0;
  WitnessDerivatives d = witness_derivatives(touch, S.shape, X_end, T.shape, X_WT);
  const double t = -w.distance, slope = -dot(touch.normal, n);
  if (!out.found || !(slope > 1e-9)) {
    WitnessDerivatives none;
    none.A = d.A, none.B = d.B, none.one_sided = true;
    return none;
  }
  const WitnessDerivatives at_end = d;
  // r: at fixed t and n; n turns by dn.
  const auto rate = [&](const WitnessRate& r, const Vec3d& dn) {
    const WitnessRate turned = r + moved(at_end.twist, X_WS.R, t * dn);
    const double dt = -turned.distance / slope;
    WitnessRate x = turned + moved(at_end.twist, X_WS.R, dt * n);
    x.p_WA = x.p_WA - dt * n - t * dn, x.distance = -dt, x.normal = -dn;
    return x;
  };
  const Vec3d none;
  for (int k = 0; k < 12; ++k) d.twist[k] = rate(d.twist[k], k < 9 ? none : cross(X_WT.R.col(k - 9), n));
  for (int side = 0; side < 2; ++side) {
    for (int k = 0; k < d.n_sizes[side]; ++k) d.size[side][k] = rate(d.size[side][k], none);
    d.scale[side] = rate(d.scale[side], none);
  }
  for (int i = 0; i < d.A.n_corners; ++i)
    for (int k = 0; k < 3; ++k) d.corner[0][i][k] = rate(d.corner[0][i][k], none);
  // n is the normal of T's own face, which all three vertices turn; that of a neighbour hangs on vertices that are not T's.
  const Vec3d own = X_WT.R * T.surface->corners(T.triangle).normal();
  const bool is_own = squared_norm(own - n) < 1e-20;
  const LocalSurface face = visit(T.shape, [&](const auto& core) {
    if constexpr (requires { core.centre(); }) return core.local_surface(core.centre(), transpose_times(X_WT.R, own));
    else return LocalSurface();
  });
  d.one_sided |= !is_own;
  const LocalSurface touching = d.B;
  for (int i = 0; i < 3; ++i) {
    d.B.corner[i] = {i, 0, X_WT.R * face.corner[i].slope};
    for (int k = 0; k < 3; ++k) d.corner[1][i][k] = rate(WitnessRate(), is_own ? -dot(n, X_WT.R.col(k)) * d.B.corner[i].slope : none);
  }
  d.B.n_corners = 3;
  for (int j = 0; j < touching.n_corners; ++j) {
    const int i = touching.corner[j].vertex;
    d.B.corner[i].weight = touching.corner[j].weight;
    for (int k = 0; k < 3; ++k)
      d.corner[1][i][k] = rate(at_end.corner[1][j][k], is_own ? -dot(n, X_WT.R.col(k)) * d.B.corner[i].slope : none);
  }
  return d;
}

// Whether a way out of surfaces is one of Q's.
bool leaves_second(const Witness& w, const Witness& plain, const Piece& P, const SE3d& X_WP, const Piece& Q, const SE3d& X_WQ) {
  if (!P.surface || !Q.surface) return Q.surface;
  if (plain.distance > 0) return squared_norm(X_WQ.R * Q.surface->corners(Q.triangle).normal() + w.normal) < 1e-24;
  return one_sided_distance(P.shape, X_WP, Q.shape, *Q.surface, Q.triangle, X_WQ).distance == w.distance;
}

// Of two pieces, in their own frames.
WitnessDerivatives pair_derivatives(const Witness& w, const Piece& P, const SE3d& X_WP, const Piece& Q, const SE3d& X_WQ) {
  if ((P.surface || Q.surface) && w.distance <= 0) {
    const Witness plain = signed_distance(P.shape, X_WP, Q.shape, X_WQ);
    // The shortest way out of all needs no more than what the pieces are.
    if (plain.distance > 0 || squared_norm(plain.normal - w.normal) > 1e-24) {
      if (leaves_second(w, plain, P, X_WP, Q, X_WQ)) return way_out_derivatives(w, P, X_WP, Q, X_WQ);
      return swapped(way_out_derivatives({w.distance, w.p_WB, w.p_WA, -w.normal}, Q, X_WQ, P, X_WP));
    }
  }
  return witness_derivatives(w, P.shape, X_WP, Q.shape, X_WQ);
}

// From the twist and scale of piece to those of its body, of `side`.
void carry_to_body(WitnessDerivatives& d, int side, const SE3d& X_WB, const SE3d& X_WP) {
  WitnessRate* twist = d.twist + 6 * side;
  WitnessRate linear[3], angular[3];
  std::copy(twist, twist + 3, linear), std::copy(twist + 3, twist + 6, angular);
  const Vec3d arm = X_WP.p - X_WB.p;
  for (int k = 0; k < 3; ++k) {
    const Vec3d axis = X_WB.R.col(k);
    twist[k] = moved(linear, X_WP.R, axis);
    twist[3 + k] = moved(angular, X_WP.R, axis) + moved(linear, X_WP.R, cross(axis, arm));
  }
  d.scale[side] = d.scale[side] + moved(linear, X_WP.R, arm);
}

}  // namespace

WitnessDerivatives piece_derivatives(const PieceWitness& closest, const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB) {
  const Witness& w = closest.witness;
  WitnessDerivatives d;
  double size = 0;
  A.with_piece(closest.piece_A, [&](const Piece& P) {
    B.with_piece(closest.piece_B, [&](const Piece& Q) {
      const SE3d X_WP = X_WA * P.X_BP, X_WQ = X_WB * Q.X_BP;
      d = pair_derivatives(w, P, X_WP, Q, X_WQ);
      carry_to_body(d, 0, X_WA, X_WP), carry_to_body(d, 1, X_WB, X_WQ);
      for (const double radius : {bounding_ball(P.shape).radius, bounding_ball(Q.shape).radius})
        if (std::isfinite(radius)) size = std::max(size, radius);
    });
  });
  const double near = feature_tolerance * size;
  if (d.one_sided || !std::isfinite(w.distance)) return d;
  d.one_sided = visit_near(std::max(0.0, w.distance + near), A, X_WA, B, X_WB, [&](int a, int b) {
    if (a == closest.piece_A && b == closest.piece_B) return false;
    const Witness x = piece_distance(A, X_WA, a, B, X_WB, b);
    return x.distance <= w.distance + near &&
           (norm(x.normal - w.normal) > feature_tolerance || std::max(norm(x.p_WA - w.p_WA), norm(x.p_WB - w.p_WB)) > near);
  });
  return d;
}

}  // namespace robosim

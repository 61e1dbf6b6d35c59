#include "geometry/tangent_plane.h"

namespace robosim::tangent_plane {
namespace {

// One shape straight along f with radius `across`, the other nowhere (radii S): f . dn is prescribed, the rest a scalar equation.
// Q is of the straight one, Q_other of the other.
bool straight_against(double phi, const Radii& straight, const Mat2& S, double size, Mat2& P, Mat2& Q, Mat2& Q_other) {
  const Vec2 f = straight.along, g = turned(f);
  const double m = phi + straight.across + dot(g, S * g);
  Q = outer(f, f);
  if (!(std::fabs(m) > singular * size)) return false;
  P = (1 / m) * outer(g, g);
  Q = Q + (1 / m) * outer(g, straight.across * g - dot(g, S * f) * f);
  Q_other = P * S;
  return true;
}

}  // namespace

bool share_a_straight_direction(const Radii& A, const Radii& B) {
  if (A.n_straight + B.n_straight > 2) return true;
  return A.n_straight == 1 && B.n_straight == 1 && std::fabs(dot(turned(A.along), B.along)) < singular;
}

Response response(double phi, const Radii& A, const Radii& B, double size) {
  Response r;
  if (A.n_straight == 2) {
    r.Q_A = one, r.H = B.finite;
  } else if (B.n_straight == 2) {
    r.Q_B = one, r.H = A.finite;
  } else if (A.n_straight == 1 && B.n_straight == 1) {
    const Vec2 &f = A.along, &e = B.along, f_across = turned(f), e_across = turned(e);
    const double ef = dot(e_across, f), fe = dot(f_across, e);
    r.Q_A = (1 / ef) * outer(e_across, f);
    r.Q_B = (1 / fe) * outer(f_across, e);
    const Mat2 Qt = transpose(r.Q_B);
    const Vec2 by_A = A.across * (Qt * f_across);                              // f_across . H
    const Vec2 by_B = B.across * e_across - (B.across + phi) * (Qt * e_across);  // e_across . H
    r.H = (1 / fe) * outer(e, by_A) + (1 / ef) * outer(f, by_B);
  } else if (A.n_straight == 1) {
    r.regular = straight_against(phi, A, B.finite, size, r.P, r.Q_A, r.Q_B);
    r.H = B.finite - (B.finite + phi * one) * r.Q_B;
  } else if (B.n_straight == 1) {
    r.regular = straight_against(phi, B, A.finite, size, r.P, r.Q_B, r.Q_A);
    r.H = A.finite * r.Q_B;
  } else {
    const Mat2 M = phi * one + A.finite + B.finite;
    const double det = M.row[0].x * M.row[1].y - M.row[0].y * M.row[1].x;
    r.regular = std::fabs(det) > singular * size * size;
    if (r.regular) {
      r.P = (1 / det) * Mat2{{{M.row[1].y, -M.row[0].y}, {-M.row[1].x, M.row[0].x}}};
      r.Q_A = r.P * A.finite, r.Q_B = r.P * B.finite, r.H = A.finite * r.Q_B;
    }
  }
  if (!r.regular) r = {{}, one, {}, B.finite, false};
  return r;
}

}  // namespace robosim::tangent_plane

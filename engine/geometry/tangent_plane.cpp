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
  constexpr Mat2 zero{};
  const Response irregular{zero, one, zero, B.finite, false};
  if (A.n_straight == 2) return {zero, one, zero, B.finite, true};
  if (B.n_straight == 2) return {zero, zero, one, A.finite, true};
  if (A.n_straight == 1 && B.n_straight == 1) {
    const Vec2 &f = A.along, &e = B.along, f_across = turned(f), e_across = turned(e);
    const double ef = dot(e_across, f), fe = dot(f_across, e);
    const Mat2 Q_A = (1 / ef) * outer(e_across, f), Q_B = (1 / fe) * outer(f_across, e), Qt = transpose(Q_B);
    const Vec2 by_A = A.across * (Qt * f_across);                              // f_across . H
    const Vec2 by_B = B.across * e_across - (B.across + phi) * (Qt * e_across);  // e_across . H
    return {zero, Q_A, Q_B, (1 / fe) * outer(e, by_A) + (1 / ef) * outer(f, by_B), true};
  }
  if (A.n_straight == 1) {
    Mat2 P, Q_A, Q_B;
    if (!straight_against(phi, A, B.finite, size, P, Q_A, Q_B)) return irregular;
    return {P, Q_A, Q_B, B.finite - (B.finite + phi * one) * Q_B, true};
  }
  if (B.n_straight == 1) {
    Mat2 P, Q_A, Q_B;
    if (!straight_against(phi, B, A.finite, size, P, Q_B, Q_A)) return irregular;
    return {P, Q_A, Q_B, A.finite * Q_B, true};
  }
  const Mat2 M = phi * one + A.finite + B.finite;
  const double det = M.row[0].x * M.row[1].y - M.row[0].y * M.row[1].x;
  if (!(std::fabs(det) > singular * size * size)) return irregular;
  const Mat2 P = (1 / det) * Mat2{{{M.row[1].y, -M.row[0].y}, {-M.row[1].x, M.row[0].x}}};
  const Mat2 Q_B = P * B.finite;
  return {P, P * A.finite, Q_B, A.finite * Q_B, true};
}

}  // namespace robosim::tangent_plane

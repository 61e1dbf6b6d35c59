// Linear algebra in the tangent plane of a contact: the response of the common normal and the
// witness points to motions of two surfaces.
//
// See contact_factors.h for the equations of P, Q_A, Q_B and H.
#pragma once

#include <cmath>

#include "geometry/local_surface.h"

namespace robosim::tangent_plane {

// Vectors and matrices of the tangent plane.
struct Vec2 {
  double x = 0, y = 0;
};
ROBOSIM_INLINE double dot(const Vec2& a, const Vec2& b) { return a.x * b.x + a.y * b.y; }
ROBOSIM_INLINE Vec2 operator*(double s, const Vec2& a) { return {s * a.x, s * a.y}; }
ROBOSIM_INLINE Vec2 operator+(const Vec2& a, const Vec2& b) { return {a.x + b.x, a.y + b.y}; }
ROBOSIM_INLINE Vec2 operator-(const Vec2& a, const Vec2& b) { return {a.x - b.x, a.y - b.y}; }
inline Vec2 turned(const Vec2& a) { return {-a.y, a.x}; }

struct Mat2 {
  Vec2 row[2];

  Mat2() = default;
  ROBOSIM_INLINE constexpr Mat2(const Vec2& a, const Vec2& b) : row{a, b} {}
  ROBOSIM_INLINE constexpr Mat2(const Mat2& o)
      : row{{o.row[0].x, o.row[0].y}, {o.row[1].x, o.row[1].y}} {}
  ROBOSIM_INLINE constexpr Mat2& operator=(const Mat2& o) {
    row[0].x = o.row[0].x;
    row[0].y = o.row[0].y;
    row[1].x = o.row[1].x;
    row[1].y = o.row[1].y;
    return *this;
  }
};
ROBOSIM_INLINE Mat2 operator+(const Mat2& a, const Mat2& b) {
  return {a.row[0] + b.row[0], a.row[1] + b.row[1]};
}
ROBOSIM_INLINE Mat2 operator-(const Mat2& a, const Mat2& b) {
  return {a.row[0] - b.row[0], a.row[1] - b.row[1]};
}
ROBOSIM_INLINE Mat2 operator*(double s, const Mat2& a) { return {s * a.row[0], s * a.row[1]}; }
ROBOSIM_INLINE Vec2 operator*(const Mat2& a, const Vec2& x) {
  return {dot(a.row[0], x), dot(a.row[1], x)};
}
ROBOSIM_INLINE Mat2 transpose(const Mat2& a) {
  return {{a.row[0].x, a.row[1].x}, {a.row[0].y, a.row[1].y}};
}
ROBOSIM_INLINE Mat2 operator*(const Mat2& a, const Mat2& b) {
  const Mat2 t = transpose(b);
  return {{dot(a.row[0], t.row[0]), dot(a.row[0], t.row[1])},
          {dot(a.row[1], t.row[0]), dot(a.row[1], t.row[1])}};
}
ROBOSIM_INLINE Mat2 outer(const Vec2& a, const Vec2& b) { return {a.x * b, a.y * b}; }
// Normalized vector; zero stays zero. If the length is 1 to half the digits, one step of Newton's
// method yields all digits without a square root.
ROBOSIM_INLINE Vec2 unit(const Vec2& a) {
  const double squared = dot(a, a), off = squared - 1;
  if (std::fabs(off) < 1e-8) return (1 - 0.5 * off) * a;
  return squared > 0 ? (1 / std::sqrt(squared)) * a : a;
}
inline constexpr Mat2 one{{1, 0}, {0, 1}};
inline Mat2 diagonal(double s) { return {{s, 0}, {0, s}}; }

// Principal radii of a surface in the tangent plane: S if no direction is straight, otherwise the
// straight directions.
struct Radii {
  Mat2 finite;
  int n_straight = 0;
  Vec2 along;         // the straight direction if n_straight == 1,
  double across = 0;  // and the radius across it

  // Radii of a surface, each increased by `rounding`. Axes::square normalizes the axes in the
  // tangent plane. Axes::nearly omits this, for axes that are only nearly perpendicular to the
  // normal.
  enum class Axes { square, nearly };
  Radii(const LocalSurface& s, const Vec3d& t0, const Vec3d& t1, double rounding = 0,
        Axes axes = Axes::square) {
    if (s.radius[0] == s.radius[1]) {  // round, corner or face
      if (s.is_straight(0))
        n_straight = 2;
      else
        finite = (s.radius[0] + rounding) * one;
      return;
    }
    const bool is_straight = s.is_straight(0) || s.is_straight(1);
    for (int i = 0; i < 2; ++i) {
      const double radius = s.radius[i] + rounding;
      if (!s.is_straight(i)) across = radius;
      if (is_straight ? !s.is_straight(i) : radius == 0) continue;
      Vec2 e{robosim::dot(s.axis[i], t0), robosim::dot(s.axis[i], t1)};
      if (axes == Axes::square) e = unit(e);
      if (is_straight) {
        n_straight = 1;
        along = e;
      } else
        finite = finite + radius * outer(e, e);
    }
  }
  // Radii of a surface without straight directions.
  explicit Radii(const Mat2& S) : finite(S) {}
  // Radii of a surface that is straight along a direction with these components, of any length,
  // with the given radius across it.
  Radii(double e0, double e1, double across_)
      : n_straight(1), along(unit({e0, e1})), across(across_) {}
  static Radii round(double radius) { return Radii(diagonal(radius)); }
  static Radii flat() {
    Radii radii{Mat2()};
    radii.n_straight = 2;
    return radii;
  }

  // Hold the point: straight directions become corners.
  void hold() {
    if (n_straight == 1) finite = across * outer(turned(along), turned(along));
    n_straight = 0;
  }
};

// Radii of a LocalSurface over two tangents: all that derivatives with respect to poses need.
struct TangentRadii {
  Radii radii;
  double slide = LocalSurface::straight;
  bool tips = false;  // another feature takes over as soon as the normal turns
};

// Blocks of the response. `regular` is false if the 2 x 2 system is singular; the normal then turns
// with A.
struct Response {
  Mat2 P, Q_A, Q_B, H;
  bool regular = true;
};

// Angles and relative determinants below this value count as zero. The squared rounding errors of
// normals are far smaller.
inline constexpr double singular = 1e-9;

// Solve for one shape that is straight along f with radius `across`, against a shape without
// straight directions (radii S). f . dn is prescribed, and the rest is a scalar equation. Q belongs
// to the straight shape, Q_other to the other one. Returns false if the equation is singular.
ROBOSIM_INLINE bool straight_against(double phi, const Radii& straight, const Mat2& S, double size,
                                     Mat2& P, Mat2& Q, Mat2& Q_other) {
  const Vec2 f = straight.along, g = turned(f);
  const double m = phi + straight.across + dot(g, S * g);
  Q = outer(f, f);
  if (!(std::fabs(m) > singular * size)) return false;
  P = (1 / m) * outer(g, g);
  Q = Q + (1 / m) * outer(g, straight.across * g - dot(g, S * f) * f);
  Q_other = P * S;
  return true;
}

// Radii of a sphere, equal in all directions, and of a half-space.
struct Round {
  double radius;
};
struct Flat {};

// True if both shapes are straight in a common direction. The positions of the points along it are
// then undetermined.
ROBOSIM_INLINE bool share_a_straight_direction(const Radii& A, const Radii& B) {
  if (A.n_straight + B.n_straight > 2) return true;
  return A.n_straight == 1 && B.n_straight == 1 &&
         std::fabs(dot(turned(A.along), B.along)) < singular;
}

// Response of two shapes without a common straight direction. size: of the shapes [m].
ROBOSIM_INLINE Response response(double phi, const Radii& A, const Radii& B, double size) {
  constexpr Mat2 zero{};
  const Response irregular{zero, one, zero, B.finite, false};
  if (A.n_straight == 2) return {zero, one, zero, B.finite, true};
  if (B.n_straight == 2) return {zero, zero, one, A.finite, true};
  if (A.n_straight == 1 && B.n_straight == 1) {
    const Vec2 &f = A.along, &e = B.along, f_across = turned(f), e_across = turned(e);
    const double s = 1 / dot(e_across, f);  // equals -1 / dot(f_across, e)
    const Mat2 Q_A = s * outer(e_across, f), Q_B = -s * outer(f_across, e), Qt = transpose(Q_B);
    const Vec2 by_A = A.across * (Qt * f_across);                                // f_across . H
    const Vec2 by_B = B.across * e_across - (B.across + phi) * (Qt * e_across);  // e_across . H
    return {zero, Q_A, Q_B, s * (outer(f, by_B) - outer(e, by_A)), true};
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
  const Mat2 P = (1 / det) * Mat2{{M.row[1].y, -M.row[0].y}, {-M.row[1].x, M.row[0].x}};
  const Mat2 Q_B = P * B.finite;
  return {P, P * A.finite, Q_B, A.finite * Q_B, true};
}

// Responses with spheres and half-spaces. S of a sphere is a multiple of the unit matrix, and all
// blocks have the axes of the other shape.
ROBOSIM_INLINE Response response(double phi, const Round& A, const Round& B, double size) {
  const double m = phi + A.radius + B.radius;
  if (!(m * m > singular * size * size)) return {{}, one, {}, diagonal(B.radius), false};
  const double p = 1 / m, q = p * A.radius;
  return {diagonal(p), diagonal(q), diagonal(p * B.radius), diagonal(q * B.radius), true};
}
ROBOSIM_INLINE Response response(double phi, const Radii& A, const Round& B, double size) {
  const double b = B.radius;
  if (A.n_straight == 2) return {{}, one, {}, diagonal(b), true};
  if (A.n_straight == 1) {
    const double m = phi + A.across + b;
    if (!(std::fabs(m) > singular * size)) return {{}, one, {}, diagonal(b), false};
    const Vec2 g = turned(A.along);
    const Mat2 P = outer((1 / m) * g, g), Q_A = one - (phi + b) * P;
    return {P, Q_A, b * P, b * Q_A, true};
  }
  const Mat2& S = A.finite;
  const double xx = phi + b + S.row[0].x, yy = phi + b + S.row[1].y, xy = S.row[0].y,
               det = xx * yy - xy * xy;
  if (!(std::fabs(det) > singular * size * size)) return {{}, one, {}, diagonal(b), false};
  const Mat2 P = (1 / det) * Mat2{{yy, -xy}, {-xy, xx}}, Q_A = one - (phi + b) * P;
  return {P, Q_A, b * P, b * Q_A, true};
}
ROBOSIM_INLINE Response response(double, const Flat&, const Radii& B, double) {
  return {{}, one, {}, B.finite, true};
}
ROBOSIM_INLINE Response response(double, const Radii& A, const Flat&, double) {
  if (A.n_straight == 2) return {{}, one, {}, {}, true};  // B's point is held
  return {{}, {}, one, A.finite, true};
}
// B's point is held.
ROBOSIM_INLINE Response response(double, const Flat&, const Flat&, double) {
  return {{}, one, {}, {}, true};
}
ROBOSIM_INLINE Response response(double, const Flat&, const Round& B, double) {
  return {{}, one, {}, diagonal(B.radius), true};
}
ROBOSIM_INLINE Response response(double, const Round& A, const Flat&, double) {
  return {{}, {}, one, diagonal(A.radius), true};
}
ROBOSIM_INLINE Response response(double phi, const Round& A, const Radii& B, double size) {
  const Response r = response(phi, B, A, size);
  if (!r.regular) return {{}, one, {}, B.finite, false};
  return {r.P, r.Q_B, r.Q_A, r.H, true};
}

}  // namespace robosim::tangent_plane

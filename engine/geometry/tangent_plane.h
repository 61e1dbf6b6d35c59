// How a common normal and the points of two surfaces answer: linear algebra in the tangent plane of a contact.
//
// See contact_derivatives.h for the equations: P, Q_A, Q_B and H there.
#pragma once

#include <cmath>

#include "geometry/local_surface.h"

namespace robosim::tangent_plane {

// Vectors and matrices of the tangent plane.
struct Vec2 {
  double x = 0, y = 0;
};
inline double dot(const Vec2& a, const Vec2& b) { return a.x * b.x + a.y * b.y; }
inline Vec2 operator*(double s, const Vec2& a) { return {s * a.x, s * a.y}; }
inline Vec2 operator+(const Vec2& a, const Vec2& b) { return {a.x + b.x, a.y + b.y}; }
inline Vec2 operator-(const Vec2& a, const Vec2& b) { return {a.x - b.x, a.y - b.y}; }
inline Vec2 turned(const Vec2& a) { return {-a.y, a.x}; }

struct Mat2 {
  Vec2 row[2];
};
inline Mat2 operator+(const Mat2& a, const Mat2& b) { return {{a.row[0] + b.row[0], a.row[1] + b.row[1]}}; }
inline Mat2 operator-(const Mat2& a, const Mat2& b) { return {{a.row[0] - b.row[0], a.row[1] - b.row[1]}}; }
inline Mat2 operator*(double s, const Mat2& a) { return {{s * a.row[0], s * a.row[1]}}; }
inline Vec2 operator*(const Mat2& a, const Vec2& x) { return {dot(a.row[0], x), dot(a.row[1], x)}; }
inline Mat2 transpose(const Mat2& a) { return {{{a.row[0].x, a.row[1].x}, {a.row[0].y, a.row[1].y}}}; }
inline Mat2 operator*(const Mat2& a, const Mat2& b) {
  const Mat2 t = transpose(b);
  return {{{dot(a.row[0], t.row[0]), dot(a.row[0], t.row[1])}, {dot(a.row[1], t.row[0]), dot(a.row[1], t.row[1])}}};
}
inline Mat2 outer(const Vec2& a, const Vec2& b) { return {{a.x * b, a.y * b}}; }
inline constexpr Mat2 one{{{1, 0}, {0, 1}}};

// A shape's principal radii in the tangent plane: S, where no direction is straight, and its straight directions.
struct Radii {
  Mat2 finite;
  int n_straight = 0;
  Vec2 along;            // of one straight direction: it, and...
  double across = 0;     // ... the radius across

  Radii(const LocalSurface& s, const Vec3d& t0, const Vec3d& t1) {
    if (s.radius[0] == s.radius[1]) {  // round, a corner, a face
      if (s.is_straight(0)) n_straight = 2;
      else finite = {{{s.radius[0], 0}, {0, s.radius[0]}}};
      return;
    }
    const bool is_straight = s.is_straight(0) || s.is_straight(1);
    for (int i = 0; i < 2; ++i) {
      if (!s.is_straight(i)) across = s.radius[i];
      if (is_straight ? !s.is_straight(i) : s.radius[i] == 0) continue;
      Vec2 e{robosim::dot(s.axis[i], t0), robosim::dot(s.axis[i], t1)};
      const double length = std::sqrt(dot(e, e));
      if (length > 0) e = (1 / length) * e;
      if (is_straight) n_straight = 1, along = e;
      else finite = finite + s.radius[i] * outer(e, e);
    }
  }
  // Of a surface that is straight nowhere.
  explicit Radii(const Mat2& S) : finite(S) {}

  // Holds the point: straight directions become corners.
  void hold() {
    if (n_straight == 1) finite = across * outer(turned(along), turned(along));
    n_straight = 0;
  }
};

// `regular` unless the 2 x 2 system is singular; then the normal turns with A.
struct Response {
  Mat2 P, Q_A, Q_B, H;
  bool regular = true;
};

// Angles and relative determinants below this count as zero: rounding of normals, squared, is far below.
inline constexpr double singular = 1e-9;

// Whether both are straight in a common direction: then nothing says where along it the points are.
bool share_a_straight_direction(const Radii& A, const Radii& B);

// Of two that do not. size: of the shapes [m].
Response response(double phi, const Radii& A, const Radii& B, double size);

}  // namespace robosim::tangent_plane

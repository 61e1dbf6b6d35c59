// Unit vectors for directions that may degenerate.
#pragma once

#include <cmath>

#include "spatial/vec3.h"

namespace robosim {

// A unit vector perpendicular to d, which need not be unit. The x axis for a zero d.
inline Vec3d perpendicular(const Vec3d& d) {
  const double x = std::fabs(d.x), y = std::fabs(d.y), z = std::fabs(d.z);
  const Vec3d p =
      x <= y && x <= z ? Vec3d(0, d.z, -d.y) : (y <= z ? Vec3d(-d.z, 0, d.x) : Vec3d(d.y, -d.x, 0));
  const double n = norm(p);
  return n > 0 ? p * (1 / n) : Vec3d(1, 0, 0);
}

// Unit vectors t0, t1 = n x t0 perpendicular to a unit n. Source: Duff and others, "Building an
// orthonormal basis, revisited", 2017.
inline void tangents(const Vec3d& n, Vec3d& t0, Vec3d& t1) {
  const double sign = std::copysign(1.0, n.z), a = -1 / (sign + n.z), b = n.x * n.y * a;
  t0 = {1 + sign * n.x * n.x * a, sign * b, -sign * n.x};
  t1 = {b, sign + n.y * n.y * a, -n.y};
}

// Least squared length of a vector with a direction. Smaller squares are too close to the smallest
// double to divide by them.
constexpr double least_square = 1e-300;

// v / |v| of a vector with known square and length, whose square is at least least_square. The
// division by the square does not wait for the square root.
inline Vec3d direction_of(const Vec3d& v, double square, double length) {
  return v * ((1 / square) * length);
}

// 1 / length^3 without waiting for the square root.
inline double inverse_cube(double square, double length) {
  const double inverse = 1 / square;
  return inverse * (inverse * length);
}

// d / |d|, or `otherwise` when d is zero.
inline Vec3d unit_or(const Vec3d& d, const Vec3d& otherwise) {
  const double n = norm(d);
  return n > 0 ? d * (1 / n) : otherwise;
}

}  // namespace robosim

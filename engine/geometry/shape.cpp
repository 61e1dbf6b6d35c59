#include "geometry/shape.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

void check(const Shape& s, const char* size, const char* along, double value, double full) {
  // Written so that NaN fails too.
  if (value >= Shape::min_size && value <= Shape::max_size) return;
  throw InputError(message(name_of(s.type), ": ", size, along, " is ", full,
                           " m; it must be a finite number from ", Shape::min_size, " to ",
                           Shape::max_size, " m"));
}

constexpr const char* along_axis[] = {" along x", " along y", " along z"};

}  // namespace

double Shape::checked(const Shape& s, const char* size, double value) {
  check(s, size, "", value, value);
  return value;
}

Vec3d Shape::checked(const Shape& s, const char* size, const Vec3d& values) {
  for (int i = 0; i < 3; ++i) check(s, size, along_axis[i], values[i], values[i]);
  return values;
}

double Shape::checked_half(const Shape& s, const char* size, double half) {
  check(s, size, "", half, 2 * half);
  return half;
}

Vec3d Shape::checked_halves(const Shape& s, const char* size, const Vec3d& halves) {
  for (int i = 0; i < 3; ++i) check(s, size, along_axis[i], halves[i], 2 * halves[i]);
  return halves;
}

double Shape::checked_rounding(const Shape& s, double value) {
  if (value == 0 || (value >= min_size && value <= max_size)) return value;
  throw InputError(message(name_of(s.type), ": rounding is ", value,
                           " m; it must be zero or a finite number from ", min_size, " to ",
                           max_size, " m"));
}

Shape Shape::triangle(const Vec3d& a, const Vec3d& b, const Vec3d& c, double rounding) {
  Shape s{ShapeType::triangle};
  s.vertex[0] = a;
  s.vertex[1] = b;
  s.vertex[2] = c;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      if (!(std::fabs(s.vertex[i][k]) <= max_size))
        throw InputError(message("triangle: vertex ", i, " has the coordinate ", s.vertex[i][k],
                                 " m; each must be finite and within ", max_size, " m"));
  const double longest = std::max({norm(b - a), norm(c - b), norm(a - c)});
  const double height = longest > 0 ? norm(cross(b - a, c - a)) / longest : 0;
  if (!(height >= 1e-9 * longest) || !(longest >= min_size))
    throw InputError(message("triangle: its vertices are (nearly) on one line: it is ", height,
                             " m high over an edge of ", longest,
                             " m; needed are an edge of at least ", min_size,
                             " m and a height of at least 1e-9 of it"));
  s.rounding = checked_rounding(s, rounding);
  return s;
}

}  // namespace robosim

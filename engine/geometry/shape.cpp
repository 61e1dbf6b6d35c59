#include "geometry/shape.h"

namespace robosim {
namespace {

void check(const Shape& s, const char* size, const char* along, double value, double full) {
  // Written so that NaN fails too.
  if (value >= Shape::min_size && value <= Shape::max_size) return;
  throw InputError(message(name_of(s.type), ": ", size, along, " is ", full, " m; it must be a finite number from ",
                           Shape::min_size, " to ", Shape::max_size, " m"));
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

}  // namespace robosim

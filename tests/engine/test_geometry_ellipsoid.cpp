// Nearest and farthest points of an ellipsoid against points with known solutions, and against
// optimality conditions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "geometry/shapes/ellipsoid_points.h"

using namespace robosim;

namespace {

struct Random {
  std::mt19937_64 engine{7};
  double uniform(double a, double b) {
    return a + (b - a) * (static_cast<double>(engine() >> 11) * 0x1p-53);
  }
  double magnitude(double a, double b) { return std::pow(10.0, uniform(a, b)); }  // 10^a to 10^b

  Vec3d direction() {
    Vec3d v;
    do v = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
    while (!(squared_norm(v) > 0.01 && squared_norm(v) < 1));
    return v * (1 / norm(v));
  }
  // Spheres, spheroids, nearly round ones, discs and needles of up to 1 : 10^5.
  Vec3d radii(int i) {
    const double a = magnitude(-3, 1);
    switch (i % 5) {
      case 0:
        return {a, a, a};
      case 1:
        return {a, magnitude(-3, 1), a};
      case 2:
        return {a, a * (1 + magnitude(-16, -3)), a * (1 - magnitude(-16, -3))};
      case 3:
        return {magnitude(-4, 1), magnitude(-4, 1), magnitude(-4, 1)};
      default:
        return {a * uniform(0.2, 1), a * uniform(0.2, 1), a};
    }
  }
  // Point on the unit sphere: random, or on planes and axes of symmetry, or almost on them.
  Vec3d unit(int i) {
    Vec3d u = direction();
    for (int k = 0; k < 3; ++k)
      if (engine() % 4 == 0) u[k] *= i % 2 ? 0.0 : magnitude(-20, -1);
    return squared_norm(u) > 0 ? u * (1 / norm(u)) : Vec3d(0, 0, 1);
  }
};

Vec3d times(const Vec3d& a, const Vec3d& b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
Vec3d over(const Vec3d& a, const Vec3d& b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }
double shortest(const Vec3d& a) { return std::min({a.x, a.y, a.z}); }
double longest(const Vec3d& a) { return std::max({a.x, a.y, a.z}); }

// |p - z|^2 - |p - x|^2 = sum (1 + s / a_i^2) (z_i - x_i)^2 for all z on the surface if x is on the
// surface and p - x = s x_i / a_i^2. Therefore x is a nearest point if and only if s >= -min a_i^2,
// and then the distance is unique.
void check_nearest(const Vec3d& a, const Vec3d& p) {
  const EllipsoidPoint q = nearest_on_ellipsoid(a, p);
  INFO("radii ", a.x, " ", a.y, " ", a.z, ", point ", p.x, " ", p.y, " ", p.z);
  const Vec3d gradient = over(over(q.x, a), a);
  const double size = longest(a) + norm(p);
  CHECK(std::fabs(norm(over(q.x, a)) - 1) < 1e-14);  // rounding of a few operations, as below
  CHECK(std::fabs(norm(q.normal) - 1) < 1e-14);
  CHECK(norm(q.normal - gradient * (1 / norm(gradient))) < 1e-14);
  CHECK(norm(p - q.x - q.distance * q.normal) < 1e-14 * size);
  CHECK(q.distance / norm(gradient) >= -shortest(a) * shortest(a) * (1 + 1e-13));
}

}  // namespace

TEST_CASE("nearest points satisfy what proves them, wherever the point lies") {
  Random random;
  for (int i = 0; i < 20000; ++i) {
    const Vec3d a = random.radii(i), u = random.unit(i / 5);
    check_nearest(a, times(a, u) * random.uniform(0, 1));             // inside
    check_nearest(a, times(a, u) * (1 + random.magnitude(-16, -1)));  // at the surface
    check_nearest(a, u * random.magnitude(-6, 6));                    // anywhere
    // Almost at the center.
    check_nearest(a, u * 1e-305);
  }
  check_nearest({1, 2, 3}, {0, 0, 0});
  check_nearest({2, 2, 2}, {0, 0, 0});
  check_nearest({1e-9, 1e6, 1}, {0, 1e6, 0});
  check_nearest({1e-9, 1e6, 1}, {1e9, -1e9, 1e9});
}

TEST_CASE("the distance of points made from their nearest one") {
  Random random;
  for (int i = 0; i < 20000; ++i) {
    const Vec3d a = random.radii(i), x = times(a, random.unit(i / 5)),
                gradient = over(over(x, a), a);
    const double least = -shortest(a) * shortest(a);
    // From the center of curvature outwards; both ends also with small steps.
    const double s = i % 3 == 0 ? least * random.uniform(0, 1)
                                : (i % 3 == 1 ? least * (1 - random.magnitude(-16, 0))
                                              : -least * random.magnitude(-12, 6));
    const Vec3d p = x + s * gradient;
    const EllipsoidPoint q = nearest_on_ellipsoid(a, p);
    INFO("radii ", a.x, " ", a.y, " ", a.z, ", point ", p.x, " ", p.y, " ", p.z);
    CHECK(std::fabs(q.distance - s * norm(gradient)) < 1e-14 * (longest(a) + norm(p)));
  }
}

TEST_CASE("farthest points of points made from them") {
  Random random;
  for (int i = 0; i < 20000; ++i) {
    const Vec3d a = random.radii(i), x = times(a, random.unit(i / 5)),
                gradient = over(over(x, a), a);
    const double s = -longest(a) * longest(a) * (1 + random.magnitude(-16, 6));
    const Vec3d p = x + s * gradient, q = farthest_on_ellipsoid(a, p);
    INFO("radii ", a.x, " ", a.y, " ", a.z, ", point ", p.x, " ", p.y, " ", p.z);
    CHECK(std::fabs(norm(over(q, a)) - 1) < 1e-14);
    CHECK(std::fabs(norm(p - q) - std::fabs(s) * norm(gradient)) < 1e-14 * (longest(a) + norm(p)));
  }
  CHECK(norm(farthest_on_ellipsoid({1, 3, 2}, {0, 0, 0})) == doctest::Approx(3).epsilon(1e-15));
}

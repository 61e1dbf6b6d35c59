// The points of a contact manifold span the whole intersection of two flat faces, checked by
// membership in the shapes alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "geometry/manifolds/manifold.h"
#include "random_contacts.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

// Distance of p from the convex hull of the points in the plane perpendicular to n, negative
// inside: the largest over 720 directions.
double outside_hull(const Manifold& m, const Vec3d& p) {
  const Vec3d t = perpendicular(m.normal()), u = cross(m.normal(), t);
  double outside = -1e9;
  for (int k = 0; k < 720; ++k) {
    const Vec3d d = std::cos(k * 0.0087266462599716) * t + std::sin(k * 0.0087266462599716) * u;
    double farthest = -1e9;
    for (int i = 0; i < m.n_points; ++i) farthest = std::max(farthest, dot(d, m.points[i].p_W - p));
    outside = std::max(outside, -farthest);
  }
  return outside;
}

bool holds(const Shape& shape, const SE3d& X, const Vec3d& p) {
  return signed_distance(shape, X, Shape::sphere(1e-7), SE3d(Mat3d::identity(), p)).distance < 0;
}

}  // namespace

// 1e-5 below both surfaces, so that inclined sides, and directions half a degree apart, change the
// outline by less than 5e-3.
TEST_CASE("a place belongs to both faces just when it is between the points") {
  constexpr double under = 1e-5, blurred = 5e-3;
  RandomShapes random;
  int inside = 0, out = 0, faces = 0;
  for (const ShapeType a : {ShapeType::box, ShapeType::convex, ShapeType::half_space})
    for (const ShapeType b : {ShapeType::box, ShapeType::convex})
      for (int i = 0; i < 60; ++i) {
        CAPTURE(name_of(a));
        CAPTURE(name_of(b));
        CAPTURE(i);
        const RandomContact c(random, a, b, true, 0, 0);
        const Manifold m = contact_manifold(c.A, c.X_WA, c.B, c.X_WB, 1e-7);
        if (m.n_points < 3 || m.n_points == Manifold::max_points ||
            std::fabs(m.witness.distance) > 1e-9)
          continue;
        ++faces;
        for (int k = 0; k < 60; ++k) {
          const Vec3d& corner = m.points[k % m.n_points].p_W;
          const Vec3d spread = unit_or(random.pose(1).p, {1, 0, 0});
          const Vec3d p =
              corner + random.uniform(0, 0.3) * (spread - dot(spread, m.normal()) * m.normal());
          const double outside = outside_hull(m, p);
          if (std::fabs(outside) < blurred) continue;
          const bool common = holds(c.A, c.X_WA, p - under * m.normal()) &&
                              holds(c.B, c.X_WB, p + under * m.normal());
          CHECK(common == (outside < 0));
          ++(outside < 0 ? inside : out);
        }
      }
  MESSAGE(faces, " faces; ", inside, " places inside, ", out, " outside");
  CHECK(faces > 200);
  CHECK(inside > 1000);
  CHECK(out > 1000);
}

// Query results against exact ones, for a few poses of every pair of shapes. `python
// benchmarks/accuracy_geometry.py` compares 10,000 poses of each.
#include <doctest/doctest.h>

#include "geometry/directions.h"
#include "random_shapes.h"
#include "scale.h"
#include "witness_errors.h"

using namespace robosim;
using namespace robosim::testing;

TEST_CASE("distance, points and normal of every pair are exact") {
  RandomShapes random;
  const int n = repeats(12, 40);
  int compared = 0;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (a > b || (a == b && a == ShapeType::half_space)) return;
    for (int i = 0; i < n; ++i) {
      const Shape A = random.shape(a), B = random.shape(b);
      const SE3d X_WA = random.pose(0.3), X_WB = random.pose(i % 2 ? 0.3 : 0.8);
      const Witness w = signed_distance(A, X_WA, B, X_WB);
      const WitnessErrors errors(w, A, X_WA, B, X_WB);
      CAPTURE(i);
      CAPTURE(w.distance);
      CHECK(errors.distance < 1e-11);
      CHECK(errors.points < 1e-10);
      CHECK(errors.normal < 1e-10);
      compared += errors.unique;
    }
  });
  CHECK(compared >= 35 * (n - n / 20 - 1));
}

// The reference detects an error of 1e-8 in each entry.
TEST_CASE("errors are seen") {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (a == b && a == ShapeType::half_space) return;
    const Shape A = random.shape(a), B = random.shape(b);
    for (const double reach : {0.1, 0.8}) {
      const SE3d X_WA = random.pose(reach), X_WB = random.pose(reach);
      const Witness w = signed_distance(A, X_WA, B, X_WB);
      const auto errors = [&](const Witness& x) { return WitnessErrors(x, A, X_WA, B, X_WB); };
      if (!errors(w).unique) continue;
      const Vec3d t = perpendicular(w.normal);
      Witness x = w;
      x.distance += 1e-8;
      CHECK(errors(x).distance > 0.9e-8);
      x = w;
      x.p_WA += 1e-8 * t;
      CHECK(errors(x).points > 0.9e-8);
      x = w;
      x.p_WB += 1e-8 * t;
      CHECK(errors(x).points > 0.9e-8);
      x = w;
      x.normal += 1e-8 * t;
      CHECK(errors(x).normal > 0.9e-8);
    }
  });
}

// The reference distinguishes a longer separating translation from the shortest one, however well
// the points fit.
TEST_CASE("of overlapping shapes all directions are looked at") {
  const Shape A = Shape::box({0.3, 0.3, 0.3}), B = Shape::cylinder(0.2, 0.4);
  const SE3d X(Mat3d::identity(), {0.05, 0.02, 0.1});
  const Witness along_z{-0.6, {0.05, 0.02, 0.3}, {0.05, 0.02, -0.3}, {0, 0, 1}};
  CHECK(signed_distance(A, SE3d(), B, X).distance == doctest::Approx(-0.45));
  CHECK(WitnessErrors(along_z, A, SE3d(), B, X).distance == doctest::Approx(0.15));
}

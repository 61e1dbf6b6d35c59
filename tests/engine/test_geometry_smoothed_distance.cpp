// Smoothed distance: its deviation from the exact distance, and its smoothness.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "derivative_errors.h"
#include "geometry/smoothed_distance.h"
#include "geometry/witness_jacobian.h"
#include "random_shapes.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

double farthest(const Witness& a, const Witness& b) {
  return std::max(norm(a.p_WA - b.p_WA), norm(a.p_WB - b.p_WB));
}

}  // namespace

// Rounding: 1e-12 of lengths around 1.
TEST_CASE(
    "never above the exact distance, and below it by no more than the bodies stand off; p_B - p_A "
    "= distance normal") {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (a == ShapeType::half_space && b == a) return;
    for (int i = 0; i < 24; ++i) {
      const Shape A = random.shape(a), B = random.shape(b);
      const SE3d X_WA = i % 3 == 0 ? SE3d() : random.pose(0.6);
      const SE3d X_WB = i % 3 == 0 ? SE3d(Mat3d::identity(), {0.1 * i, 0, 0}) : random.pose(0.6);
      const Witness exact = signed_distance(A, X_WA, B, X_WB);
      const double e = std::pow(10.0, random.uniform(-5, -1));
      CAPTURE(i);
      CAPTURE(e);
      const Witness w = smoothed_distance(e, A, X_WA, B, X_WB).witness;
      CHECK(w.distance <= exact.distance + 1e-12);
      CHECK(w.distance >= exact.distance - e * (smoothing_reach(A) + smoothing_reach(B)) - 1e-12);
      // Errors of normals are their rounding, amplified by S, which is up to size^2 / e.
      CHECK(norm(w.p_WB - w.p_WA - w.distance * w.normal) < 1e-12 + 1e-15 / e);
      const Witness back = smoothed_distance(e, B, X_WB, A, X_WA).witness;
      if (exact.distance > 0) {  // phi has a unique maximum
        CHECK(std::fabs(back.distance - w.distance) < 1e-12);
        CHECK(norm(back.normal + w.normal) < 1e-6);
      }
      // Each point is on a plane that the exact shape does not cross.
      for (int side = 0; side < 2; ++side) {
        const Shape& shape = side ? B : A;
        const SE3d& X = side ? X_WB : X_WA;
        const Vec3d out = side ? -w.normal : w.normal;
        if (shape.type == ShapeType::half_space) continue;
        const double off =
            dot(out, (side ? w.p_WB : w.p_WA) - X * support(shape, transpose_times(X.R, out)));
        CHECK(off >= -1e-12);
        CHECK(off <= e * smoothing_reach(shape) + 1e-12);
      }
    }
  });
}

// Errors are proportional to the smoothing length if features are not close to a switch.
TEST_CASE("points and normal become the exact ones as the smoothing length goes to zero") {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (a == ShapeType::half_space && b == a) return;
    int compared = 0;
    for (int i = 0; compared < 6 && i < 400; ++i) {
      const Shape A = random.shape(a), B = random.shape(b);
      const SE3d X_WA = random.pose(0.6), X_WB = random.pose(0.9);
      const Witness exact = signed_distance(A, X_WA, B, X_WB);
      const WitnessDerivatives d = witness_derivatives(exact, A, X_WA, B, X_WB);
      if (exact.distance < 0.05 || d.one_sided ||
          std::min({d.A.slide, d.A.tilt(), d.B.slide, d.B.tilt()}) < 0.05)
        continue;
      CAPTURE(i);
      for (const double e : {1e-4, 1e-6}) {
        const Witness w = smoothed_distance(e, A, X_WA, B, X_WB).witness;
        CHECK(farthest(w, exact) < 100 * e);
        CHECK(norm(w.normal - exact.normal) < 100 * e);
      }
      ++compared;
    }
    CHECK(compared >= 3);
  });
}

// No condition on features, as there are no switches. For overlapping shapes another separating
// translation may have equal length; a jump of the normal detects this.
TEST_CASE("derivatives are those of the smoothed distance, on whatever features") {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (a == ShapeType::half_space && b == a) return;
    int compared = 0;
    for (int i = 0; i < 6; ++i) {
      const Shape A = random.shape(a), B = random.shape(b);
      const SE3d X_WA = random.pose(0.6), X_WB = random.pose(i % 2 ? 0.6 : 0.9);
      const WitnessFactors f = smoothed_distance(0.02, A, X_WA, B, X_WB);
      if (f.one_sided) continue;
      CAPTURE(i);
      WitnessJacobian J;
      witness_jacobian(f, X_WA, X_WB, J);
      bool jumped = false;
      double worst = 0;
      for (int k = 0; k < 12 && !jumped; ++k) {
        const Numbers got = flat(J.rate(k)),
                      expected = ridders(
                          [&](double t) {
                            const Witness w =
                                (k < 6 ? smoothed_distance(0.02, A, moved(X_WA, k, t), B, X_WB)
                                       : smoothed_distance(0.02, A, X_WA, B, moved(X_WB, k - 6, t)))
                                    .witness;
                            jumped |= norm(w.normal - f.witness.normal) > 0.1;
                            return flat(w);
                          },
                          1e-3);
        double largest = 1;
        for (const double x : expected) largest = std::max(largest, std::fabs(x));
        REQUIRE((jumped || expected.size() == got.size()));
        for (std::size_t j = 0; j < expected.size(); ++j)
          worst = std::max(worst, std::fabs(got[j] - expected[j]) / largest);
      }
      if (jumped) continue;
      CHECK(worst < 1e-7);
      ++compared;
    }
    CHECK(compared >= 2);
  });
}

// The integral of the derivative is the difference: composite rule of Boole with steps finer than
// the rotation that is smoothed, e / size.
TEST_CASE("where the exact point jumps from corner to corner, the smoothed one goes there") {
  const Shape ground = Shape::half_space(), box = Shape::box({0.3, 0.2, 0.1}),
              table = Shape::box({1, 1, 0.1});
  for (const bool on_table : {false, true}) {
    const Shape& below = on_table ? table : ground;
    const auto tilted = [](double angle) {
      return SE3d(Mat3d{{std::cos(angle), 0, std::sin(angle)},
                        {0, 1, 0},
                        {-std::sin(angle), 0, std::cos(angle)}},
                  {0, 0, 0.35});
    };
    CHECK(norm(signed_distance(below, SE3d(), box, tilted(-1e-6)).p_WB -
               signed_distance(below, SE3d(), box, tilted(1e-6)).p_WB) > 0.4);
    constexpr double e = 0.005, end = 0.2;
    constexpr int steps = 400;
    Vec3d sum;
    for (int i = 0; i <= 4 * steps; ++i) {
      const SE3d X = tilted(-end + 2 * end * i / (4 * steps));
      WitnessJacobian J;
      witness_jacobian(smoothed_distance(e, below, SE3d(), box, X), SE3d(), X, J);
      const double weight = i % 4 == 0 ? (i == 0 || i == 4 * steps ? 7 : 14) : (i % 2 ? 32 : 12);
      sum += (weight * 2 / 45 * 2 * end / (4 * steps)) * J.rate(10).p_WB;  // about y
    }
    const Vec3d difference = smoothed_distance(e, below, SE3d(), box, tilted(end)).witness.p_WB -
                             smoothed_distance(e, below, SE3d(), box, tilted(-end)).witness.p_WB;
    CHECK(norm(difference) > 0.4);
    CHECK(norm(sum - difference) < 1e-9);
  }
}

// Rounding: 1e-9 of the scene's size, as for all hostile scenes.
TEST_CASE(
    "sizes from 1e-4 to 1e3 m, smoothed by 1e-9 to 1e3 m, one in the other or afar: finite, and "
    "within the bounds") {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (a == ShapeType::half_space && b == a) return;
    for (int i = 0; i < 20; ++i) {
      const double size_A = std::pow(10.0, random.uniform(-3, 3)),
                   size_B = std::pow(10.0, random.uniform(-3, 3));
      const Shape A = with_scale(random.shape(a), size_A), B = with_scale(random.shape(b), size_B);
      const SE3d X_WA = random.pose(10),
                 X_WB = i % 4 == 0 ? X_WA : random.pose(i % 4 == 1 ? 10 : size_A);
      const double e = std::pow(10.0, random.uniform(-9, 3)), scale = size_A + size_B + 10;
      CAPTURE(i);
      CAPTURE(e);
      const WitnessFactors f = smoothed_distance(e, A, X_WA, B, X_WB);
      const Witness exact = signed_distance(A, X_WA, B, X_WB);
      CHECK(f.witness.distance <= exact.distance + 1e-9 * scale);
      CHECK(f.witness.distance >=
            exact.distance - e * (smoothing_reach(A) + smoothing_reach(B)) - 1e-9 * scale);
      WitnessJacobian J;
      witness_jacobian(f, X_WA, X_WB, J);
      for (int k = 0; k < 12; ++k)
        for (const double x : flat(J.rate(k))) CHECK(std::isfinite(x));
    }
  });
}

TEST_CASE("smoothing lengths that are none are refused") {
  const Shape ball = Shape::sphere(1);
  for (const double e :
       {0.0, -1.0, 1e-10, 1e7, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    CHECK_THROWS_AS(smoothed_distance(e, ball, SE3d(), ball, SE3d()), InputError);
}

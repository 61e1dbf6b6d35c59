// Times of impact against exact ones and against dense samples of the motion; derivatives against
// Ridders differences.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "count_allocations.h"
#include "geometry/casts/time_of_impact.h"
#include "random_shapes.h"
#include "ridders.h"
#include "spatial/lie.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

SE3d moved(const SE3d& X, int k, double t) {
  Motion<double> V;
  (k < 3 ? V.linear[k] : V.angular[k - 3]) = t;
  return X * exp_motion(V);
}

SE3d at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

}  // namespace

TEST_CASE("a sweep meets both poses, its origin on a straight line") {
  RandomShapes random;
  for (int i = 0; i < 100; ++i) {
    const SE3d X0 = random.pose(2), X1 = random.pose(2);
    const Sweep s = Sweep::between(X0, X1);
    CHECK(norm(s.at(0).p - X0.p) == 0);
    CHECK(norm(s.at(1).p - X1.p) < 1e-15);
    for (int k = 0; k < 3; ++k) {
      CHECK(norm(s.at(0).R.row[k] - X0.R.row[k]) < 1e-15);
      CHECK(norm(s.at(1).R.row[k] - X1.R.row[k]) < 1e-14);
    }
    CHECK(norm(s.at(0.3).p - (0.7 * X0.p + 0.3 * X1.p)) < 1e-15);
    CHECK(norm(s.angular_velocity) <= 3.1416);
  }
}

// Expected times in closed form. The tolerance is 1e-9 m over the speed along the normal.
TEST_CASE("exact times") {
  const Shape ball = Shape::sphere(0.5), floor = Shape::half_space(), rod = Shape::capsule(0.1, 1),
              box = Shape::box({0.5, 0.5, 0.5});
  const auto still = [](const SE3d& X) { return Sweep{X, {}, {}}; };
  // A ball falls on a floor, with and without a margin, and in the other order.
  const Sweep falls{at(0, 0, 3), {0.5, 0, -4}, {1, 2, 3}};
  for (const double margin : {0.0, 0.25}) {
    const Impact i = time_of_impact(floor, still(SE3d()), ball, falls, margin);
    CHECK(i.status == ImpactStatus::touching);
    CHECK(std::fabs(i.t - (2.5 - margin) / 4) < 1e-9);
    CHECK(i.witness.distance - margin >= 0);
    CHECK(i.witness.distance - margin <= 1e-9);
    CHECK(std::fabs(i.normal_velocity + 4) < 1e-12);
    CHECK(time_of_impact(ball, falls, floor, still(SE3d()), margin).t ==
          doctest::Approx(i.t).epsilon(1e-8));
  }
  // Two balls on crossing paths, and a ball that narrowly misses another.
  const Sweep right{at(-2, 0, 0), {4, 0, 0}, {0, 0, 9}}, up{at(0, -2, 0), {0, 4, 0}, {9, 0, 0}};
  CHECK(std::fabs(time_of_impact(ball, right, ball, up).t - (0.5 - 1 / std::sqrt(32))) < 1e-9);
  const Impact grazing = time_of_impact(ball, right, ball, still(at(0, 1 + 1e-6, 0)));
  CHECK(grazing.status == ImpactStatus::separated);
  CHECK(time_of_impact(ball, right, ball, still(at(0, 1 - 1e-6, 0))).status ==
        ImpactStatus::touching);
  // A rotating rod, like a clock hand, touches a ball with its side: sin(angle) = (0.1 + 0.5) /
  // distance.
  const Sweep turns{SE3d({{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, {}), {}, {0, 0, 1.2}};
  const Impact hand = time_of_impact(rod, turns, ball, still(at(0.3, 0.9, 0)));
  const double angle = std::atan2(0.9, 0.3) - std::asin(0.6 / std::hypot(0.3, 0.9));
  CHECK(hand.status == ImpactStatus::touching);
  CHECK(std::fabs(hand.t - angle / 1.2) < 1e-8);
  // A box that rotates over a floor below: corner (0.5, -0.5) on z = -0.6.
  const Sweep tips{SE3d(), {}, {0, 1, 0}};
  const Impact corner = time_of_impact(floor, still(at(0, 0, -0.6)), box, tips);
  CHECK(std::fabs(std::sqrt(0.5) * std::sin(corner.t + 0.7853981633974483) - 0.6) < 1e-8);
  // A floor that rotates up to a ball.
  const Sweep tilts{SE3d(), {}, {0, 1, 0}};
  const Impact tilted = time_of_impact(floor, tilts, ball, still(at(-2, 0, 1)));
  CHECK(std::fabs(std::cos(tilted.t) - 2 * std::sin(tilted.t) - 0.5) < 1e-8);
  // Plane against plane: at constant orientation, and immediately if they rotate.
  const Mat3d down{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
  CHECK(std::fabs(
            time_of_impact(floor, still(SE3d()), floor, {SE3d(down, {0, 0, 1}), {5, 0, -2}, {}}).t -
            0.5) < 1e-9);
  CHECK(time_of_impact(floor, still(SE3d()), floor, {SE3d(down, {0, 0, 1}), {}, {0, 1e-3, 0}}).t ==
        0);
  CHECK(time_of_impact(floor, still(SE3d()), floor, still(SE3d())).status ==
        ImpactStatus::overlapping);
  // Initially overlapping, and never touching.
  CHECK(time_of_impact(ball, right, ball, still(at(-2, 0.5, 0))).status ==
        ImpactStatus::overlapping);
  const Impact never = time_of_impact(ball, right, box, still(at(0, 3, 0)));
  CHECK(never.status == ImpactStatus::separated);
  CHECK(never.t == 1);
}

// Never later than the first sampled overlap, within the required gap at the end, and equal in the
// other order.
TEST_CASE("times of impact of every pair against samples of the motion") {
  RandomShapes random;
  int most = 0, touching_all = 0;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (a == ShapeType::half_space && b == a) return;
    int touching = 0;
    for (int i = 0; i < 16; ++i) {
      CAPTURE(i);
      const Shape A = random.shape(a), B = random.shape(b);
      SE3d X[4] = {random.pose(1.5), random.pose(0.4), random.pose(1.5), random.pose(0.4)};
      if (i % 4 == 1) {
        X[1].R = X[0].R;
        X[3].R = X[2].R;
      }  // translations
      if (i % 4 == 2) {
        X[1].p = X[0].p;
        X[3].p = X[2].p + 0.3 * (X[0].p - X[2].p);
      }
      const Sweep sweep_A = Sweep::between(X[0], X[1]), sweep_B = Sweep::between(X[2], X[3]);
      const double margin = i % 3 ? 0 : 0.05;
      const Impact impact = time_of_impact(A, sweep_A, B, sweep_B, margin);
      CAPTURE(impact.t);
      CHECK(impact.status != ImpactStatus::unfinished);
      most = std::max(most, impact.rounds);
      const auto gap = [&](double t) {
        return signed_distance(A, sweep_A.at(t), B, sweep_B.at(t)).distance - margin;
      };
      CHECK(std::fabs(gap(impact.t) - (impact.witness.distance - margin)) < 1e-10);
      const int samples = 100;
      for (int k = 0; k <= samples; ++k) {
        const double t = impact.t * k / samples;
        if (impact.status != ImpactStatus::overlapping) CHECK(gap(t) > -1e-10);
      }
      if (impact.status == ImpactStatus::overlapping) CHECK(gap(0) <= 0);
      if (impact.status == ImpactStatus::touching) {
        ++touching;
        CHECK(gap(impact.t) <= 1.1e-9);
      }
      const Impact back = time_of_impact(B, sweep_B, A, sweep_A, margin);
      CHECK(back.status == impact.status);
      if (std::fabs(impact.normal_velocity) > 0.1 && impact.status == ImpactStatus::touching)
        CHECK(std::fabs(back.t - impact.t) < 1e-7);
    }
    CHECK(touching >= 1);
    touching_all += touching;
  });
  CHECK(touching_all > 500);
  CHECK(most < 100);
  MESSAGE("most rounds: ", most, ", touching ", touching_all);
}

TEST_CASE("motions that graze, do not move or are very fast come to an end") {
  const Shape shapes[] = {
      Shape::box({0.5, 0.5, 0.5}),       Shape::capsule(0.5, 0.5),
      Shape::cylinder(0.5, 0.5),         Shape::triangle({-1, -1, 0.5}, {1, -1, 0.5}, {0, 1, 0.5}),
      Shape::ellipsoid({0.5, 0.5, 0.5}), Shape::cone(0.5, 0.5)};
  for (const Shape& A : shapes)
    for (const Shape& B : shapes)
      for (const double offset : {1.0, 1 + 1e-9, 1 - 1e-9, 1 + 1e-6, 1 - 1e-6, 1.5})
        for (const Vec3d& v : {Vec3d(), Vec3d(6, 0, 0), Vec3d(6e6, 0, 0), Vec3d(0, 0, 1)})
          for (const Vec3d& w : {Vec3d(), Vec3d(0, 0, 3), Vec3d(3, 0, 0)}) {
            CAPTURE(std::string(name_of(A.type)));
            CAPTURE(std::string(name_of(B.type)));
            CAPTURE(offset);
            const Sweep sweep{at(norm(v) > 2 ? -0.5 * norm(v) : 0, 0, offset), v, w};
            const Impact impact = time_of_impact(A, {SE3d(), {}, {}}, B, sweep);
            CHECK(impact.status != ImpactStatus::unfinished);
            CHECK(std::isfinite(impact.t + impact.witness.distance));
            const ImpactDerivatives d = impact_derivatives(impact, A, {SE3d(), {}, {}}, B, sweep);
            for (int k = 0; k < 6; ++k)
              CHECK(std::isfinite(d.start[0][k] + d.end[0][k] + d.start[1][k] + d.end[1][k]));
          }
}

// The error of the time is the tolerance over the speed along the normal, so differences agree to
// 1e-6 of the largest entry.
TEST_CASE("derivatives of the time of impact, in all four poses") {
  RandomShapes random;
  int compared = 0;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (a == ShapeType::half_space || b == ShapeType::half_space) return;
    for (int i = 0; i < 3; ++i) {
      const Shape A = random.shape(a), B = random.shape(b);
      SE3d X[4] = {random.pose(0.3), random.pose(0.3), random.pose(2), random.pose(0.3)};
      X[2].p += 2 / norm(X[2].p) * X[2].p;
      const auto cast = [&] {
        return time_of_impact(A, Sweep::between(X[0], X[1]), B, Sweep::between(X[2], X[3]), 0.01,
                              1e-13);
      };
      const Impact impact = cast();
      const ImpactDerivatives d =
          impact_derivatives(impact, A, Sweep::between(X[0], X[1]), B, Sweep::between(X[2], X[3]));
      if (d.one_sided || impact.normal_velocity > -1) continue;
      for (int side = 0; side < 2; ++side)
        for (int end = 0; end < 2; ++end)
          for (int k = 0; k < 6; ++k) {
            const SE3d there = X[2 * side + end];
            const Numbers expected = ridders(
                [&](double t) {
                  X[2 * side + end] = moved(there, k, t);
                  return Numbers{cast().t};
                },
                1e-4);
            X[2 * side + end] = there;
            const double got = (end ? d.end : d.start)[side][k];
            CHECK(std::fabs(got - expected[0]) < 2e-6 * std::fmax(1, std::fabs(expected[0])));
          }
      ++compared;
    }
  });
  CHECK(compared > 120);
  MESSAGE("compared: ", compared);
}

TEST_CASE("no time of impact allocates") {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    const Shape A = random.shape(a), B = random.shape(b);
    const Sweep sweep_A = Sweep::between(random.pose(2), random.pose(2)),
                sweep_B = Sweep::between(random.pose(2), random.pose(2));
    // A convex mesh builds its support table on the first query.
    signed_distance(A, SE3d(), B, SE3d());
    const long before = allocations;
    impact_derivatives(time_of_impact(A, sweep_A, B, sweep_B), A, sweep_A, B, sweep_B);
    CHECK(allocations == before);
  });
}

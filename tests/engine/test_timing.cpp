// Speed profile against closed forms and brute force; timing of a whole path; moving average.
#include <doctest/doctest.h>

#include <cmath>

#include "base/rng.h"
#include "planning/timing.h"
#include "planning/timing_motion.h"
#include "planning/timing_profile.h"

using namespace robosim;

namespace {

// One interval of length 1 with |u| <= a and x <= top^2.
ProfileProblem straight(double a, double top) {
  ProfileProblem p;
  p.rows.push_back({1, 0, -a, a});
  p.intervals.push_back({1, top * top, top * top, 0, 1});
  p.stop = {0, 0};
  return p;
}

double duration(const std::vector<ProfileSegment>& segments) {
  double t = 0;
  for (const ProfileSegment& s : segments) t += 2 * (s.sigma1 - s.sigma0) / (s.v0 + s.v1);
  return t;
}

QuadraticPath corner_path(double blend) {
  // (0, 0) to (1, 0) to (1, 1) with the corner rounded over `blend`.
  const double straight_part = 1 - blend, k = 1 / (4 * blend);
  QuadraticPath path;
  path.n = 2;
  path.breaks = {0, straight_part, straight_part + 2 * blend, 2 * straight_part + 2 * blend};
  path.coefficients = {0, 0, 1, 0, 0, 0, straight_part, 0, 1, 0, -k, k, 1, blend, 0, 1, 0, 0};
  return path;
}

}  // namespace

TEST_CASE("a straight interval is accelerated, followed at its bound, and braked, exactly") {
  ProfileSolver solver;
  REQUIRE(solver.solve(straight(2, 1)) == ProfileStatus::solved);
  REQUIRE(solver.segments().size() == 3);
  CHECK(duration(solver.segments()) == doctest::Approx(1.5).epsilon(1e-14));  // L / v + v / a
  REQUIRE(solver.solve(straight(2, 100)) == ProfileStatus::solved);
  REQUIRE(solver.segments().size() == 2);
  // 2 sqrt(L / a).
  CHECK(duration(solver.segments()) == doctest::Approx(2 * std::sqrt(0.5)).epsilon(1e-14));
}

TEST_CASE("a start that cannot be braked is refused with the fastest that can") {
  ProfileProblem p = straight(2, 100);
  p.x_start = 4.1;
  ProfileSolver solver;
  CHECK(solver.solve(p) == ProfileStatus::start_too_fast);
  CHECK(solver.largest_start() == doctest::Approx(2));  // v^2 = 2 a L
  p.x_start = 3.9;
  CHECK(solver.solve(p) == ProfileStatus::solved);
}

TEST_CASE("random profiles are continuous and keep every row and bound") {
  Rng rng(1);
  for (int trial = 0; trial < 200; ++trial) {
    ProfileProblem p;
    const int n = 1 + rng.below(12);
    for (int i = 0; i < n; ++i) {
      ProfileInterval interval;
      interval.length = rng.uniform(0.05, 0.3);
      interval.x_left = rng.uniform(0.5, 3);
      interval.x_right = rng.uniform(0.5, 3);
      interval.first_row = p.rows.size();
      interval.n_rows = 6;
      for (int k = 0; k < 6; ++k)
        p.rows.push_back({rng.normal(), rng.normal(), -rng.uniform(0.2, 2), rng.uniform(0.2, 2)});
      p.intervals.push_back(interval);
      p.stop.push_back(0);
    }
    p.stop.push_back(0);
    ProfileSolver solver;
    const ProfileStatus status = solver.solve(p);
    REQUIRE((status == ProfileStatus::solved || status == ProfileStatus::stuck));
    double x_end = 0;
    for (const ProfileSegment& s : solver.segments()) {
      const ProfileInterval& interval = p.intervals[s.interval];
      const double x0 = s.v0 * s.v0, x1 = s.v1 * s.v1, u = (x1 - x0) / (2 * (s.sigma1 - s.sigma0));
      CHECK(x0 == doctest::Approx(s.sigma0 == 0 ? x_end : x0));  // continuous over the grid
      // Constraint of the row on u and on x extrapolated to the interval's left end; bounds of x at
      // both ends of the segment.
      const double x_left = x0 - 2 * u * s.sigma0;
      for (std::size_t k = 0; k < 6; ++k) {
        const ProfileRow& row = p.rows[interval.first_row + k];
        const double value = row.alpha * u + row.beta * x_left;
        CHECK(value <= row.upper + 1e-9);
        CHECK(value >= row.lower - 1e-9);
      }
      for (const auto& [sigma, x] : {std::pair{s.sigma0, x0}, std::pair{s.sigma1, x1}})
        CHECK(x <= interval.x_left +
                       (interval.x_right - interval.x_left) * sigma / interval.length + 1e-9);
      x_end = x1;
    }
  }
}

TEST_CASE(
    "a path with a corner keeps its limits and takes longer with limited jerk by the window") {
  const std::vector<double> velocity{1, 1}, acceleration{2, 3};
  TimingOptions options;
  options.velocity = velocity;
  options.acceleration = acceleration;
  const TimingResult sharp = time_path(corner_path(0.2), options, nullptr);
  REQUIRE(sharp.status == TimingStatus::solved);
  CHECK(needed_stretch(sharp.motion, velocity, acceleration) <= 1 + 1e-9);
  CHECK(needed_stretch(sharp.motion, velocity, acceleration) > 0.999);
  options.jerk = {20, 20};
  const TimingResult smooth = time_path(corner_path(0.2), options, nullptr);
  REQUIRE(smooth.status == TimingStatus::solved);
  CHECK(smooth.motion.breaks.back() ==
        doctest::Approx(sharp.motion.breaks.back() + smooth.window).epsilon(1e-12));
  // The motion stops at a corner that is not rounded.
  QuadraticPath polyline;
  polyline.n = 2;
  polyline.breaks = {0, 1, 2};
  polyline.coefficients = {0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0};
  options.jerk.clear();
  const TimingResult stops = time_path(polyline, options, nullptr);
  REQUIRE(stops.status == TimingStatus::solved);
  CHECK(stops.motion.breaks.back() == doctest::Approx((1 + 0.5) + (1 + 1 / 3.0)).epsilon(1e-12));
}

TEST_CASE("a joint without velocity that has to move is named") {
  TimingOptions options;
  options.velocity = {1, 0};
  options.acceleration = {1, 1};
  options.names = {"a", "b"};
  const TimingResult result = time_path(corner_path(0.1), options, nullptr);
  CHECK(result.status == TimingStatus::zero_limit);
  CHECK(result.reason.find("b has to move") == 0);
  CHECK(result.motion.breaks.empty());
}

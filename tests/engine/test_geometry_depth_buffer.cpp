// Depth buffers and merged points with hostile numbers: nothing outside of a buffer is written, and
// the nearest point is visible.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "geometry/bodies/voxels.h"
#include "geometry/casts/depth_buffer.h"
#include "scale.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

// Number of any size, including zero and borders of pixels.
double hostile(std::mt19937_64& rng) {
  std::uniform_real_distribution<double> exponent(-15, 15), unit(-1, 1);
  switch (rng() % 5) {
    case 0:
      return 0;
    case 1:
      return static_cast<double>(static_cast<int>(rng() % 40)) - 10 + 0.5;
    case 2:
      return static_cast<double>(static_cast<int>(rng() % 40)) - 10;
    case 3:
      return 40 * unit(rng);
    default:
      return unit(rng) * std::pow(10, exponent(rng));
  }
}

Vec3d hostile_point(std::mt19937_64& rng) { return {hostile(rng), hostile(rng), hostile(rng)}; }

}  // namespace

TEST_CASE("triangles of any coordinates stay within the buffer and between their corners") {
  std::mt19937_64 rng(1);
  for (int trial = 0; trial < repeats(3000, 100'000); ++trial) {
    DepthBuffer buffer(1 + static_cast<int>(rng() % 31), 1 + static_cast<int>(rng() % 31));
    std::vector<PixelTriangle> triangles(3);
    double low = 1e300, high = 0;
    for (PixelTriangle& triangle : triangles)
      for (Vec3d& corner : triangle.corner) {
        corner = hostile_point(rng);
        corner.z = 1e-6 + std::abs(corner.z);
        low = std::min(low, corner.z);
        high = std::max(high, corner.z);
      }
    draw_triangles(triangles, 7, buffer);
    for (std::size_t i = 0; i < buffer.number.size(); ++i) {
      REQUIRE((buffer.number[i] == -1 || (buffer.number[i] >= 7 && buffer.number[i] < 10)));
      REQUIRE((buffer.number[i] == -1) == (buffer.nearness[i] == 0));
      if (buffer.number[i] < 0) continue;
      REQUIRE(buffer.nearness[i] >= static_cast<float>(low));
      REQUIRE(buffer.nearness[i] <= static_cast<float>(high));
    }
  }
}

TEST_CASE("balls of any place and size stay within the buffer and in front of what is near") {
  std::mt19937_64 rng(2);
  int seen = 0;
  for (int trial = 0; trial < repeats(3000, 100'000); ++trial) {
    DepthBuffer buffer(1 + static_cast<int>(rng() % 31), 1 + static_cast<int>(rng() % 31));
    std::vector<Vec3d> centers(3);
    std::vector<double> radii(3);
    for (std::size_t i = 0; i < centers.size(); ++i) {
      centers[i] = hostile_point(rng);
      radii[i] = std::abs(hostile(rng));
    }
    draw_balls({centers, radii}, 1 + std::abs(hostile(rng)), 0.01, 0, buffer);
    for (std::size_t i = 0; i < buffer.number.size(); ++i) {
      const std::int32_t number = buffer.number[i];
      REQUIRE((number >= -1 && number < 3));
      if (number < 0) continue;
      ++seen;
      const Vec3d& c = centers[number];
      const double radius = radii[number];
      CHECK(c.z - radius >= 0.01);
      // No nearer than the ball's nearest point, up to single precision: 1e-6 of the distance of
      // its center.
      CHECK(1 / buffer.nearness[i] >= c.z - radius - 4e-6 * norm(c));
    }
  }
  CHECK(seen > 1000);
}

TEST_CASE("a point sees the lights that nothing stands before") {
  // A plate of 2 m above the points, and a ball next to the plate.
  const std::vector<Vec3d> corners{{-1, -1, 1}, {1, -1, 1}, {1, 1, 1},
                                   {-1, -1, 1}, {1, 1, 1},  {-1, 1, 1}},
      centers{{3, 0, 1}};
  const std::vector<double> radii{0.5};
  const std::vector<Vec3d> lights{{0, 0, 1}, {1, 0, 0}};
  const std::vector<float> position{0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 0, 1},
      normal{0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1};
  std::vector<float> sums(12);
  // Under the plate, under the ball, between them, on the plate.
  for (const int threads : {1, 2}) {
    const std::vector<std::uint8_t> group(4, 0);
    gather_light({corners, {centers, radii}}, {position, normal, group}, lights, 1, 400, threads,
                 sums.data());
    CHECK(sums == std::vector<float>{0, 0, 1, 0, 0, 1, 1, 1, 2, 1, 1, 1});
  }
  // Two groups with one light each.
  const std::vector<std::uint8_t> groups{0, 1, 1, 0};
  gather_light({corners, {centers, radii}}, {position, normal, groups}, lights, 2, 400, 2,
               sums.data());
  CHECK(sums == std::vector<float>{0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1});
  CHECK_THROWS_AS(gather_light({corners, {centers, radii}}, {position, normal, groups}, lights, 1,
                               400, 1, sums.data()),
                  InputError);
}

TEST_CASE("light among things of any size and place touches nothing outside of its buffer") {
  std::mt19937_64 rng(3);
  for (int trial = 0; trial < repeats(300, 10'000); ++trial) {
    std::vector<Vec3d> corners(9), centers(4);
    std::vector<double> radii(4);
    for (Vec3d& corner : corners) corner = hostile_point(rng);
    for (std::size_t i = 0; i < centers.size(); ++i) {
      centers[i] = hostile_point(rng);
      radii[i] = std::abs(hostile(rng));
    }
    std::vector<float> position, normal, sums(30);
    for (int i = 0; i < 30; ++i) {
      position.push_back(static_cast<float>(hostile(rng)));
      normal.push_back(i % 3 == 2);
    }
    const std::vector<std::uint8_t> group(10, 0);
    const Vec3d d = hostile_point(rng);
    const std::vector<Vec3d> lights{norm(d) > 0 ? 1 / norm(d) * d : Vec3d(0, 0, 1)};
    gather_light({corners, {centers, radii}}, {position, normal, group}, lights, 1,
                 1 + static_cast<int>(rng() % 30), 1, sums.data());
    for (const float sum : sums) REQUIRE((sum >= -1.0001f && sum <= 1.0001f));
  }
}

TEST_CASE("merged points stand for all, one for each cell") {
  std::mt19937_64 rng(4);
  for (int trial = 0; trial < repeats(300, 10'000); ++trial) {
    std::vector<Vec3d> points(rng() % 200);
    for (Vec3d& p : points) p = hostile_point(rng);
    const double edge = std::pow(10, std::uniform_real_distribution<double>(0, 3)(rng));
    const MergedPoints merged = merged_points(points, edge);
    CHECK(merged.farthest <= 0.8661 * edge);
    CHECK(merged.points.size() <= points.size());
    for (const Vec3d& p : points) {
      double nearest = 1e300;
      for (const Vec3d& m : merged.points) nearest = std::min(nearest, norm(p - m));
      REQUIRE(nearest <= merged.farthest);
    }
  }
  CHECK_THROWS_AS(merged_points(std::vector<Vec3d>{{1, 2, 3}}, 0), InputError);
  CHECK_THROWS_AS(merged_points(std::vector<Vec3d>{{1e300, 2, 3}}, 1e-3), InputError);
}

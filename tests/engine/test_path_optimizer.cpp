// Parts of the path optimization: banded systems and polylines. The optimization itself is tested
// in tests/planners/test_optimize.py.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"
#include "base/linalg/banded_cholesky.h"
#include "planning/polyline.h"

using namespace robosim;

TEST_CASE("A banded system is solved, and an indefinite one refused") {
  Rng rng(1);
  for (const std::size_t n : {1u, 2u, 5u, 40u})
    for (const std::size_t w : {0u, 1u, 3u, 60u}) {
      BandedMatrix A(n, w);
      const auto far = [&](std::size_t i, std::size_t j) {
        return i > j ? i - j > A.half_bandwidth() : j - i > A.half_bandwidth();
      };
      // Diagonally dominant, so positive definite.
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = A.first_of_row(i); j < i; ++j) A(i, j) = 2 * rng.uniform() - 1;
        A(i, i) = 2.0 * static_cast<double>(A.half_bandwidth()) + 1 + rng.uniform();
      }
      std::vector<double> x(n), b(n, 0.0);
      for (double& v : x) v = 2 * rng.uniform() - 1;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          if (!far(i, j)) b[i] += (i >= j ? A(i, j) : A(j, i)) * x[j];
      BandedMatrix L = A;
      REQUIRE(L.factorize());
      L.solve(b.data());
      // Such matrices have condition numbers below 100.
      for (std::size_t i = 0; i < n; ++i) CHECK(std::fabs(b[i] - x[i]) <= 1e-13);
      BandedMatrix indefinite = A;
      indefinite(n - 1, n - 1) = -1;
      CHECK_FALSE(indefinite.factorize());
    }
}

TEST_CASE("A resampled polyline keeps its ends and lies on it, at equal distances along it") {
  const Polyline path{2, {0, 0, 3, 0, 3, 4, 3, 4, 0, 4}};  // one edge without length
  CHECK(path.length() == 10);
  for (const std::size_t steps : {1u, 3u, 10u, 40u}) {
    const Polyline even = path.resampled(steps);
    REQUIRE(even.size() == steps + 1);
    for (std::size_t i = 0; i <= steps; ++i) {
      const double s = 10.0 * static_cast<double>(i) / static_cast<double>(steps);
      const double x = s < 3 ? s : (s < 7 ? 3 : 10 - s), y = s < 3 ? 0 : (s < 7 ? s - 3 : 4);
      CHECK(std::fabs(even.point(i)[0] - x) <= 1e-14);
      CHECK(std::fabs(even.point(i)[1] - y) <= 1e-14);
    }
    CHECK(even.point(0)[0] == 0);
    CHECK(even.point(steps)[0] == 0);
    CHECK(even.point(steps)[1] == 4);
  }
}

TEST_CASE("A thinned polyline loses only what is near the lines that stay") {
  Polyline arc{2, {}};
  for (int i = 0; i <= 200; ++i)
    arc.points.insert(arc.points.end(), {std::cos(0.01 * i), std::sin(0.01 * i)});
  for (const double tolerance : {1e-6, 1e-3, 0.1, 10.0}) {
    const Polyline thin = arc.thinned(tolerance);
    CHECK(thin.point(0)[0] == arc.point(0)[0]);
    CHECK(thin.point(thin.size() - 1)[1] == arc.point(200)[1]);
    // The chord of an arc deviates by its angle squared over eight, at its middle, where there may
    // be no point.
    const std::size_t chord = static_cast<std::size_t>(std::sqrt(8 * tolerance) / 0.01);
    const auto points = [](std::size_t steps) {
      steps = std::clamp<std::size_t>(steps, 1, 200);
      return 1 + (200 + steps - 1) / steps;
    };
    CHECK(thin.size() >= points(chord + 1));
    CHECK(thin.size() <= points(chord));
  }
  const Polyline line{1, {0, 1, 2, 3}};
  CHECK(line.thinned(0).size() == 2);
}

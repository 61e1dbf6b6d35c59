// Factors of matrices with an envelope (base/linalg/envelope.h), and the order of rows that reduces
// it (base/linalg/graph_order.h).
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/linalg/envelope.h"
#include "base/linalg/graph_order.h"
#include "base/rng.h"

using namespace robosim;

namespace {

// 1 + sum of x x^T, each x with entries at a few places, and its envelope.
struct Sparse {
  Eigen::MatrixXd A;
  Envelope shape;
};
Sparse random_sparse(Rng& rng, int n) {
  Sparse s{Eigen::MatrixXd::Identity(n, n), {}};
  s.shape.reset(n);
  for (int term = 0; term < 2 * n; ++term) {
    const int from = rng.below(n), to = std::min(n - 1, from + rng.below(4));
    Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
    x[from] = rng.normal();
    x[to] = rng.normal();
    s.A += 1e3 * x * x.transpose();
    s.shape.reach(to, from);
  }
  s.shape.finish();
  return s;
}

std::vector<double> entries(const Sparse& s) {
  std::vector<double> A(s.shape.size());
  for (int i = 0; i < s.shape.rows(); ++i)
    for (int j = s.shape.first(i); j <= i; ++j)
      s.shape.row(A.data(), i)[j - s.shape.first(i)] = s.A(i, j);
  return A;
}

}  // namespace

TEST_CASE("what an envelope's factor solves is solved to rounding") {
  Rng rng(1);
  for (int n = 0; n < 40; ++n) {
    CAPTURE(n);
    const Sparse s = random_sparse(rng, std::max(n, 1));
    std::vector<double> L = entries(s), b(static_cast<std::size_t>(s.shape.rows()));
    for (double& x : b) x = rng.normal();
    const Eigen::VectorXd asked = Eigen::Map<Eigen::VectorXd>(b.data(), s.shape.rows());
    REQUIRE(s.shape.factor(L.data()));
    s.shape.solve(L.data(), b.data());
    const Eigen::Map<Eigen::VectorXd> x(b.data(), s.shape.rows());
    // Backward stable: relative to |A| |x|.
    CHECK((s.A * x - asked).norm() <= 1e-14 * s.A.norm() * x.norm());

    // Factor for matrices that need not be symmetric: here the lower triangle is a tenth of the
    // upper.
    std::vector<double> lower = entries(s), upper = lower;
    Eigen::MatrixXd A = s.A;
    for (int i = 0; i < s.shape.rows(); ++i)
      for (int j = s.shape.first(i); j < i; ++j) {
        A(i, j) *= 0.1;
        s.shape.row(lower.data(), i)[j - s.shape.first(i)] *= 0.1;
      }
    CHECK(s.shape.factor(lower.data(), upper.data()) > 0);
    b.assign(asked.data(), asked.data() + asked.size());
    s.shape.solve(lower.data(), upper.data(), b.data());
    CHECK((A * x - asked).norm() <= 1e-14 * A.norm() * x.norm());
    b.assign(asked.data(), asked.data() + asked.size());
    s.shape.solve_transposed(lower.data(), upper.data(), b.data());
    CHECK((A.transpose() * x - asked).norm() <= 1e-14 * A.norm() * x.norm());
  }
}

TEST_CASE("a matrix that is not positive definite has no factor") {
  Rng rng(2);
  Sparse s = random_sparse(rng, 12);
  s.A(7, 7) = -1;
  std::vector<double> L = entries(s);
  CHECK_FALSE(s.shape.factor(L.data()));
}

TEST_CASE("the order of a graph has all nodes once, and neighbors of a chain beside each other") {
  Rng rng(3);
  GraphOrder graph;
  for (int n : {1, 2, 17, 60, 5}) {  // smaller graphs after larger ones, without remains of these
    CAPTURE(n);
    std::vector<int> chain(static_cast<std::size_t>(n));
    std::iota(chain.begin(), chain.end(), 0);
    for (int i = n - 1; i > 0; --i) std::swap(chain[i], chain[rng.below(i + 1)]);
    graph.reset(n);
    for (std::size_t i = 1; i < chain.size(); ++i) graph.connect(chain[i - 1], chain[i]);
    std::vector<int> order = graph.order(), place(chain.size());
    REQUIRE(order.size() == chain.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
    for (std::size_t i = 1; i < chain.size(); ++i)
      CHECK(std::abs(place[chain[i]] - place[chain[i - 1]]) == 1);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) CHECK(order[i] == static_cast<int>(i));
  }
}

TEST_CASE("parts of a graph that nothing connects follow each other") {
  GraphOrder graph;
  graph.reset(6);
  graph.connect(0, 3);
  graph.connect(3, 0);
  graph.connect(1, 5);
  const std::vector<int> order = graph.order();
  REQUIRE(order.size() == 6);
  const auto place = [&](int i) {
    return std::find(order.begin(), order.end(), i) - order.begin();
  };
  CHECK(std::abs(place(0) - place(3)) == 1);
  CHECK(std::abs(place(1) - place(5)) == 1);
}

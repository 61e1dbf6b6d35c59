// Rows that depend on each other across blocks.
#include <doctest/doctest.h>

#include <Eigen/Dense>

#include "contact/mode_solver.h"
#include "random_rows.h"

using namespace robosim;
using namespace robosim::testing;

TEST_CASE("singular systems are solved by the smallest solution, and back by the transpose") {
  RankRevealingQr qr;
  for (int seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const int n = 1 + rng.below(12), rank = 1 + rng.below(n);
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> S = random_normal(rng, n, rank) * random_normal(rng, rank, n);
    REQUIRE(qr.factor(S.data(), n, 1e-11) == rank);
    const Eigen::VectorXd b = S * random_normal(rng, n, 1), c = random_normal(rng, n, 1);
    const Eigen::VectorXd expected = S.completeOrthogonalDecomposition().solve(b);
    Eigen::VectorXd x = b, y = c;
    qr.solve(x.data());
    qr.solve_transposed(y.data());
    CHECK((x - expected).norm() <= 1e-8 * expected.norm());  // random products of rank 1 to 12: condition up to 1e6
    CHECK(std::abs(c.dot(x) - y.dot(b)) <= 1e-8 * (c.norm() * x.norm() + y.norm() * b.norm()));
    for (int k = 0; k < n - rank; ++k) {
      qr.null_vector(k, y.data());
      CHECK(y.norm() == doctest::Approx(1));
      CHECK((S * y).norm() <= 1e-12 * S.norm());
    }
  }
  const double zero[4] = {};
  CHECK(qr.factor(zero, 2, 1e-11) == 0);
}

TEST_CASE("rows of several pairs that depend on each other share what they carry") {
  // A block between a wall and a fixed stop on either side of one axis, held twice along the same direction.
  RowProblem problem;
  for (int side = 0; side < 2; ++side) {
    const RowBlock block{side, 1, side, side + 1};
    ConstraintRow row;
    row.kind = RowKind::unilateral, row.d[0] = 1;
    problem.rows.push_back(row);
    problem.blocks.push_back(block);
  }
  set_motion(problem, Eigen::MatrixXd::Ones(2, 1), Eigen::MatrixXd::Identity(1, 1), Eigen::VectorXd::Constant(1, -3));
  ModeSolver solver;
  RowSolution s;
  REQUIRE(solver.solve(problem, s).status == ModeStatus::solved);
  CHECK(s.f[0] == doctest::Approx(1.5).epsilon(1e-13));
  CHECK(s.f[1] == doctest::Approx(1.5).epsilon(1e-13));
  CHECK(solver.classes().is_differentiable());
  RowGradient g;
  g.set_zero(problem);
  const double f_bar[2] = {}, z_bar[2] = {1, 1};  // both channels are the same velocity, so z of both counts
  solver.classes().add_vjp(problem, s, f_bar, z_bar, g);
  CHECK(g.y_free[0] + g.y_free[1] == doctest::Approx(-1).epsilon(1e-13));
}

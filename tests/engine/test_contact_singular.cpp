// Rows that are linearly dependent across blocks.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "base/linalg/lu.h"
#include "contact/mode_solver.h"
#include "base/linalg/small_matrices.h"
#include "base/linalg/small_sums.h"
#include "random_rows.h"
#include "ridders.h"

using namespace robosim;
using namespace robosim::testing;

TEST_CASE("singular systems are solved by the smallest solution, and back by the transpose") {
  RankRevealingQr qr;
  for (int seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const int n = 1 + rng.below(12), rank = 1 + rng.below(n);
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> S =
        random_normal(rng, n, rank) * random_normal(rng, rank, n);
    REQUIRE(qr.factor(S.data(), n, 1e-11) == rank);
    const Eigen::VectorXd b = S * random_normal(rng, n, 1), c = random_normal(rng, n, 1);
    const Eigen::VectorXd expected = S.completeOrthogonalDecomposition().solve(b);
    Eigen::VectorXd x = b, y = c;
    qr.solve(x.data());
    qr.solve_transposed(y.data());
    // Random products of rank 1 to 12 have condition numbers up to 1e6.
    CHECK((x - expected).norm() <= 1e-8 * expected.norm());
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

TEST_CASE(
    "solves of many columns are those of one by one, and what is left of them is told in twice the "
    "precision, whatever the registers") {
  Rng rng(1);
  const auto random = [&](int count) {
    std::vector<double> x(static_cast<std::size_t>(count));
    for (double& entry : x) entry = rng.normal();
    return x;
  };
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  for (int width = 1; width <= 33; ++width) {
    CAPTURE(width);
    const int n = 1 + rng.below(7);
    const std::vector<double> S = random(n * n), B = random(n * width);
    std::vector<double> LU = S, sizes(at(n)), X = B, column(at(n));
    std::vector<int> pivots(at(n));
    REQUIRE(lu_factor(LU.data(), n, pivots.data(), sizes.data()) > 0);
    small_matrices().solve_transposed(LU.data(), n, pivots.data(), X.data(), width);
    for (int c = 0; c < width; ++c) {
      for (int i = 0; i < n; ++i) column[i] = B[i * width + c];
      lu_solve_transposed(LU.data(), n, pivots.data(), column.data());
      for (int i = 0; i < n; ++i) CHECK(column[i] == X[i * width + c]);
    }
    std::vector<double> high = B, low = random(n * width), expected_high = high, expected_low = low;
    for (int i = 0; i < n * width; ++i) {
      double &h = expected_high[i], &l = expected_low[i];
      for (int j = 0; j < n; ++j) {
        const double a = -S[j * n + i / width], b = X[j * width + i % width], product = a * b,
                     sum = h + product, of_product = sum - h;
        l += (h - (sum - of_product)) + (product - of_product);
        l += std::fma(a, b, -product);
        h = sum;
      }
    }
    small_matrices().subtract_doubled(S.data(), n, X.data(), width, high.data(), low.data());
    CHECK(high == expected_high);
    CHECK(low == expected_low);
  }
}

TEST_CASE("solves of many columns of what is singular are those of one by one, to the bit") {
  RankRevealingQr qr;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  for (int width = 1; width <= 33; ++width) {
    CAPTURE(width);
    Rng rng(static_cast<std::uint64_t>(width));
    const int n = 1 + rng.below(8), rank = 1 + rng.below(n);
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>
        S = random_normal(rng, n, rank) * random_normal(rng, rank, n),
        B = random_normal(rng, n, width);
    REQUIRE(qr.factor(S.data(), n, 1e-11) == rank);
    std::vector<double> X(B.data(), B.data() + n * width), column(at(n));
    qr.solve_transposed(X.data(), width);
    for (int c = 0; c < width; ++c) {
      for (int i = 0; i < n; ++i) column[i] = B(i, c);
      qr.solve_transposed(column.data());
      for (int i = 0; i < n; ++i) CHECK(column[i] == X[i * width + c]);
    }
  }
}

TEST_CASE("neighboring columns have the dot products of one by one, to the bit") {
  Rng rng(5);
  const auto check = [&](auto count, int columns) {
    const int stride = columns + 2;
    double factors[6], rows[6 * 20], to[18] = {}, column[6];
    for (double& x : factors) x = rng.normal();
    for (double& x : rows) x = rng.normal();
    to[columns] = 7;
    dots<count>(factors, rows, stride, columns, to);
    for (int i = 0; i < columns; ++i) {
      for (int k = 0; k < count; ++k) column[k] = rows[k * stride + i];
      CHECK(to[i] == dot(factors, column, count));
    }
    CHECK(to[columns] == 7);
  };
  for (int columns = 0; columns <= 17; ++columns) {
    check(std::integral_constant<int, 1>(), columns);
    check(std::integral_constant<int, 2>(), columns);
    check(std::integral_constant<int, 3>(), columns);
    check(std::integral_constant<int, 6>(), columns);
  }
}

TEST_CASE("products are sums in order, whatever the registers, and where factors are passed over") {
  Rng rng(2);
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  for (int width = 1; width <= 33; ++width) {
    CAPTURE(width);
    // The sparse kernel takes many terms in several parts.
    const int rows = 1 + rng.below(9), inner = width % 4 ? 1 + rng.below(7) : 60 + rng.below(80);
    const int B_stride = width + rng.below(3), C_stride = width + rng.below(3);
    std::vector<double> A(at(rows * inner)), B(at(inner * B_stride)), C(at(rows * C_stride));
    for (auto* x : {&A, &B, &C})
      for (double& entry : *x) entry = rng.normal();
    for (double& entry : A) entry *= rng.below(2);
    for (const bool is_transposed : {false, true}) {
      std::vector<double> dense = C, sparse = C, expected = C;
      const LeftFactor left = is_transposed ? LeftFactor::transposed(A.data(), rows, inner)
                                            : LeftFactor(A.data(), rows, inner);
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < width; ++c)
          for (int i = 0; i < inner; ++i)
            expected[r * C_stride + c] +=
                A[is_transposed ? i * rows + r : r * inner + i] * B[i * B_stride + c];
      small_matrices().add_product(left, B.data(), B_stride, dense.data(), C_stride, width);
      small_matrices().add_sparse_product(left, B.data(), B_stride, sparse.data(), C_stride, width);
      CHECK(dense == expected);
      CHECK(sparse == expected);
    }
  }
}

namespace {

__extension__ typedef __int128 Wide;

}  // namespace

TEST_CASE("sums in twice the precision keep what all but cancels") {
  Rng rng(3);
  for (int n = 1; n <= 33; ++n) {
    CAPTURE(n);
    // Integers, whose products and sum are exact in a wider type.
    std::vector<double> a(static_cast<std::size_t>(n)), x(a.size());
    Wide exact = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = rng.below(1 << 30) - (1 << 29);
      x[i] = 4096.0 * rng.below(1 << 30) + rng.below(4096);
      exact += static_cast<Wide>(a[i]) * static_cast<Wide>(x[i]);
    }
    double sum = -static_cast<double>(exact), low = 0;  // as far as one number can represent it
    const double expected = static_cast<double>(exact + static_cast<Wide>(sum));
    small_matrices().add_dot_doubled(a.data(), x.data(), n, sum, low);
    CHECK(sum + low == expected);
    for (int width : {1, 2, 3, 6, 13}) {  // the same sum in each column
      std::vector<double> A, high(static_cast<std::size_t>(width), -static_cast<double>(exact)),
          lows(high.size());
      for (double each : a) A.insert(A.end(), high.size(), each);
      small_matrices().add_doubled(A.data(), n, width, x.data(), high.data(), lows.data());
      for (std::size_t c = 0; c < high.size(); ++c) CHECK(high[c] + lows[c] == expected);
    }
  }
}

TEST_CASE("gradients of all but dependent rows are those of these rows, to rounding") {
  // Two rows of one coordinate each: the gradient of the first impulse by the velocities is -S^-T
  // e, with an exact solution for 2 x 2 matrices.
  for (int seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const double apart = seed < 50 ? 1e-8 : 1e-2;
    const double a = rng.uniform(1, 2), b = rng.uniform(1, 2),
                 c = b * b / a * (1 + rng.uniform(1, 2) * apart);
    RowProblem problem;
    problem.channels = 2;
    for (int i = 0; i < 2; ++i) {
      problem.blocks.push_back({i, 1, i, i + 1});
      ConstraintRow row;
      row.kind = RowKind::unilateral;
      row.d[0] = 1;
      problem.rows.push_back(row);
    }
    problem.L = {a, b, b, c};
    problem.y_free = {-(a + b), -(b + c)};  // impulses of one each
    ClassFactor factor;
    RowSolution s;
    const RowClass classes[2] = {RowClass::clamping, RowClass::clamping};
    REQUIRE(factor.factor(problem, classes));
    factor.solve(problem, s);
    const double bc = b * b, determinant = std::fma(a, c, -bc) - std::fma(b, b, -bc);  // Kahan's
    RowGradient g;
    g.set_zero(problem);
    const double f_bar[2] = {1, 0}, z_bar[2] = {};
    factor.add_vjp(problem, s, f_bar, z_bar, g);
    // Without refinement the error would be 1e-8, or 1e-14 / 1e-2.
    CHECK(g.y_free[0] == doctest::Approx(-c / determinant).epsilon(1e-14));
    CHECK(g.y_free[1] == doctest::Approx(b / determinant).epsilon(1e-14));
  }
}

TEST_CASE("rows of several pairs that depend on each other share what they carry") {
  // A block between a wall and a fixed stop on either side of one axis, held twice along the same
  // direction.
  RowProblem problem;
  for (int side = 0; side < 2; ++side) {
    const RowBlock block{side, 1, side, side + 1};
    ConstraintRow row;
    row.kind = RowKind::unilateral;
    row.d[0] = 1;
    problem.rows.push_back(row);
    problem.blocks.push_back(block);
  }
  set_motion(problem, Eigen::MatrixXd::Ones(2, 1), Eigen::MatrixXd::Identity(1, 1),
             Eigen::VectorXd::Constant(1, -3));
  ModeSolver solver;
  RowSolution s;
  REQUIRE(solver.solve(problem, s).status == SolverStatus::solved);
  CHECK(s.f[0] == doctest::Approx(1.5).epsilon(1e-13));
  CHECK(s.f[1] == doctest::Approx(1.5).epsilon(1e-13));
  CHECK(solver.classes().is_differentiable(problem));
  RowGradient g;
  g.set_zero(problem);
  // Both coordinates are the same velocity, so the z of both count.
  const double f_bar[2] = {}, z_bar[2] = {1, 1};
  solver.classes().add_vjp(problem, s, f_bar, z_bar, g);
  CHECK(g.y_free[0] + g.y_free[1] == doctest::Approx(-1).epsilon(1e-13));
}

TEST_CASE(
    "impulses that the rule chooses, of least friction and then the least of springs, have the "
    "derivatives of differences") {
  // A body of three coordinates at rest, held by two normals and two frictions in each of three
  // blocks: twelve impulses for three equations. Their share of the load changes as the rows and
  // the motion of the coordinates change.
  constexpr int blocks = 3, rows_of_each = 4, width = 3, n = 3, rows = blocks * rows_of_each,
                channels = blocks * width;
  for (int seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const Eigen::MatrixXd D = random_normal(rng, rows, width), dD = random_normal(rng, rows, width),
                          X = random_normal(rng, channels, n), dX = random_normal(rng, channels, n),
                          v = random_normal(rng, n, 1), dv = random_normal(rng, n, 1),
                          A = random_normal(rng, n, n);
    const Eigen::MatrixXd inverse_mass = A * A.transpose() + Eigen::MatrixXd::Identity(n, n);
    const auto problem_at = [&](double t) {
      RowProblem problem;
      for (int i = 0; i < rows; ++i) {
        const int place = i % rows_of_each;
        ConstraintRow row;
        if (place % 2) {
          row.kind = RowKind::friction;
          row.mu = 1;
          row.normal = i - 1;
        }
        for (int c = 0; c < width; ++c) row.d[c] = D(i, c) + t * dD(i, c);
        problem.rows.push_back(row);
        if (place == 0)
          problem.blocks.push_back({i / rows_of_each * width, width, i, i + rows_of_each});
      }
      set_motion(problem, X + t * dX, inverse_mass, v + t * dv);
      return problem;
    };
    const std::vector<RowClass> clamping(rows, RowClass::clamping);
    const auto impulses_at = [&](double t) {
      const RowProblem problem = problem_at(t);
      ClassFactor factor;
      RowSolution s;
      REQUIRE(factor.factor(problem, clamping.data()));
      factor.solve(problem, s);
      for (const double y : s.y) CHECK(std::abs(y) < 1e-9);
      return s.f;
    };
    const std::vector<double> expected = ridders(impulses_at, 1e-3), f = impulses_at(0);

    // Least friction, then least squares of the springs: no change that moves nothing improves the
    // result.
    const RowProblem problem = problem_at(0);
    Eigen::MatrixXd push(n, rows);  // coordinates by impulses
    for (int i = 0; i < rows; ++i)
      push.col(i) =
          X.middleRows(problem.blocks[i / rows_of_each].first_channel, width).transpose() *
          D.row(i).transpose();
    const Eigen::MatrixXd unmoved = Eigen::FullPivLU<Eigen::MatrixXd>(push).kernel();
    Eigen::MatrixXd unmoved_friction(rows / 2, unmoved.cols());
    Eigen::VectorXd friction(rows / 2), springs(rows / 2);
    for (int i = 0; i < rows / 2; ++i) {
      unmoved_friction.row(i) = unmoved.row(2 * i + 1);
      friction[i] = f[2 * i + 1];
      springs[i] = f[2 * i];
    }
    CHECK((unmoved_friction.transpose() * friction).norm() < 1e-8);
    const Eigen::MatrixXd rest =
        unmoved * Eigen::FullPivLU<Eigen::MatrixXd>(unmoved_friction).kernel();
    for (int c = 0; c < rest.cols(); ++c) {
      double sum = 0;
      for (int i = 0; i < rows / 2; ++i) sum += rest(2 * i, c) * springs[i];
      CHECK(std::abs(sum) < 1e-8);
    }

    ClassFactor factor;
    RowSolution s;
    factor.factor(problem, clamping.data());
    factor.solve(problem, s);
    CHECK_FALSE(factor.find_choice(problem));  // the choice does not affect any motion
    const std::vector<double> still(channels, 0.0);
    for (int i = 0; i < rows; ++i) {
      CAPTURE(i);
      std::vector<double> f_bar(rows, 0.0);
      f_bar[i] = 1;
      RowGradient g;
      g.set_zero(problem);
      factor.add_vjp(problem, s, f_bar.data(), still.data(), g);
      const Eigen::MatrixXd dL =
          dX * inverse_mass * X.transpose() + X * inverse_mass * dX.transpose();
      const Eigen::VectorXd dy = dX * v + X * dv;
      double found = 0;
      for (int a = 0; a < channels; ++a) {
        found += g.y_free[a] * dy[a];
        for (int b = 0; b < channels; ++b) found += g.L[a * channels + b] * dL(a, b);
      }
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < width; ++c) found += g.d[r * most_block_channels + c] * dD(r, c);
      double largest = 1;
      for (const double x : expected) largest = std::max(largest, std::abs(x));
      CHECK(std::abs(found - expected[i]) < 1e-7 * largest);
    }
  }
}

namespace {

// Two blocks with a normal and one axis of friction each, with one coordinate for each.
RowProblem two_points(const Eigen::Matrix4d& L, double mu) {
  RowProblem problem;
  for (int i = 0; i < 2; ++i) {
    problem.blocks.push_back({2 * i, 2, 2 * i, 2 * i + 2});
    ConstraintRow normal, friction;
    normal.d[0] = 1;
    friction.kind = RowKind::friction;
    friction.d[1] = 1;
    friction.mu = mu;
    friction.normal = 2 * i;
    problem.rows.insert(problem.rows.end(), {normal, friction});
  }
  problem.channels = 4;
  problem.L.assign(L.data(), L.data() + 16);
  problem.y_free.assign(4, -1.0);
  return problem;
}

}  // namespace

TEST_CASE("classes say whether they leave the velocities a choice") {
  constexpr RowClass push = RowClass::clamping, slide = RowClass::upper,
                     rest = RowClass::separating;
  ClassFactor factor;
  // At the first point friction removes as much of the normal velocity as the normal adds. Any
  // impulse there keeps the normal velocity, but not the tangential one.
  Eigen::Matrix4d L = Eigen::Matrix4d::Identity();
  L(0, 1) = L(1, 0) = -0.8;
  const RowClass jammed[] = {push, slide, push, rest};
  const auto is_unique = [&](const RowProblem& problem, const RowClass* classes) {
    REQUIRE(factor.factor(problem, classes));
    return !factor.find_choice(problem) && factor.is_determined(problem);
  };
  CHECK_FALSE(is_unique(two_points(L, 1 / 0.8), jammed));
  CHECK(is_unique(two_points(L, 1), jammed));
  // A body in a corner that slides up both walls: the impulse of one wall has the effect of the
  // other's, friction included, so the choice does not matter.
  Eigen::Matrix<double, 4, 2> X;
  X << 1, 0, 0, 1, 0, 1, 1, 0;  // the first normal along x, the second along y
  const RowClass wedged[] = {push, slide, push, slide};
  CHECK(is_unique(two_points(X * X.transpose(), 1), wedged));
}

TEST_CASE("two points of what moves in a plane alone leave its velocities no choice") {
  // Two points along their normal, on either side of the plane. Rotation about the axis across does
  // not occur, except for rounding.
  RowProblem problem;
  problem.blocks.push_back({0, 2, 0, 2});
  for (const double arm : {-1.0, 1.0}) {
    ConstraintRow normal;
    normal.d[0] = arm;
    normal.d[1] = 1;
    problem.rows.push_back(normal);
  }
  problem.channels = 2;
  problem.y_free = {1e-17, -1};
  for (const double rounding : {0.0, 1e-17, -1e-15}) {
    CAPTURE(rounding);
    problem.L = {rounding * rounding, rounding, rounding, 1};
    ModeSolver solver;
    RowSolution s;
    REQUIRE(solver.solve(problem, s).status == SolverStatus::solved);
    CHECK(s.f[0] == doctest::Approx(0.5).epsilon(1e-12));
    CHECK(solver.classes().is_differentiable(problem));
  }
}

TEST_CASE(
    "two points of what moves in a plane alone carry as much each, however much of it their "
    "friction takes") {
  // Both points slide, each with its own friction. No rotation occurs across the plane, so that the
  // share of the points follows only from equal compliance of all.
  RowProblem problem;
  problem.blocks.push_back({0, 3, 0, 4});
  for (const double arm : {-1.0, 1.0}) {
    ConstraintRow normal, friction;
    normal.d[0] = arm;
    normal.d[1] = 1;
    friction.kind = RowKind::friction;
    friction.d[2] = 1;
    friction.mu = 0.3 + 0.1 * arm;
    friction.normal = problem.size();
    problem.rows.insert(problem.rows.end(), {normal, friction});
  }
  problem.channels = 3;
  problem.y_free = {0, -1, 10};
  problem.L = {0, 0, 0, 0, 1, 0, 0, 0, 1};
  ModeSolver solver;
  RowSolution s;
  REQUIRE(solver.solve(problem, s).status == SolverStatus::solved);
  CHECK(s.f[0] == doctest::Approx(0.5).epsilon(1e-13));
  CHECK(s.f[2] == doctest::Approx(0.5).epsilon(1e-13));
  CHECK(s.y[2] == doctest::Approx(10 - 0.3).epsilon(1e-13));
  // Their share has an effect: another rule would lead to another velocity.
  CHECK_FALSE(solver.classes().is_differentiable(problem));
}

TEST_CASE("a row along which nothing can move here is asked whether it goes on to hold") {
  RowProblem problem;
  problem.blocks.push_back({0, 2, 0, 2});
  for (int i = 0; i < 2; ++i) {
    ConstraintRow row;
    row.kind = RowKind::equality;
    row.d[i] = 1;
    problem.rows.push_back(row);
  }
  problem.channels = 2;
  problem.L = {1, 0, 0, 0};
  problem.y_free = {1, 0};
  ClassFactor factor;
  RowSolution s;
  const RowClass clamping[] = {RowClass::clamping, RowClass::clamping};
  REQUIRE(factor.factor(problem, clamping));
  factor.solve(problem, s);
  CHECK(s.f[0] == doctest::Approx(-1).epsilon(1e-14));
  CHECK(s.f[1] == 0);
  REQUIRE(factor.has_dependences(problem));
  RowGradient g;
  g.set_zero(problem, true);
  factor.add_dependence_vjp(problem, s, g);
  CHECK(std::abs(g.y_free[1]) >= 0.5);  // the row would move if the coordinate did
  CHECK(g.y_free[0] == 0);
}

TEST_CASE("a row is told to depend on those of its block, and what it would push") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const int rank = 1 + static_cast<int>(seed) % 5, m = rank + 3;
    const Eigen::MatrixXd D = random_normal(rng, m, rank) * random_normal(rng, rank, 6);
    const Eigen::VectorXd u = random_normal(rng, 6, 1), share = random_normal(rng, m, 1);
    RowProblem problem;
    problem.blocks.push_back({0, 6, 0, m});
    for (int i = 0; i < m; ++i) {
      ConstraintRow row;
      row.kind = RowKind::equality;
      for (int c = 0; c < 6; ++c) row.d[c] = D(i, c);
      problem.rows.push_back(row);
    }
    problem.channels = 6;
    RowBasis basis;
    basis.build(problem,
                std::vector<RowClass>(static_cast<std::size_t>(m), RowClass::clamping).data());
    REQUIRE(basis.unknowns() == rank);
    const Eigen::VectorXd f = D * u;
    std::vector<double> b(static_cast<std::size_t>(rank), 0.0);
    basis.add_projection(1, f.data(), b.data());
    const Eigen::VectorXd implied = D.transpose() * share;
    double push = 0;
    ConstraintRow row;
    const auto along = [&](const Eigen::VectorXd& d) -> const ConstraintRow& {
      std::copy_n(d.data(), 6, row.d);
      return row;
    };
    CHECK(basis.implies(basis.blocks()[0], 6, along(implied), b.data(), push));
    CHECK(push == doctest::Approx(implied.dot(u)).epsilon(1e-10));
    CHECK_FALSE(basis.implies(basis.blocks()[0], 6,
                              along(implied + 1e-6 * random_normal(rng, 6, 1)), b.data(), push));
  }
}

TEST_CASE(
    "friction creeps: of all impulses alike those of least friction, and of these the smallest") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const int springs = 2 + static_cast<int>(seed) % 4,
              frictions = 2 + static_cast<int>(seed / 4) % 5, m = springs + frictions;
    const int rank = 1 + static_cast<int>(seed) % 3;  // of the springs
    Eigen::MatrixXd D(m, 6);
    D.topRows(springs) = random_normal(rng, springs, rank) * random_normal(rng, rank, 6);
    // Some friction also acts along directions of the springs.
    D.bottomRows(frictions) = random_normal(rng, frictions, 3) * random_normal(rng, 3, 6);
    D.row(springs) = D.row(0) + D.row(1);
    RowProblem problem;
    problem.channels = 6;
    problem.blocks.push_back({0, 6, 0, m});
    for (int i = 0; i < m; ++i) {
      ConstraintRow row;
      row.kind = i < springs ? RowKind::unilateral : RowKind::friction;
      row.mu = 1;
      row.normal = i < springs ? -1 : 0;
      for (int c = 0; c < 6; ++c) row.d[c] = D(i, c);
      problem.rows.push_back(row);
    }
    RowBasis basis;
    basis.build(problem,
                std::vector<RowClass>(static_cast<std::size_t>(m), RowClass::clamping).data());
    const RowBasis::Block& block = basis.blocks()[0];
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>
        Q(basis.Q(block), 6, block.columns), N(basis.N(block), 6, block.columns),
        P(basis.P(block), m, block.columns);
    CHECK((P.transpose() * P - Eigen::MatrixXd::Identity(block.columns, block.columns))
              .cwiseAbs()
              .maxCoeff() < 1e-13);
    CHECK((N.transpose() * Q - Eigen::MatrixXd::Identity(block.columns, block.columns))
              .cwiseAbs()
              .maxCoeff() < 1e-11);
    const Eigen::VectorXd z = D.transpose() * random_normal(rng, m, 1), f = P * (Q.transpose() * z);
    CHECK((D.transpose() * f - z).cwiseAbs().maxCoeff() < 1e-10 * z.cwiseAbs().maxCoeff());
    // Friction with 1e4^2 times the compliance of springs.
    Eigen::VectorXd give = Eigen::VectorXd::Ones(m);
    give.tail(frictions).setConstant(1e-4);
    const Eigen::MatrixXd scaled = give.asDiagonal() * D;
    const Eigen::VectorXd soft =
        give.asDiagonal() *
        Eigen::VectorXd(scaled.transpose().completeOrthogonalDecomposition().solve(z));
    CHECK((f - soft).cwiseAbs().maxCoeff() < 1e-5 * soft.cwiseAbs().maxCoeff());
  }
}

TEST_CASE("rows of one pair that depend on each other tell whether they go on to hold") {
  // Ten rows that constrain one motion of six components, like those of a foot on many triangles.
  for (int seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    constexpr int m = 10, width = most_block_channels;
    const Eigen::MatrixXd D = random_normal(rng, m, width), change = random_normal(rng, m, width),
                          root = random_normal(rng, width, width);
    const Eigen::VectorXd y = random_normal(rng, width, 1), dy = random_normal(rng, width, 1),
                          loose = random_normal(rng, m, 1);
    RowProblem problem;
    problem.blocks.push_back({0, width, 0, m, false});
    for (int i = 0; i < m; ++i) {
      ConstraintRow row;
      row.kind = RowKind::equality;
      row.target = D.row(i).dot(y);
      for (int c = 0; c < width; ++c) row.d[c] = D(i, c);
      problem.rows.push_back(row);
    }
    const Eigen::MatrixXd L = root * root.transpose();
    problem.channels = width;
    problem.L.assign(L.data(), L.data() + width * width);
    problem.y_free.assign(width, 0.0);
    ClassFactor modes;
    RowSolution s;
    const std::vector<RowClass> classes(m, RowClass::clamping);
    REQUIRE(modes.solve(problem, classes.data(), s));
    REQUIRE(row_residual(problem, s) <= 1e-9);  // condition of random L up to 1e4
    REQUIRE(modes.has_dependences(problem));
    RowGradient g;
    g.set_zero(problem);
    modes.add_dependence_vjp(problem, s, g);
    double along = 0, size = 0, off = 0;
    for (int i = 0; i < m; ++i) {
      for (int c = 0; c < width; ++c) along += g.d[i * width + c] * change(i, c);
      const double target = g.target[i], with_it = change.row(i).dot(y) + D.row(i).dot(dy);
      along += target * with_it;
      size += std::abs(target * with_it);
      off += target * loose[i];
    }
    CHECK(std::abs(along) <= 1e-9 * size);  // targets of a common motion
    CHECK(std::abs(off) > 1e-3);            // targets without a common motion
    problem.blocks[0].is_of_one_plane = true;
    CHECK_FALSE(modes.has_dependences(problem));
  }
}

TEST_CASE("what rests on more points than it needs pushes as it would if all gave a little") {
  int at_bounds = 0;
  for (int seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const int m = 5 + rng.below(6);
    RowProblem problem;
    problem.blocks.push_back({0, 6, 0, m});
    Eigen::VectorXd load = Eigen::VectorXd::Zero(6);
    for (int i = 0; i < m; ++i) {
      const double x = rng.normal(), y = rng.normal();
      ConstraintRow row;  // points on the plane z = 0, pushed up
      row.d[0] = y;
      row.d[1] = -x;
      row.d[5] = 1;
      problem.rows.push_back(row);
      // Loads within the bounds, mostly carried by a few points.
      const double share = i < 3 ? 1 : 0.02 * (1 + rng.normal() * rng.normal());
      for (int c = 0; c < 6; ++c) load[c] += std::max(share, 0.0) * row.d[c];
    }
    const Eigen::MatrixXd root = random_normal(rng, 6, 6),
                          L = root * root.transpose() + 0.1 * Eigen::MatrixXd::Identity(6, 6);
    problem.channels = 6;
    problem.L.assign(L.data(), L.data() + 36);
    const Eigen::VectorXd y_free = -L * load;
    problem.y_free.assign(y_free.data(), y_free.data() + 6);
    ModeSolver solver;
    RowSolution s, soft;
    REQUIRE(solver.solve(problem, s).status == SolverStatus::solved);
    RowProblem giving = problem;
    for (ConstraintRow& row : giving.rows) row.compliance = 1e-7;
    REQUIRE(solver.solve(giving, soft).status == SolverStatus::solved);
    for (std::size_t i = 0; i < s.f.size(); ++i) {
      // Tolerance for loads of about 1 and compliances of 1e-7 of admittances down to 0.1, in
      // unfavorable positions.
      CHECK(std::abs(s.f[i] - soft.f[i]) <= 1e-4);
      at_bounds += s.classes[i] != RowClass::clamping;
    }
  }
  CHECK(at_bounds > 50);
}

TEST_CASE("the corners of a box are told to depend on each other") {
  RowProblem problem;
  problem.blocks.push_back({0, 3, 0, 4, false});
  for (const double x : {-1.0, 1.0})
    for (const double y : {-1.0, 1.0}) {
      ConstraintRow normal;
      normal.d[0] = y;
      normal.d[1] = -x;
      normal.d[2] = 1;
      problem.rows.push_back(normal);
    }
  set_motion(problem, Eigen::MatrixXd::Identity(3, 3), Eigen::MatrixXd::Identity(3, 3),
             Eigen::VectorXd::Constant(3, -1));
  const std::vector<RowClass> clamping(4, RowClass::clamping);
  ClassFactor factor;
  RowSolution s;
  REQUIRE(factor.factor(problem, clamping.data()));
  factor.solve(problem, s);
  RowGradient g;
  g.set_zero(problem);
  factor.add_dependence_vjp(problem, s, g);
  // One combination, of the two diagonals.
  CHECK(std::abs(g.target[0]) > 0.01);
  for (const int i : {1, 2, 3})
    CHECK(std::abs(g.target[i] - (i == 3 ? 1 : -1) * g.target[0]) < 1e-14);
}

TEST_CASE("dependences of normals and friction are told without how anything moves") {
  // More rows than coordinates: combinations of rows that are zero stay zero for all velocities,
  // and only the targets can violate them.
  constexpr int width = 3, rows = 8;
  for (int seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    RowProblem problem;
    problem.blocks.push_back({0, width, 0, rows, false});
    for (int i = 0; i < rows; ++i) {
      ConstraintRow row;
      if (i % 2) {
        row.kind = RowKind::friction;
        row.mu = 1;
        row.normal = i - 1;
      }
      for (int c = 0; c < width; ++c) row.d[c] = rng.normal();
      problem.rows.push_back(row);
    }
    set_motion(problem, random_normal(rng, width, 4), Eigen::MatrixXd::Identity(4, 4),
               random_normal(rng, 4, 1));
    const std::vector<RowClass> clamping(rows, RowClass::clamping);
    ClassFactor factor;
    RowSolution s;
    REQUIRE(factor.factor(problem, clamping.data()));
    factor.solve(problem, s);
    REQUIRE(factor.has_dependences(problem));
    RowGradient g;
    g.set_zero(problem);
    factor.add_dependence_vjp(problem, s, g);
    for (const double y : g.y_free) CHECK(std::abs(y) < 1e-12);
    CHECK(Eigen::Map<Eigen::VectorXd>(g.target.data(), rows).norm() > 0.1);
  }
}

// Rows are solved to rounding by every method.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <functional>
#include <map>
#include <string>

#include "contact/mode_solver.h"
#include "contact/row_solvers.h"
#include "row_cases.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A = D L D^T + R with the problem's rows, and b, the velocities without impulses.
struct Dense {
  Eigen::MatrixXd D, A;
  Eigen::VectorXd b;

  explicit Dense(const RowProblem& problem) {
    const int m = problem.size(), k = problem.channels;
    D = Eigen::MatrixXd::Zero(m, k);
    Eigen::VectorXd t(m), R(m);
    for (const RowBlock& block : problem.blocks) {
      for (int i = block.first_row; i < block.last_row; ++i) {
        for (int c = 0; c < block.width; ++c) D(i, block.first_channel + c) = problem.rows[i].d[c];
        t[i] = problem.rows[i].target;
        R[i] = problem.rows[i].compliance;
      }
    }
    const Eigen::Map<const Eigen::MatrixXd> L(problem.L.data(), k, k);
    const Eigen::Map<const Eigen::VectorXd> y(problem.y_free.data(), k);
    A = D * L * D.transpose();
    A.diagonal() += R;
    b = D * y - t;
  }
};

// All velocities w that solve the rows, found by trying every assignment of modes.
std::vector<Eigen::VectorXd> all_solutions(const RowProblem& problem) {
  const Dense dense(problem);
  const int m = problem.size();
  std::vector<RowClass> classes(at(m), RowClass::clamping);
  std::vector<Eigen::VectorXd> found;
  const std::function<void(int)> choose = [&](int i) {
    if (i < m) {
      const ConstraintRow& row = problem.rows[i];
      std::vector<RowClass> choices{RowClass::clamping};
      if (row.kind == RowKind::unilateral) choices.push_back(RowClass::separating);
      if (row.kind == RowKind::box)
        choices = {RowClass::clamping, RowClass::lower, RowClass::upper};
      if (row.kind == RowKind::friction) {
        if (classes[row.normal] == RowClass::clamping)
          choices = {RowClass::clamping, RowClass::lower, RowClass::upper};
        else
          choices = {RowClass::separating};
      }
      for (const RowClass c : choices) {
        classes[i] = c;
        choose(i + 1);
      }
      return;
    }
    // f = E f_C + constant; rows of C are at rest.
    std::vector<int> C;
    for (int r = 0; r < m; ++r) {
      if (classes[r] == RowClass::clamping) C.push_back(r);
    }
    const int n = static_cast<int>(C.size());
    Eigen::MatrixXd E = Eigen::MatrixXd::Zero(m, n);
    Eigen::VectorXd constant = Eigen::VectorXd::Zero(m);
    for (int c = 0; c < n; ++c) E(C[c], c) = 1;
    for (int r = 0; r < m; ++r) {
      const ConstraintRow& row = problem.rows[r];
      if (classes[r] != RowClass::lower && classes[r] != RowClass::upper) continue;
      const double sign = classes[r] == RowClass::upper ? 1 : -1;
      if (row.kind == RowKind::friction)
        E.row(r) = sign * row.mu * E.row(row.normal);
      else
        constant[r] = sign > 0 ? row.upper : row.lower;
    }
    Eigen::MatrixXd S(n, n);
    Eigen::VectorXd rhs(n);
    const Eigen::MatrixXd AE = dense.A * E;
    const Eigen::VectorXd w0 = dense.A * constant + dense.b;
    for (int c = 0; c < n; ++c) {
      S.row(c) = AE.row(C[c]);
      rhs[c] = -w0[C[c]];
    }
    const Eigen::VectorXd f =
        n == 0 ? constant
               : Eigen::VectorXd(E * S.completeOrthogonalDecomposition().solve(rhs) + constant);
    RowSolution s;
    s.resize(problem);
    Eigen::Map<Eigen::VectorXd>(s.f.data(), m) = f;
    apply_impulses(problem, s);
    if (!(row_residual(problem, s) < 1e-9)) return;
    const Eigen::VectorXd w = Eigen::Map<Eigen::VectorXd>(s.w.data(), m);
    for (const Eigen::VectorXd& other : found) {
      if ((other - w).cwiseAbs().maxCoeff() < 1e-7) return;
    }
    found.push_back(w);
  };
  choose(0);
  return found;
}

// A block on the ground, with its twist at the center of its four corners. Arguments are the center
// of pressure in half sizes, slip and friction.
RowProblem block_on_ground(double x, double y, double sliding, double mu) {
  RowProblem problem;
  const RowBlock block{0, 6, 0, 12};
  add_contact(problem, Eigen::Matrix3d::Identity(), {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}, mu, false,
              0);
  problem.blocks = {block};
  // Unit mass and inertias, with one unit of downward momentum at (x, y).
  Eigen::VectorXd v(6);
  v << -y, x, 0, sliding, 0, -1;
  set_motion(problem, Eigen::MatrixXd::Identity(6, 6), Eigen::MatrixXd::Identity(6, 6), v);
  return problem;
}

}  // namespace

TEST_CASE("the conditions hold to rounding, and the impulses are those of the selection rule") {
  std::map<std::string, int> basic;
  ModeSolver solver;
  RowSolution s;
  for_each_problem(false, 60, [&](const Case& c, const RowProblem& problem) {
    const SolverReport report = solver.solve(problem, s);
    REQUIRE(report.status != SolverStatus::inconsistent);
    REQUIRE(report.residual <= 1e-12);
    REQUIRE(report.residual == row_residual(problem, s));
    basic[c.name] += report.status == SolverStatus::basic;
    if (c.spec.compliance > 0) return;
    // f_C = D_C q, block by block.
    const Dense dense(problem);
    for (const RowBlock& block : problem.blocks) {
      std::vector<int> C;
      for (int i = block.first_row; i < block.last_row; ++i) {
        if (s.classes[i] == RowClass::clamping) C.push_back(i);
      }
      if (C.empty()) continue;
      const int n = static_cast<int>(C.size());
      Eigen::MatrixXd D(n, block.width);
      Eigen::VectorXd f(n);
      for (int r = 0; r < n; ++r) {
        D.row(r) = dense.D.block(C[r], block.first_channel, 1, block.width);
        f[r] = s.f[C[r]];
      }
      const Eigen::VectorXd q = D.completeOrthogonalDecomposition().solve(f);
      REQUIRE((D * q - f).norm() <= 1e-10 * f.norm());
    }
  });
  // Out of 60. When twelve points slide at once, the motion depends on which of them push, and the
  // result of selection need not be a solution.
  for (const Case& c : cases()) CHECK(basic[c.name] <= (c.spec.points > 4 ? 2 : 1));
}

TEST_CASE("small problems are solved by one of all their solutions") {
  int unique = 0;
  for (const RowsSpec& spec :
       {RowsSpec{.bodies = 1, .pairs = 1, .points = 2}, RowsSpec{.bodies = 2, .pairs = 2},
        RowsSpec{.bodies = 2, .pairs = 2, .boxes = 1},
        RowsSpec{.bodies = 1, .pairs = 2, .mu = 2}}) {
    for (int seed = 0; seed < 25; ++seed) {
      CAPTURE(seed);
      Rng rng(static_cast<std::uint64_t>(100 + seed));
      const RowProblem problem = random_rows(rng, spec);
      const std::vector<Eigen::VectorXd> all = all_solutions(problem);
      REQUIRE(!all.empty());
      unique += all.size() == 1;
      RowSolution s;
      ModeSolver box;
      Dantzig dantzig;
      Lemke lemke;
      const auto check = [&](double tolerance) {
        double nearest = 1;
        for (const Eigen::VectorXd& w : all)
          nearest = std::min(
              nearest,
              (w - Eigen::Map<Eigen::VectorXd>(s.w.data(), problem.size())).cwiseAbs().maxCoeff());
        CHECK(nearest <= tolerance);
      };
      box.solve(problem, s);
      check(1e-9);
      REQUIRE(lemke.solve(problem, s));
      check(1e-7);  // pivots of a whole table, without refinement
      if (dantzig.solve(problem, s) == Dantzig::Outcome::solved) check(1e-8);
    }
  }
  CHECK(unique > 80);  // of 100: Coulomb's law with much friction sometimes has several solutions
}

TEST_CASE("Dantzig's pivots and Lemke's end at solutions by themselves") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    int solved = 0, of_lemke = 0;
    Dantzig dantzig;
    Lemke lemke;
    RowSolution s;
    for (int seed = 0; seed < 15; ++seed) {
      CAPTURE(seed);
      Rng rng(static_cast<std::uint64_t>(seed));
      const RowProblem problem = random_rows(rng, c.spec);
      if (dantzig.solve(problem, s) == Dantzig::Outcome::solved) {
        ++solved;
        CHECK(row_residual(problem, s) < 1e-8);
      }
      if (lemke.solve(problem, s)) {
        ++of_lemke;
        CHECK(row_residual(problem, s) < 1e-7);
      }
    }
    CHECK(of_lemke == 15);  // as the theory guarantees
    // No guarantee where friction of dependent rows is at its bounds.
    CHECK(solved >= (c.spec.mu == 0 || c.spec.points == 1 ? 15 : 5));
  }
}

TEST_CASE("a block on four corners: least squares inside, a bound where they would pull") {
  ModeSolver solver;
  RowSolution s;
  // Center of pressure at (x, y): f = 1/4 (1 + x X)(...) to first order; exactly 1/4 + X x / 4 + Y
  // y / 4 for corners (X, Y).
  RowProblem problem = block_on_ground(0.3, 0.2, 0, 0.5);
  REQUIRE(solver.solve(problem, s).status == SolverStatus::solved);
  for (int corner = 0; corner < 4; ++corner) {
    const double X = corner == 0 || corner == 3 ? 1 : -1, Y = corner < 2 ? 1 : -1;
    CHECK(s.f[3 * corner] == doctest::Approx(0.25 * (1 + 0.3 * X + 0.2 * Y)).epsilon(1e-13));
  }
  // Least squares would be -0.075 there (papers' example): that corner carries nothing, and the
  // others carry as much as before together.
  problem = block_on_ground(0.7, 0.6, 0, 0.5);
  REQUIRE(solver.solve(problem, s).status == SolverStatus::solved);
  CHECK(s.classes[6] == RowClass::separating);
  CHECK(s.f[6] == 0);
  CHECK(s.f[0] + s.f[3] + s.f[9] == doctest::Approx(1).epsilon(1e-13));
  CHECK(s.f[0] - s.f[3] + s.f[9] == doctest::Approx(0.7).epsilon(1e-13));
  CHECK(s.f[0] + s.f[3] - s.f[9] == doctest::Approx(0.6).epsilon(1e-13));
  for (double w : s.w) CHECK(std::abs(w) < 1e-14);
  // Sliding friction is mu times the load, or what stops the motion.
  problem = block_on_ground(0, 0, 2, 0.5);
  solver.solve(problem, s);
  CHECK(s.y[3] < 2 - 0.4);
  CHECK(s.z[3] == doctest::Approx(-0.5 * s.z[5]).epsilon(1e-13));
}

TEST_CASE("rows that contradict each other are told, with finite numbers") {
  RowProblem problem = block_on_ground(0, 0, 0, 0.5);
  problem.rows.resize(2);
  problem.blocks[0].last_row = 2;
  problem.rows[0].kind = problem.rows[1].kind = RowKind::equality;
  problem.rows[1] = problem.rows[0];
  problem.rows[0].target = 1;
  problem.rows[1].target = -1;
  const std::unique_ptr<RowSolver> lcp = SolverId("lcp").kind().make({});
  const std::unique_ptr<SolvedRows> kept = lcp->make_solved();
  RowSolution s;
  RowSizes sizes;
  const SolverReport report = lcp->solve(problem, s, sizes, *kept);
  CHECK(report.status == SolverStatus::inconsistent);
  CHECK(report.residual > 0.1);
  ModeSolver solver;
  for (double f : s.f) CHECK(std::isfinite(f));
  // No rows at all.
  problem.rows.clear();
  problem.blocks.clear();
  CHECK(solver.solve(problem, s).status == SolverStatus::solved);
  CHECK(s.y == problem.y_free);
}

// A point that cannot leave its plane. A point that is pushed out of the plane is held by
// compliance; a point that lies in it may slide along.
TEST_CASE("what is held does not touch the rest") {
  const auto hold = [](RowProblem& problem, bool slides) {
    const int first = problem.size();
    ConstraintRow normal, friction;
    if (!slides) {
      normal.target = 1;
      normal.compliance = 1e-3;
    }
    friction.kind = RowKind::friction;
    friction.mu = 0.5;
    friction.normal = first;
    for (int i = 0; i < 3; ++i) {
      problem.rows.push_back(i == 0 ? normal : friction);
      problem.rows.back().d[i] = 1;
    }
    // Coordinates of its own, of which no impulse changes the first.
    const int k = problem.channels, wider = k + 3;
    std::vector<double> L(at(wider * wider), 0.0);
    for (int i = 0; i < k; ++i) std::copy_n(problem.L.data() + i * k, k, L.data() + i * wider);
    for (int i = k + 1; i < wider; ++i) L[i * wider + i] = slides ? 2 : 0;
    problem.L = std::move(L);
    problem.y_free.resize(wider, 0.0);
    problem.channels = wider;
    if (slides) {
      problem.y_free[k + 1] = 0.25;
      problem.y_free[k + 2] = 1.1;
    }
    problem.blocks.push_back({k, 3, first, first + 3});
  };
  ModeSolver solver;
  RowSolution s;
  for (const bool slides : {false, true}) {
    CAPTURE(slides);
    const auto check = [&](const RowProblem& rest) {
      RowProblem problem = rest;
      hold(problem, slides);
      REQUIRE(solver.solve(problem, s).residual <= 1e-8);
      const std::size_t first = rest.rows.size();
      if (!slides) REQUIRE(s.f[first] == doctest::Approx(1e3).epsilon(1e-8));
      RowSolution alone = s;
      alone.f.resize(first);
      alone.w.resize(first);
      alone.classes.resize(first);
      REQUIRE(row_residual(rest, alone) * row_scale(rest, alone) <= 1e-8 * row_scale(problem, s));
    };
    for_each_problem(false, 10, [&](const Case&, const RowProblem& rest) { check(rest); });
    check(RowProblem());
  }
}

TEST_CASE("projected Gauss-Seidel is the textbook's, on the whole matrix") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    Rng rng(7);
    const RowProblem problem = random_rows(rng, c.spec);
    const Dense dense(problem);
    Eigen::VectorXd f = Eigen::VectorXd::Zero(problem.size());
    for (int sweep = 0; sweep < 5; ++sweep) {
      for (int i = 0; i < problem.size(); ++i) {
        const RowBounds bounds = row_bounds(problem, i, f.data());
        f[i] = std::clamp(f[i] - (dense.A.row(i).dot(f) + dense.b[i]) / dense.A(i, i), bounds.lower,
                          bounds.upper);
      }
    }
    ProjectedGaussSeidel sweeps;
    RowSolution s;
    sweeps.solve(problem, 5, s);
    CHECK((f - Eigen::Map<Eigen::VectorXd>(s.f.data(), problem.size())).cwiseAbs().maxCoeff() <=
          1e-12 * (1 + f.cwiseAbs().maxCoeff()));
  }
}

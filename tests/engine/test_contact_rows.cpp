// Rows are solved to rounding, by every method alike; their adjoints are the derivatives of what was solved.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <functional>

#include "contact/mode_solver.h"
#include "count_allocations.h"
#include "random_rows.h"
#include "ridders.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A = D L D^T + R, its rows and columns the problem's rows, and b, the velocities without impulses.
struct Dense {
  Eigen::MatrixXd D, A;
  Eigen::VectorXd b;

  explicit Dense(const RowProblem& problem) {
    const int m = problem.size(), k = problem.channels;
    D = Eigen::MatrixXd::Zero(m, k);
    Eigen::VectorXd t(m), R(m);
    for (const RowBlock& block : problem.blocks) {
      for (int i = block.first_row; i < block.last_row; ++i) {
        for (int c = 0; c < block.width; ++c) D(i, block.first_channel + c) = problem.rows[at(i)].d[c];
        t[i] = problem.rows[at(i)].target, R[i] = problem.rows[at(i)].compliance;
      }
    }
    const Eigen::Map<const Eigen::MatrixXd> L(problem.L.data(), k, k);
    const Eigen::Map<const Eigen::VectorXd> y(problem.y_free.data(), k);
    A = D * L * D.transpose();
    A.diagonal() += R;
    b = D * y - t;
  }
};

// All velocities w that solve the rows, found by trying every assignment of classes.
std::vector<Eigen::VectorXd> all_solutions(const RowProblem& problem) {
  const Dense dense(problem);
  const int m = problem.size();
  std::vector<RowClass> classes(at(m), RowClass::clamping);
  std::vector<Eigen::VectorXd> found;
  const std::function<void(int)> choose = [&](int i) {
    if (i < m) {
      const ConstraintRow& row = problem.rows[at(i)];
      std::vector<RowClass> choices{RowClass::clamping};
      if (row.kind == RowKind::unilateral) choices.push_back(RowClass::separating);
      if (row.kind == RowKind::box) choices = {RowClass::clamping, RowClass::lower, RowClass::upper};
      if (row.kind == RowKind::friction) {
        if (classes[at(row.normal)] == RowClass::clamping)
          choices = {RowClass::clamping, RowClass::lower, RowClass::upper};
        else
          choices = {RowClass::separating};
      }
      for (const RowClass c : choices) {
        classes[at(i)] = c;
        choose(i + 1);
      }
      return;
    }
    // f = E f_C + constant; rows of C at rest.
    std::vector<int> C;
    for (int r = 0; r < m; ++r) {
      if (classes[at(r)] == RowClass::clamping) C.push_back(r);
    }
    const int n = static_cast<int>(C.size());
    Eigen::MatrixXd E = Eigen::MatrixXd::Zero(m, n);
    Eigen::VectorXd constant = Eigen::VectorXd::Zero(m);
    for (int c = 0; c < n; ++c) E(C[at(c)], c) = 1;
    for (int r = 0; r < m; ++r) {
      const ConstraintRow& row = problem.rows[at(r)];
      if (classes[at(r)] != RowClass::lower && classes[at(r)] != RowClass::upper) continue;
      const double sign = classes[at(r)] == RowClass::upper ? 1 : -1;
      if (row.kind == RowKind::friction)
        E.row(r) = sign * row.mu * E.row(row.normal);
      else
        constant[r] = sign > 0 ? row.upper : row.lower;
    }
    Eigen::MatrixXd S(n, n);
    Eigen::VectorXd rhs(n);
    const Eigen::MatrixXd AE = dense.A * E;
    const Eigen::VectorXd w0 = dense.A * constant + dense.b;
    for (int c = 0; c < n; ++c) S.row(c) = AE.row(C[at(c)]), rhs[c] = -w0[C[at(c)]];
    const Eigen::VectorXd f = n == 0 ? constant : Eigen::VectorXd(E * S.completeOrthogonalDecomposition().solve(rhs) + constant);
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

// A block on the ground: its twist about the middle of its four corners; half sizes, pressure centre in units of them, and slip.
RowProblem block_on_ground(double x, double y, double sliding, double mu) {
  RowProblem problem;
  const RowBlock block{0, 6, 0, 12};
  add_contact(problem, Eigen::Matrix3d::Identity(), {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}, mu, false, 0);
  problem.blocks = {block};
  // Unit mass and inertias. Pushed down by one unit of momentum at (x, y).
  Eigen::VectorXd v(6);
  v << -y, x, 0, sliding, 0, -1;
  set_motion(problem, Eigen::MatrixXd::Identity(6, 6), Eigen::MatrixXd::Identity(6, 6), v);
  return problem;
}

struct Case {
  const char* name;
  RowsSpec spec;
};

// What the solvers are tested on.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"one point", {.bodies = 1, .pairs = 1}},
      {"points", {.bodies = 3, .pairs = 5}},
      {"a foot", {.bodies = 1, .pairs = 1, .points = 4}},
      {"two feet", {.bodies = 2, .pairs = 2, .points = 4}},
      {"torsion", {.bodies = 2, .pairs = 3, .points = 2, .torsion = true}},
      {"bounded rows", {.bodies = 2, .pairs = 2, .points = 2, .boxes = 3}},
      {"loops", {.bodies = 3, .pairs = 2, .points = 2, .boxes = 1, .equalities = 2}},
      {"compliant", {.bodies = 2, .pairs = 2, .points = 4, .boxes = 1, .equalities = 1, .compliance = 1e-3}},
      {"plates", {.bodies = 2, .pairs = 2, .points = 4, .mu = 0}},
      {"frictionless", {.bodies = 3, .pairs = 5, .points = 4, .mu = 0}},
      {"light on heavy", {.bodies = 2, .pairs = 3, .points = 3, .mass_ratio = 1e3}},
      {"stack", {.bodies = 5, .pairs = 5, .points = 4}},
      {"much friction", {.bodies = 2, .pairs = 2, .points = 2, .mu = 2}},
      {"many points", {.bodies = 2, .pairs = 2, .points = 12}},
  };
  return all;
}

}  // namespace

TEST_CASE("the conditions hold to rounding, and the impulses are those of the selection rule") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    int basic = 0;
    ModeSolver solver;
    RowSolution s;
    for (int seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      Rng rng(static_cast<std::uint64_t>(seed));
      const RowProblem problem = random_rows(rng, c.spec);
      const ModeReport report = solver.solve(problem, s);
      REQUIRE(report.status != ModeStatus::inconsistent);
      REQUIRE(report.residual <= 1e-12);
      REQUIRE(report.residual == row_residual(problem, s));
      basic += report.status == ModeStatus::basic;
      if (c.spec.compliance > 0) continue;
      // f_C = D_C q, block by block.
      const Dense dense(problem);
      for (const RowBlock& block : problem.blocks) {
        std::vector<int> C;
        for (int i = block.first_row; i < block.last_row; ++i) {
          if (s.classes[at(i)] == RowClass::clamping) C.push_back(i);
        }
        if (C.empty()) continue;
        const int n = static_cast<int>(C.size());
        Eigen::MatrixXd D(n, block.width);
        Eigen::VectorXd f(n);
        for (int r = 0; r < n; ++r) D.row(r) = dense.D.block(C[at(r)], block.first_channel, 1, block.width), f[r] = s.f[at(C[at(r)])];
        const Eigen::VectorXd q = D.completeOrthogonalDecomposition().solve(f);
        REQUIRE((D * q - f).norm() <= 1e-10 * f.norm());
      }
    }
    // Where something slides on dependent points there may be no such impulses inside their bounds.
    CHECK(basic <= (c.spec.points > 3 && c.spec.mu > 0 ? 40 : 3));
  }
}

TEST_CASE("friction within discs obeys Coulomb's law, with the impulses of the selection rule where that can be") {
  int inconsistent = 0, sliding = 0, sticking = 0;
  for (Case c : cases()) {
    if (c.spec.mu == 0) continue;
    CAPTURE(c.name);
    c.spec.discs = true;
    ModeSolver solver;
    RowSolution s;
    for (int seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      Rng rng(static_cast<std::uint64_t>(seed));
      const RowProblem problem = random_rows(rng, c.spec);
      const ModeReport report = solver.solve(problem, s);
      if (report.status == ModeStatus::inconsistent) {
        ++inconsistent;
        continue;
      }
      if (report.status == ModeStatus::rough) continue;
      REQUIRE(report.residual <= 1e-12);
      const double w_small = 1e-11 * row_scale(problem, s);
      for (int i = 0; i < problem.size(); ++i) {
        const ConstraintRow& row = problem.rows[at(i)];
        if (!row.is_disc) continue;
        const double *f = &s.f[at(i)], *w = &s.w[at(i)], push = std::hypot(f[0], f[1]), speed = std::hypot(w[0], w[1]);
        const double radius = row.mu * s.f[at(row.normal)];
        REQUIRE(push <= radius * (1 + 1e-9));
        if (speed > w_small && s.f[at(row.normal)] > 0) {
          ++sliding;
          REQUIRE(push >= radius * (1 - 1e-9));
          REQUIRE(f[0] * w[0] + f[1] * w[1] <= -push * speed + w_small * push);
        } else if (radius > 0) {
          ++sticking;
        }
      }
    }
  }
  CHECK(inconsistent <= 2);  // of 1:1000 masses, whose rows sweeps come near to slowly
  CHECK(sliding > 500);
  CHECK(sticking > 100);
}

TEST_CASE("discs do not depend on their axes") {
  for (int seed = 0; seed < 40; ++seed) {
    Rng rng(static_cast<std::uint64_t>(seed));
    RowProblem problem = random_rows(rng, {.bodies = 2, .pairs = 3, .discs = true});
    ModeSolver solver;
    RowSolution s, turned;
    REQUIRE(solver.solve(problem, s).status == ModeStatus::solved);
    for (ConstraintRow& row : problem.rows) {
      if (!row.is_disc) continue;
      ConstraintRow& second = *(&row + 1);
      const double angle = rng.uniform(-3, 3), cosine = std::cos(angle), sine = std::sin(angle);
      for (int k = 0; k < 6; ++k) {
        const double x = row.d[k], y = second.d[k];
        row.d[k] = cosine * x + sine * y, second.d[k] = cosine * y - sine * x;
      }
    }
    REQUIRE(solver.solve(problem, turned).status == ModeStatus::solved);
    for (std::size_t k = 0; k < s.y.size(); ++k) CHECK(std::abs(s.y[k] - turned.y[k]) <= 1e-10 * row_scale(problem, s));
  }
}

TEST_CASE("small problems are solved by one of all their solutions") {
  int unique = 0;
  for (const RowsSpec& spec : {RowsSpec{.bodies = 1, .pairs = 1, .points = 2}, RowsSpec{.bodies = 2, .pairs = 2}, RowsSpec{.bodies = 2, .pairs = 2, .boxes = 1},
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
        for (const Eigen::VectorXd& w : all) nearest = std::min(nearest, (w - Eigen::Map<Eigen::VectorXd>(s.w.data(), problem.size())).cwiseAbs().maxCoeff());
        CHECK(nearest <= tolerance);
      };
      box.solve(problem, s);
      check(1e-9);
      REQUIRE(lemke.solve(problem, s));
      check(1e-7);  // pivots of a whole table, without refinement
      if (dantzig.solve(problem, s) == Dantzig::Outcome::solved) check(1e-8);
    }
  }
  CHECK(unique > 80);  // of 100: Coulomb's law with much friction allows several now and then
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
    CHECK(of_lemke == 15);                                     // the theory's promise
    CHECK(solved >= (c.spec.mu == 0 || c.spec.points == 1 ? 15 : 5));  // no promise where friction is at its bounds of dependent rows
  }
}

TEST_CASE("a block on four corners: least squares inside, a bound where they would pull") {
  ModeSolver solver;
  RowSolution s;
  // The pressure centre at (x, y): f = 1/4 (1 + x X)(...) to first order; exactly 1/4 + X x / 4 + Y y / 4 for corners (X, Y).
  RowProblem problem = block_on_ground(0.3, 0.2, 0, 0.5);
  REQUIRE(solver.solve(problem, s).status == ModeStatus::solved);
  for (int corner = 0; corner < 4; ++corner) {
    const double X = corner == 0 || corner == 3 ? 1 : -1, Y = corner < 2 ? 1 : -1;
    CHECK(s.f[at(3 * corner)] == doctest::Approx(0.25 * (1 + 0.3 * X + 0.2 * Y)).epsilon(1e-13));
  }
  // Least squares would be -0.075 there (papers' example): that corner carries nothing, the others as much as before together.
  problem = block_on_ground(0.7, 0.6, 0, 0.5);
  REQUIRE(solver.solve(problem, s).status == ModeStatus::solved);
  CHECK(s.classes[6] == RowClass::separating);
  CHECK(s.f[6] == 0);
  CHECK(s.f[0] + s.f[3] + s.f[9] == doctest::Approx(1).epsilon(1e-13));
  CHECK(s.f[0] - s.f[3] + s.f[9] == doctest::Approx(0.7).epsilon(1e-13));
  CHECK(s.f[0] + s.f[3] - s.f[9] == doctest::Approx(0.6).epsilon(1e-13));
  for (double w : s.w) CHECK(std::abs(w) < 1e-14);
  // Sliding takes mu times the load, or what there is.
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
  ModeSolver solver;
  RowSolution s;
  const ModeReport report = solver.solve(problem, s);
  CHECK(report.status == ModeStatus::inconsistent);
  CHECK(report.residual > 0.1);
  for (double f : s.f) CHECK(std::isfinite(f));
  // No rows at all.
  problem.rows.clear();
  problem.blocks.clear();
  CHECK(solver.solve(problem, s).status == ModeStatus::solved);
  CHECK(s.y == problem.y_free);
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
        f[i] = std::clamp(f[i] - (dense.A.row(i).dot(f) + dense.b[i]) / dense.A(i, i), bounds.lower, bounds.upper);
      }
    }
    ProjectedGaussSeidel sweeps;
    RowSolution s;
    sweeps.solve(problem, 5, s);
    CHECK((f - Eigen::Map<Eigen::VectorXd>(s.f.data(), problem.size())).cwiseAbs().maxCoeff() <= 1e-12 * (1 + f.cwiseAbs().maxCoeff()));
  }
}

namespace {

// Every number of a problem, and the gradient's for it.
struct Number {
  double* value;
  double gradient;
};

std::vector<Number> numbers(RowProblem& problem, const RowGradient& g, bool with_rows) {
  std::vector<Number> all;
  const int k = problem.channels;
  for (int a = 0; a < k; ++a) all.push_back({&problem.y_free[at(a)], g.y_free[at(a)]});
  for (int a = 0; a < k; ++a) all.push_back({&problem.L[at(a * k + a)], g.L[at(a * k + a)]});
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      ConstraintRow& row = problem.rows[at(i)];
      if (with_rows) {
        all.push_back({&row.target, g.target[at(i)]});
        for (int c = 0; c < block.width; ++c) all.push_back({&row.d[c], g.d[at(i * most_block_channels + c)]});
      }
      if (row.compliance > 0 && !is_of_disc(problem, i)) all.push_back({&row.compliance, g.compliance[at(i)]});
      if (row.kind == RowKind::friction) all.push_back({&row.mu, g.mu[at(i)]});
      if (row.kind == RowKind::box) all.push_back({&row.lower, g.lower[at(i)]}), all.push_back({&row.upper, g.upper[at(i)]});
    }
  }
  return all;
}

// Compares a gradient with Ridders differences of `loss`, where no class changes nearby. Returns how many numbers were compared.
template <class Solve, class Loss>
int compare(RowProblem& problem, const RowGradient& g, bool with_rows, Solve&& solve, Loss&& loss) {
  double largest = 0;
  const std::vector<Number> all = numbers(problem, g, with_rows);
  for (const Number& n : all) largest = std::max(largest, std::abs(n.gradient));
  const std::vector<RowClass> classes = solve().classes;
  int compared = 0;
  for (const Number& n : all) {
    const double value = *n.value, step = 1e-3 * std::max(std::abs(value), 1e-2);
    bool same = true;
    const Numbers rate = ridders(
        [&](double t) {
          *n.value = value + t;
          const RowSolution& s = solve();
          same = same && s.classes == classes;
          const double sum = loss(s);
          *n.value = value;
          return Numbers{sum};
        },
        step);
    if (!same) continue;
    ++compared;
    CHECK(std::abs(rate[0] - n.gradient) <= 1e-8 * largest);  // differences of numbers good to 1e-16, over steps of 1e-5 and more
  }
  return compared;
}

}  // namespace

TEST_CASE("the adjoint of the sweeps is their derivative") {
  for (const Case& c : cases()) {
    if (c.spec.bodies * c.spec.points > 8) continue;
    CAPTURE(c.name);
    Rng rng(11);
    RowProblem problem = random_rows(rng, c.spec);
    std::vector<double> f_bar(at(problem.size())), z_bar(at(problem.channels));
    for (double& x : f_bar) x = rng.normal();
    for (double& x : z_bar) x = rng.normal();
    ProjectedGaussSeidel sweeps;
    RowSolution s;
    RowGradient g;
    sweeps.solve(problem, 6, s);
    g.set_zero(problem);
    sweeps.add_vjp(problem, s, f_bar.data(), z_bar.data(), g);
    const RowGradient once = g;
    sweeps.add_vjp(problem, s, f_bar.data(), z_bar.data(), g);  // adds, and can be asked again
    for (std::size_t i = 0; i < g.y_free.size(); ++i) CHECK(g.y_free[i] == 2 * once.y_free[i]);
    const int compared = compare(
        problem, once, true,
        [&]() -> const RowSolution& {
          sweeps.solve(problem, 6, s);
          return s;
        },
        [&](const RowSolution& now) {
          double sum = 0;
          for (std::size_t i = 0; i < f_bar.size(); ++i) sum += f_bar[i] * now.f[i];
          for (std::size_t i = 0; i < z_bar.size(); ++i) sum += z_bar[i] * now.z[i];
          return sum;
        });
    CHECK(compared > problem.size());
  }
}

TEST_CASE("the derivative of solved rows is that of the solver") {
  int compared = 0, moved = 0;
  bool discs = false;
  SUBCASE("with squares of friction") {}
  SUBCASE("with discs of friction") { discs = true; }
  for (Case c : cases()) {
    if (c.spec.bodies * c.spec.points > 8 || (discs && c.spec.mass_ratio > 1)) continue;
    c.spec.discs = discs;
    CAPTURE(c.name);
    // Rows that depend on each other stay consistent only where they move together: then their own numbers stay as they are.
    const bool dependent = c.spec.points > 1 && c.spec.compliance == 0;
    for (int seed = 0; seed < (dependent ? 8 : 2); ++seed) {
      CAPTURE(seed);
      Rng rng(static_cast<std::uint64_t>(20 + seed));
      RowProblem problem = random_rows(rng, c.spec);
      std::vector<double> f_bar(at(problem.size())), z_bar(at(problem.channels));
      for (double& x : f_bar) x = rng.normal();
      for (double& x : z_bar) x = rng.normal();
      ModeSolver solver;
      RowSolution s;
      if (solver.solve(problem, s).status != ModeStatus::solved) continue;
      RowGradient g;
      g.set_zero(problem);
      solver.classes().add_vjp(problem, s, f_bar.data(), z_bar.data(), g);
      const auto solve = [&]() -> const RowSolution& {
        solver.solve(problem, s);
        return s;
      };
      const auto loss = [&](const RowSolution& now) {
        double sum = 0;
        for (std::size_t i = 0; i < f_bar.size(); ++i) sum += f_bar[i] * now.f[i];
        for (std::size_t i = 0; i < z_bar.size(); ++i) sum += z_bar[i] * now.z[i];
        return sum;
      };
      compared += compare(problem, g, !dependent, solve, loss);

      // One point of a contact moves in the contact's plane: dependent rows stay consistent, and what they span turns.
      const std::vector<RowClass> classes = solve().classes;
      for (const RowBlock& block : problem.blocks) {
        if (block.width != 6) continue;
        const std::vector<ConstraintRow> rows = problem.rows;
        const int normal = block.first_row;
        const Eigen::Vector3d n(rows[at(normal)].d[3], rows[at(normal)].d[4], rows[at(normal)].d[5]), any = random_normal(rng, 3, 1), step = n.cross(any);
        std::vector<Eigen::Vector3d> moments(rows.size(), Eigen::Vector3d::Zero());
        double expected = 0, size = 0;
        for (int i = normal; i < block.last_row; ++i) {
          if (i != normal && rows[at(i)].normal != normal) continue;
          moments[at(i)] = step.cross(Eigen::Vector3d(rows[at(i)].d[3], rows[at(i)].d[4], rows[at(i)].d[5]));
          for (int j = 0; j < 3; ++j) {
            const double term = g.d[at(i * most_block_channels + j)] * moments[at(i)][j];
            expected += term, size += std::abs(term);
          }
        }
        bool same = true;
        const Numbers rate = ridders(
            [&](double t) {
              for (int i = normal; i < block.last_row; ++i) {
                for (int j = 0; j < 3; ++j) problem.rows[at(i)].d[j] = rows[at(i)].d[j] + t * moments[at(i)][j];
              }
              const RowSolution& now = solve();
              same = same && now.classes == classes;
              const double sum = loss(now);
              problem.rows = rows;
              return Numbers{sum};
            },
            1e-3);
        if (!same || size == 0) continue;
        ++moved;
        CHECK(std::abs(rate[0] - expected) <= 1e-8 * size);
      }
    }
  }
  CHECK(compared > 300);
  CHECK(moved > 20);
}

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

TEST_CASE("solving and differentiating again does not allocate") {
  Rng rng(3);
  const RowProblem problem = random_rows(rng, {.bodies = 3, .pairs = 4, .points = 4, .boxes = 2});
  const RowProblem of_discs = random_rows(rng, {.bodies = 3, .pairs = 4, .points = 4, .discs = true, .boxes = 2});
  ModeSolver solver, cones;
  ProjectedGaussSeidel sweeps;
  Dantzig dantzig;
  Lemke lemke;
  RowSolution s;
  RowGradient g;
  const std::vector<double> f_bar(at(problem.size()), 1.0), z_bar(at(problem.channels), 1.0);
  const auto all = [&] {
    lemke.solve(problem, s);
    dantzig.solve(problem, s);
    g.set_zero(problem);
    sweeps.solve(problem, 10, s);
    sweeps.add_vjp(problem, s, f_bar.data(), z_bar.data(), g);
    solver.solve(problem, s);
    solver.classes().add_vjp(problem, s, f_bar.data(), z_bar.data(), g);
    cones.solve(of_discs, s);
    cones.classes().add_vjp(of_discs, s, f_bar.data(), z_bar.data(), g);
  };
  all();
  const long before = allocations;
  all();
  CHECK(allocations == before);
}

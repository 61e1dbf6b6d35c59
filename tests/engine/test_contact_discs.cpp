// Friction within discs, solved to rounding.
#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "contact/mode_solver.h"
#include "random_rows.h"
#include "row_cases.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

TEST_CASE("friction within discs obeys Coulomb's law") {
  int inconsistent = 0, rough = 0, basic = 0, sliding = 0, sticking = 0;
  ModeSolver solver;
  RowSolution s;
  for_each_problem(true, 60, [&](const Case& c, const RowProblem& problem) {
    if (c.spec.mu == 0) return;
    const SolverReport report = solver.solve(problem, s);
    inconsistent += report.status == SolverStatus::inconsistent, rough += report.status == SolverStatus::rough, basic += report.status == SolverStatus::basic;
    if (report.status >= SolverStatus::rough) return;
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
  });
  MESSAGE(inconsistent, " inconsistent, ", rough, " rough, ", basic, " basic; ", sliding, " sliding and ", sticking, " sticking discs");
  CHECK(inconsistent <= 2);  // of 1:1000 masses, whose rows sweeps come near to slowly
  CHECK(rough <= 2);
  CHECK(basic <= 10);  // of some 900
  CHECK(sliding > 500);
  CHECK(sticking > 100);
}

TEST_CASE("discs do not depend on their axes") {
  for (int seed = 0; seed < 40; ++seed) {
    Rng rng(static_cast<std::uint64_t>(seed));
    RowProblem problem = random_rows(rng, {.bodies = 2, .pairs = 3, .discs = true});
    ModeSolver solver;
    RowSolution s, turned;
    REQUIRE(solver.solve(problem, s).status == SolverStatus::solved);
    for (ConstraintRow& row : problem.rows) {
      if (!row.is_disc) continue;
      ConstraintRow& second = *(&row + 1);
      const double angle = rng.uniform(-3, 3), cosine = std::cos(angle), sine = std::sin(angle);
      for (int k = 0; k < 6; ++k) {
        const double x = row.d[k], y = second.d[k];
        row.d[k] = cosine * x + sine * y, second.d[k] = cosine * y - sine * x;
      }
    }
    REQUIRE(solver.solve(problem, turned).status == SolverStatus::solved);
    for (std::size_t k = 0; k < s.y.size(); ++k) CHECK(std::abs(s.y[k] - turned.y[k]) <= 1e-10 * row_scale(problem, s));
  }
}

TEST_CASE("discs at rest at their bound push where they would if all gave a little") {
  int at_bounds = 0, separating = 0;
  std::vector<int> seeds(400);
  std::iota(seeds.begin(), seeds.end(), 0);
  seeds.insert(seeds.end(), {3182, 3876});  // of which a disc is at rest where selection ends, and not where it begins
  for (const int seed : seeds) {
    CAPTURE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const int points = 4 + rng.below(5);
    const double mu = 0.5;
    RowProblem problem;
    std::vector<Eigen::Vector2d> places;
    for (int i = 0; i < points; ++i) places.emplace_back(Eigen::Vector2d(random_normal(rng, 2, 1)));
    add_contact(problem, random_turn(rng), places, mu, false, 0, true);
    const int m = problem.size();
    problem.blocks.push_back({0, 6, 0, m});
    // Within what they hold, most of it by three of them, along directions that differ.
    Eigen::VectorXd load = Eigen::VectorXd::Zero(6);
    for (int i = 0; i < m; i += 3) {
      const double push = i < 9 ? 1 : 0.02 * std::max(1 + rng.normal() * rng.normal(), 0.0), turn = rng.uniform(0, 6.28), part = 0.7 * mu * push;
      const double f[] = {push, part * std::cos(turn), part * std::sin(turn)};
      for (int k = 0; k < 3; ++k)
        for (int c = 0; c < 6; ++c) load[c] += f[k] * problem.rows[at(i + k)].d[c];
    }
    const Eigen::MatrixXd root = random_normal(rng, 6, 6), L = root * root.transpose() + 0.1 * Eigen::MatrixXd::Identity(6, 6);
    set_motion(problem, Eigen::MatrixXd::Identity(6, 6), L, -L * load);
    ModeSolver solver;
    RowSolution s, soft;
    REQUIRE(solver.solve(problem, s).status == SolverStatus::solved);
    const bool is_differentiable = solver.classes().is_differentiable(problem);
    RowProblem giving = problem;
    for (ConstraintRow& row : giving.rows) row.compliance = 1e-7;
    REQUIRE(solver.solve(giving, soft).status == SolverStatus::solved);
    for (std::size_t i = 0; i < s.f.size(); ++i) CHECK(std::abs(s.f[i] - soft.f[i]) <= 5e-4);  // of loads of about 1, by 1e-6 of the least admittances, however badly placed; rounding has 1e-5
    for (const double w : s.w) CHECK(std::abs(w) <= 1e-11 * row_scale(problem, s));
    for (int i = 0; i < m; i += 3) at_bounds += s.classes[at(i + 1)] == RowClass::upper, separating += s.classes[at(i)] == RowClass::separating;
    CHECK(is_differentiable);
  }
  CHECK(at_bounds > 100);
  CHECK(separating > 20);
}

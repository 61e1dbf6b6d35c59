// Rows as convex problems (contact/convex_solver.h): Coulomb's law, also for redundant rows, and
// the derivative of the solution.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/index.h"
#include "contact/convex_solver.h"
#include "contact/row_solvers.h"
#include "ridders.h"
#include "row_cases.h"
#include "scale.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

double furthest(const Numbers& x, const Numbers& y) {
  double off = 0;
  for (std::size_t i = 0; i < x.size(); ++i) off = std::max(off, std::abs(x[i] - y[i]));
  return off;
}

}  // namespace

TEST_CASE(
    "what is solved keeps all conditions, and moves as with `lcp` where "
    "no friction is at its bound") {
  const std::unique_ptr<RowSolver> lcp = SolverId("lcp").kind().make({});
  const std::unique_ptr<SolvedRows> kept = lcp->make_solved();
  int solved = 0, all = 0, compared = 0;
  for_each_problem(true, repeats(4, 20), [&](const Case& c, const RowProblem& problem) {
    if (c.spec.mass_ratio > 1) return;
    ConvexSolver solver;
    RowSolution s, other;
    RowSizes sizes;
    ++all;
    if (solver.solve(problem, s, sizes).status != SolverStatus::solved) return;
    ++solved;
    CHECK(row_residual(problem, sizes, s) <= 1e-7);  // of bounds to mu f_n; of all else 1e-12
    RowProblem of_boxes = problem;
    for (ConstraintRow& row : of_boxes.rows) row.is_disc = false;
    if (lcp->solve(of_boxes, other, sizes, *kept).status != SolverStatus::solved) return;
    const auto slides = [&](const RowSolution& x) {
      for (std::size_t i = 0; i < problem.rows.size(); ++i)
        if (problem.rows[i].kind == RowKind::friction && at_bound(x.classes[i])) return true;
      return false;
    };
    if (slides(s) || slides(other)) return;
    CHECK(furthest(s.w, other.w) <= 1e-9 * row_scale(sizes, other));
    ++compared;
  });
  CHECK(compared > repeats(3, 15));
  CHECK(solved > 0.9 * all);
}

// A plate that slides and spins on several supports without friction. Rows of one support depend
// linearly on those of the others, and all velocities except those of the rows are far from zero.
TEST_CASE("what supports share changes smoothly") {
  constexpr int supports = 3;
  double worst = 0;
  int compared = 0;
  for (int seed = 0; seed < repeats(5, 50); ++seed) {
    CAPTURE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const Eigen::Matrix3d R = random_turn(rng);
    RowProblem problem;
    Eigen::MatrixXd X = Eigen::MatrixXd::Zero(6 * supports, 6);
    for (int b = 0; b < supports; ++b) {
      // Twist [angular; linear] about a center in the plane.
      const Eigen::Vector3d center = R * Eigen::Vector3d(3 * rng.normal(), 3 * rng.normal(), 0);
      Eigen::Matrix3d turn;
      turn << 0, center[2], -center[1], -center[2], 0, center[0], center[1], -center[0], 0;
      X.block(6 * b, 0, 6, 6).setIdentity();
      X.block(6 * b + 3, 0, 3, 3) = turn;
      RowBlock block{6 * b, 6, problem.size(), problem.size()};
      add_contact(problem, R, {{0.5, 0.4}, {-0.6, 0.5}, {-0.4, -0.5}, {0.5, -0.6}}, 0, false, 0);
      block.last_row = problem.size();
      problem.blocks.push_back(block);
    }
    const Eigen::MatrixXd A = random_normal(rng, 6, 6);
    const Eigen::MatrixXd inverse_mass = 0.3 * A * A.transpose() + Eigen::MatrixXd::Identity(6, 6);
    Eigen::VectorXd v(6);  // spins about the normal, slides, and falls
    v << R * Eigen::Vector3d(0, 0, 2), R * Eigen::Vector3d(1, -1, -1);
    set_motion(problem, X, inverse_mass, v);
    set_factor(problem, X, inverse_mass);
    problem.L.clear();
    const Numbers here = problem.y_free;
    const Eigen::VectorXd change = X * random_normal(rng, 6, 1);
    RowSolution at[4];
    for (int k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < here.size(); ++i)
        problem.y_free[i] = here[i] + 1e-6 * k * change[static_cast<Eigen::Index>(i)];
      ConvexSolver solver;
      RowSizes sizes;
      REQUIRE(solver.solve(problem, at[k], sizes).status == SolverStatus::solved);
    }
    if (at[3].classes != at[0].classes) continue;
    ++compared;
    for (std::size_t i = 0; i < problem.rows.size(); ++i)
      worst = std::max(worst, std::abs(at[3].f[i] - 3 * at[2].f[i] + 3 * at[1].f[i] - at[0].f[i]));
  }
  // Rounding of redundant rows, 1e-16, over their relative compliance, 1e-6; impulses are about
  // 0.1.
  CHECK(worst <= 1e-9);
  CHECK(compared > repeats(3, 30));
}

// A heavy body on a light one on the floor. In the first pass the light body's rows are compliant
// relative to its own admittance, so that the heavy body would sink. Further passes prevent this.
TEST_CASE("a light body carries a heavy one, and has the derivative of that") {
  for (const double ratio : {1e2, 1e4, 1e6}) {
    CAPTURE(ratio);
    Eigen::Matrix2d X, inverse_mass;
    X << 1, 0, -1, 1;
    inverse_mass << 1, 0, 0, 1 / ratio;
    // Two redundant rows support the light body.
    RowProblem problem;
    problem.blocks = {{0, 1, 0, 2}, {1, 1, 2, 3}};
    problem.rows.resize(3);
    const double d[] = {1, 0.5, 1}, S = d[0] * d[0] + d[1] * d[1];
    for (std::size_t i = 0; i < 3; ++i) problem.rows[i].d[0] = d[i];
    set_motion(problem, X, inverse_mass, Eigen::Vector2d(-1, -1));
    ConvexSolver solver;
    RowSolution s;
    RowSizes sizes;
    REQUIRE(solver.solve(problem, s, sizes).status == SolverStatus::solved);
    // z = -L^-1 y_free are the weights above each row, shared as by equal springs. Rows yield by
    // less than 1e-7, and impulses are off by at most 1e-7 times a row sum of L^-1.
    const double z[] = {1 + ratio, ratio}, off = 1e-7 * (2 * ratio + 1);
    CHECK(std::abs(s.f[0] - d[0] / S * z[0]) <= off);
    CHECK(std::abs(s.f[1] - d[1] / S * z[0]) <= off);
    CHECK(std::abs(s.f[2] - z[1]) <= off);
    CHECK(furthest(s.y, {0, 0}) <= 1e-7);

    REQUIRE(solver.differentiate(problem, sizes, s) == OneSided::no);
    const double f_bar[] = {0.3, 0.7, -0.8}, z_bar[] = {0, 0};
    RowGradient g;
    g.set_zero(problem);
    solver.add_vjp(problem, s, f_bar, z_bar, g);
    const Eigen::Vector2d shared((f_bar[0] * d[0] + f_bar[1] * d[1]) / S, f_bar[2]);
    const Eigen::Vector2d by_velocity = -(X * inverse_mass * X.transpose()).inverse() * shared;
    const double slack = 1e-6 * by_velocity.norm();
    CHECK(std::abs(g.y_free[0] - by_velocity[0]) <= slack);
    CHECK(std::abs(g.y_free[1] - by_velocity[1]) <= slack);
    CHECK(std::abs(g.target[2] + by_velocity[1]) <= slack);
    CHECK(std::abs(g.compliance[2] - by_velocity[1] * s.f[2]) <= slack * ratio);
    for (std::size_t i = 0; i < 2; ++i) {  // f_j = d_j z / S
      const double by_own = f_bar[i] / S - 2 * d[i] / (S * S) * (f_bar[0] * d[0] + f_bar[1] * d[1]);
      CHECK(std::abs(g.d[i * most_block_channels] - by_own * z[0]) <= 1e-5 * ratio);
    }
  }
}

TEST_CASE("a problem that has F instead of L has the same solution") {
  int compared = 0;
  for_each_problem(true, repeats(3, 20), [&](const Case& c, RowProblem problem) {
    if (c.spec.mass_ratio > 1) return;
    ConvexSolver by_L, by_F;
    RowSolution s, other;
    RowSizes sizes;
    const SolverStatus status = by_L.solve(problem, s, sizes).status;
    problem.L.clear();
    if (by_F.solve(problem, other, sizes).status != status) return;
    if (status != SolverStatus::solved) return;
    // Within the tolerance of friction bounds.
    CHECK(furthest(s.w, other.w) <= 1e-8 * row_scale(sizes, s));
    CHECK(furthest(s.y, other.y) <= 1e-8 * row_scale(sizes, s));
    ++compared;
  });
  CHECK(compared > repeats(45, 300));
}

TEST_CASE(
    "its derivative is that of its solution, by velocities, targets, "
    "friction and compliances") {
  int differentiated = 0;
  for_each_problem(true, repeats(2, 8), [&](const Case& c, RowProblem problem) {
    CAPTURE(std::string(c.name));
    if (c.spec.mass_ratio > 1 || c.spec.mu > 1)
      return;  // rounding spoils the differences, or the solver may find another of several
               // solutions nearby
    ConvexSolver solver, moved;
    RowSolution s;
    RowSizes sizes;
    if (solver.solve(problem, s, sizes).status != SolverStatus::solved ||
        solver.differentiate(problem, sizes, s) != OneSided::no)
      return;
    Rng rng(7);
    const auto random = [&](std::size_t n) {
      Numbers x(n);
      for (double& y : x) y = rng.normal();
      return x;
    };
    const Numbers z_bar = random(s.z.size()), f_bar = random(s.f.size());
    RowGradient g;
    g.set_zero(problem);
    solver.add_vjp(problem, s, f_bar.data(), z_bar.data(), g);
    const RowProblem here = problem;
    const auto check = [&](const char* what, const Numbers& by, const auto& move) {
      CAPTURE(std::string(what));  // move(problem, i, distance) changes number i
      const Numbers direction = random(by.size());
      double expected = 0, size = 0;
      for (std::size_t i = 0; i < by.size(); ++i) {
        expected += by[i] * direction[i];
        size += std::abs(by[i] * direction[i]);
      }
      if (size == 0) return;
      bool is_same = true;
      const Numbers rate = ridders(
          [&](double t) {
            for (std::size_t i = 0; i < by.size(); ++i) move(problem, i, t * direction[i]);
            RowSolution x;
            is_same &= moved.solve(problem, x, sizes).status == SolverStatus::solved &&
                       x.classes == s.classes;
            problem = here;
            return Numbers{dot(x.z, z_bar) + dot(x.f, f_bar)};
          },
          1e-3);
      if (!is_same) return;
      CHECK(std::abs(rate[0] - expected) <= 1e-8 * size);
      ++differentiated;
    };
    check("y_free", g.y_free, [](RowProblem& p, std::size_t i, double t) { p.y_free[i] += t; });
    check("target", g.target,
          [](RowProblem& p, std::size_t i, double t) { p.rows[i].target += t; });
    Numbers by_mu(g.mu);
    for (std::size_t i = 0; i < by_mu.size(); ++i)
      if (here.rows[i].kind != RowKind::friction || here.rows[i].mu == 0) by_mu[i] = 0;
    Numbers by_compliance(g.compliance);
    for (std::size_t i = 0; i < by_compliance.size(); ++i)
      if (here.rows[i].compliance == 0 || here.rows[i].is_disc ||
          (i > 0 && here.rows[i - 1].is_disc))
        by_compliance[i] = 0;
    check("compliance", by_compliance, [&](RowProblem& p, std::size_t i, double t) {
      p.rows[i].compliance += by_compliance[i] != 0 ? t : 0;
    });
    check("mu", by_mu,
          [&](RowProblem& p, std::size_t i, double t) { p.rows[i].mu += by_mu[i] != 0 ? t : 0; });
    check("d", g.d, [](RowProblem& p, std::size_t i, double t) {
      p.rows[i / most_block_channels].d[i % most_block_channels] += t;
    });
    // L + t (B L + L B^T), of the same rank.
    const std::size_t k = at(here.channels);
    Numbers by_B(k * k, 0.0);
    for (std::size_t r = 0; r < k; ++r)
      for (std::size_t e = 0; e < k; ++e)
        for (std::size_t l = 0; l < k; ++l)
          by_B[r * k + e] += here.L[e * k + l] * (g.L[r * k + l] + g.L[l * k + r]);
    check("L", by_B, [&](RowProblem& p, std::size_t i, double t) {
      const std::size_t r = i / k, e = i % k;
      for (std::size_t l = 0; l < k; ++l) {
        p.L[r * k + l] += t * here.L[e * k + l];
        p.L[l * k + r] += t * here.L[e * k + l];
      }
    });
  });
  CHECK(differentiated > repeats(5, 20));
}

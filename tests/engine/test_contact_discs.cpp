// Friction within discs, by the convex solver.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "contact/convex_solver.h"
#include "random_rows.h"
#include "row_cases.h"

using namespace robosim;
using namespace robosim::testing;

TEST_CASE("friction within discs obeys Coulomb's law") {
  int inconsistent = 0, rough = 0, sliding = 0, sticking = 0;
  ConvexSolver solver;
  RowSolution s;
  RowSizes sizes;
  for_each_problem(true, 60, [&](const Case& c, const RowProblem& problem) {
    if (c.spec.mu == 0) return;
    const SolverReport report = solver.solve(problem, s, sizes);
    inconsistent += report.status == SolverStatus::inconsistent;
    rough += report.status == SolverStatus::rough;
    if (report.status >= SolverStatus::rough) return;
    const double w_small = 1e-6 * row_scale(problem, s);  // residual of solved rows
    for (int i = 0; i < problem.size(); ++i) {
      const ConstraintRow& row = problem.rows[i];
      if (!row.is_disc) continue;
      const double *f = &s.f[i], *w = &s.w[i], push = std::hypot(f[0], f[1]),
                   speed = std::hypot(w[0], w[1]);
      const double radius = row.mu * s.f[row.normal];
      REQUIRE(push <= radius * (1 + 2e-8));  // bounds are mu f_n to 1e-8 of the largest
      if (speed > w_small && s.f[row.normal] > 0) {
        ++sliding;
        REQUIRE(push >= radius * (1 - 2e-8));
        REQUIRE(f[0] * w[0] + f[1] * w[1] <= -push * speed + w_small * push);
      } else if (radius > 0) {
        ++sticking;
      }
    }
  });
  MESSAGE(inconsistent, " inconsistent, ", rough, " rough; ", sliding, " sliding and ", sticking,
          " sticking discs");
  CHECK(inconsistent <= 2);  // with 1:1000 masses, for whose rows sweeps converge slowly
  CHECK(rough <= 2);
  CHECK(sliding > 500);
  CHECK(sticking > 100);
}

TEST_CASE("discs do not depend on their axes") {
  for (int seed = 0; seed < 40; ++seed) {
    Rng rng(static_cast<std::uint64_t>(seed));
    RowProblem problem = random_rows(rng, {.bodies = 2, .pairs = 3, .discs = true});
    ConvexSolver solver;
    RowSolution s, turned;
    RowSizes sizes;
    REQUIRE(solver.solve(problem, s, sizes).status == SolverStatus::solved);
    for (ConstraintRow& row : problem.rows) {
      if (!row.is_disc) continue;
      ConstraintRow& second = *(&row + 1);
      const double angle = rng.uniform(-3, 3), cosine = std::cos(angle), sine = std::sin(angle);
      for (int k = 0; k < 6; ++k) {
        const double x = row.d[k], y = second.d[k];
        row.d[k] = cosine * x + sine * y;
        second.d[k] = cosine * y - sine * x;
      }
    }
    REQUIRE(solver.solve(problem, turned, sizes).status == SolverStatus::solved);
    for (std::size_t k = 0; k < s.y.size(); ++k)
      CHECK(std::abs(s.y[k] - turned.y[k]) <= 1e-10 * row_scale(problem, s));
  }
}

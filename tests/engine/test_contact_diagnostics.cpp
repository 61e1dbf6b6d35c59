// Diagnostics of solved rows: their admittances, and the distance of each row from another mode.
#include <doctest/doctest.h>

#include <cmath>

#include "contact/mode_solver.h"
#include "contact/row_diagnostics.h"
#include "row_cases.h"

using namespace robosim;
using namespace robosim::testing;

TEST_CASE("admittances are what velocities of rows change by with their impulses") {
  for_each_problem(false, 5, [](const Case&, const RowProblem& problem) {
    const std::vector<double> A = row_admittances(problem);
    const int m = problem.size();
    RowSizes sizes;
    sizes.measure(problem);
    RowSolution still, pushed;
    still.resize(problem);
    pushed.resize(problem);
    std::fill(still.f.begin(), still.f.end(), 0.0);
    apply_impulses(problem, still);
    for (int i = 0; i < m; ++i) {
      std::fill(pushed.f.begin(), pushed.f.end(), 0.0);
      pushed.f[i] = 1;
      apply_impulses(problem, pushed);
      for (int j = 0; j < m; ++j) {
        const double tolerance =
            1e-13 * (std::abs(still.w[j]) + std::sqrt(sizes.admittance[i] * sizes.admittance[j]));
        REQUIRE(A[i * m + j] ==
                doctest::Approx(pushed.w[j] - still.w[j]).epsilon(1e-12).scale(tolerance / 1e-12));
      }
      REQUIRE(A[i * m + i] == doctest::Approx(sizes.admittance[i]).epsilon(1e-12));
    }
  });
}

TEST_CASE("a row is as far from another class as its impulse is from a bound, or as it is fast") {
  ModeSolver solver;
  int held = 0, moving = 0, of_discs = 0;
  for (const bool discs : {false, true})
    for_each_problem(discs, 20, [&](const Case&, const RowProblem& problem) {
      RowSolution s;
      if (solver.solve(problem, s).status == SolverStatus::inconsistent) return;
      RowSizes sizes;
      sizes.measure(problem);
      for (int i = 0; i < problem.size(); ++i) {
        const ConstraintRow& row = problem.rows[i];
        const double distance = switch_distance(problem, sizes, s, i);
        REQUIRE(distance >= 0);
        if (row.kind == RowKind::equality) {
          CHECK(std::isinf(distance));
          continue;
        }
        if (row.kind == RowKind::friction && s.f[row.normal] <= 0) {
          CHECK(std::isinf(distance));
          continue;
        }
        if (row.is_disc) {
          // Both axes have the same distance, and an additional push along the impulse by this
          // distance reaches the bound.
          REQUIRE(distance == switch_distance(problem, sizes, s, i + 1));
          const double size = length(s.f[i], s.f[i + 1]),
                       most = row_bounds(problem, i, s.f.data()).upper;
          const bool clamps = s.classes[i] == RowClass::clamping;
          const double a = std::max(sizes.admittance[i], sizes.admittance[i + 1]);
          const double expected =
              clamps ? std::max(most - size, 0.0) * a : length(s.w[i], s.w[i + 1]);
          CHECK(distance == doctest::Approx(expected).epsilon(1e-14));
          ++i;
          ++of_discs;
          continue;
        }
        const RowBounds bounds = row_bounds(problem, i, s.f.data());
        if (s.classes[i] != RowClass::clamping) {
          CHECK(distance == std::abs(s.w[i]));
          ++moving;
          continue;
        }
        // One of the two bounds is at this distance, and none is closer.
        const double step = distance / sizes.admittance[i], f = s.f[i];
        const double slack = 1e-12 * (std::abs(f) + step);
        CHECK(((std::abs(f - step - bounds.lower) <= slack) ||
               (std::abs(f + step - bounds.upper) <= slack) || step == 0));
        CHECK(f - step >= bounds.lower - slack);
        CHECK(f + step <= bounds.upper + slack);
        ++held;
      }
    });
  CHECK(held > 1000);
  CHECK(moving > 1000);
  CHECK(of_discs > 500);
}

// Degenerate solutions of rows, at the border of a mode, and cases where the border does not
// matter.
#include <doctest/doctest.h>

#include "contact/mode_solver.h"
#include "contact/ties.h"

using namespace robosim;

namespace {

// A body that moves along z and rotates about y, with `n` points at these places, unit mass and
// unit moment of inertia. y_free is given.
RowProblem plank(const std::vector<double>& places, double falling, double turning) {
  RowProblem p;
  p.channels = 2;
  p.L = {1, 0, 0, 1};
  p.y_free = {falling, turning};
  p.blocks = {{0, 2, 0, static_cast<int>(places.size())}};
  for (const double x : places) {
    ConstraintRow row;
    row.d[0] = 1;
    row.d[1] = x;
    p.rows.push_back(row);
  }
  return p;
}

bool is_tied(const RowProblem& problem) {
  ModeSolver solver;
  RowSolution solution;
  REQUIRE(solver.solve(problem, solution).status <= SolverStatus::basic);
  RowSizes sizes;
  sizes.measure(problem);
  return Ties().any(problem, sizes, solution);
}

// A point with friction whose normal pushes with `weight`, on three coordinates. Without friction
// its velocity is u, v.
RowProblem point(double weight, double u, double v, bool is_disc) {
  RowProblem p;
  p.channels = 3;
  p.L = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  p.y_free = {-weight, u, v};
  p.blocks = {{0, 3, 0, 3}};
  p.rows.resize(3);
  p.rows[0].d[0] = 1;
  for (int k : {1, 2}) {
    ConstraintRow& row = p.rows[k];
    row.kind = RowKind::friction;
    row.mu = 0.5;
    row.normal = 0;
    row.d[k] = 1;
    row.is_disc = is_disc && k == 1;
  }
  return p;
}

}  // namespace

TEST_CASE("a row at rest without a push is tied; one that pushes, or leaves, is not") {
  CHECK(is_tied(plank({0}, 0, 0)));
  CHECK_FALSE(is_tied(plank({0}, -1e-3, 0)));
  CHECK_FALSE(is_tied(plank({0}, 1e-3, 0)));
  CHECK(is_tied(plank({-1, 1}, -1, 1)));  // one carries all, the other just touches
  CHECK_FALSE(is_tied(plank({-1, 1}, -1, 0.9)));
  CHECK_FALSE(is_tied(plank({-1, 1}, -1, 1.1)));
}

TEST_CASE("a row that others hold makes no kink, whatever it pushes") {
  // Three points on a plank that two can support. With the weight over x = -0.5 the least impulses
  // are (1, 1/3 + ..., ...), and zero for the last one at some place.
  for (const double turning : {0.2, 0.5, 0.7}) CHECK_FALSE(is_tied(plank({-1, 0, 1}, -1, turning)));
  // The least impulse 1/3 - x t / 2 is zero at x = 1 for t = 2/3, without an effect on the
  // velocities.
  CHECK_FALSE(is_tied(plank({-1, 0, 1}, -1, 2.0 / 3)));
  CHECK(is_tied(plank({-1, 0, 1}, -1, 1)));  // about to tip over the last
}

TEST_CASE("friction is tied at its bound at rest") {
  for (const bool is_disc : {false, true}) {
    CHECK_FALSE(is_tied(point(2, 0.5, 0, is_disc)));  // sticks
    CHECK_FALSE(is_tied(point(2, 1.5, 0, is_disc)));  // slides
    CHECK(is_tied(point(2, 1.0, 0, is_disc)));
    CHECK_FALSE(is_tied(point(-1, 1.0, 0, is_disc)));  // separates
  }
}

TEST_CASE("a row with a compliance gives: its bounds are its own") {
  RowProblem p = plank({-1, 0, 1}, -1, 2.0 / 3);
  for (ConstraintRow& row : p.rows) row.compliance = 0.1;
  CHECK_FALSE(is_tied(p));
  p = plank({0}, 0, 0);
  p.rows[0].compliance = 0.1;
  CHECK(is_tied(p));
}

// Solvers of rows as a step sees them (contact/row_solvers.h): each of the list does what the interface says.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "contact/row_solvers.h"
#include "ridders.h"
#include "row_cases.h"
#include "scale.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

double dot(const Numbers& x, const Numbers& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

// Solutions with the same outcomes are values of one smooth function.
std::vector<int> outcomes(const SolvedRows& solved, const RowSolution& solution) {
  std::vector<int> out;
  for (const RowClass c : solution.classes) out.push_back(static_cast<int>(c));
  solved.append_outcomes(out);
  return out;
}

}  // namespace

TEST_CASE("solvers have names, and others are refused by them") {
  for (const SolverId solver : SolverId::all()) CHECK(SolverId::named("solver", solver.kind().name) == solver);
  CHECK(SolverId() == SolverId("lcp"));
  try {
    SolverId::named("solver", "newton");
    FAIL("no such solver");
  } catch (const InputError& error) {
    for (const SolverId solver : SolverId::all()) CHECK(std::string(error.what()).find("'" + std::string(solver.kind().name) + "'") != std::string::npos);
  }
}

TEST_CASE("each solver tells how near it came, and the derivatives of its solution") {
  for (const SolverId id : SolverId::all()) {
    const SolverKind& kind = id.kind();
    CAPTURE(std::string(kind.name));
    const std::unique_ptr<RowSolver> solver = kind.make({.sweeps = 8});
    const std::unique_ptr<SolvedRows> kept = solver->make_solved(), other = solver->make_solved();
    int differentiated = 0, by_classes = 0;
    for_each_problem(kind.has_discs, repeats(2, 8), [&](const Case& c, RowProblem problem) {
      if (c.spec.mass_ratio > 1) return;  // whose differences rounding spoils
      RowSolution s;
      RowSizes sizes;
      const SolverReport report = solver->solve(problem, s, sizes, *kept);
      if (report.status == SolverStatus::inconsistent) return;
      CHECK(report.residual == row_residual(problem, sizes, s));
      CHECK((report.attempt < 0 || kind.attempt_name(report.attempt) != std::string()));
      const std::vector<int> taken = outcomes(*kept, s);

      // Other classes: those that it found have its motion.
      const bool is_two_sided = kept->differentiate(problem, sizes, s);
      if (report.status == SolverStatus::solved) CHECK(kept->has_classes() == kind.knows_classes);
      RowSolution again;
      if (kept->has_classes() && other->solve_classes(problem, s.classes.data(), s.f.data(), again)) {
        CHECK(other->has_classes());
        double off = 0, size = 0;
        for (std::size_t i = 0; i < s.w.size(); ++i) off = std::max(off, std::abs(again.w[i] - s.w[i])), size = std::max(size, std::abs(s.w[i]));
        CHECK(off <= 1e-9 * (size + 1));
        ++by_classes;
      }
      if (!is_two_sided || kept->has_dependences(problem)) return;  // of these the motion alone has a derivative

      // The gradient of a loss, beside differences of the solver along a direction of the velocities.
      Rng rng(7);
      const auto random = [&](std::size_t n) {
        Numbers x(n);
        for (double& y : x) y = rng.normal();
        return x;
      };
      const Numbers z_bar = random(s.z.size()), direction = random(s.z.size()), f_bar(s.f.size(), 0.0);
      RowGradient gradient;
      gradient.set_zero(problem, kept->sees_delassus());
      kept->add_vjp(problem, s, f_bar.data(), z_bar.data(), gradient);
      const double expected = dot(gradient.y_free, direction);
      const Numbers y_free = problem.y_free;
      const std::unique_ptr<SolvedRows> moved = solver->make_solved();
      bool is_same = true;
      const auto loss = [&](double t) {
        for (std::size_t i = 0; i < y_free.size(); ++i) problem.y_free[i] = y_free[i] + t * direction[i];
        RowSolution x;
        solver->solve(problem, x, sizes, *moved);
        is_same &= outcomes(*moved, x) == taken;
        return Numbers{dot(x.z, z_bar)};
      };
      double size = 0;
      for (std::size_t i = 0; i < direction.size(); ++i) size += std::abs(gradient.y_free[i] * direction[i]);
      const Numbers rate = ridders(loss, 1e-3);
      problem.y_free = y_free;
      if (!is_same) return;
      CHECK(std::abs(rate[0] - expected) <= 1e-8 * size);
      ++differentiated;

      // The matrices say the same.
      ImpulseRates rates;
      rates.ask_for_all(problem.channels);
      if (!kept->rates(problem, rates)) return;
      double by_matrix = 0;
      const std::size_t k = y_free.size();
      for (std::size_t a = 0; a < k; ++a)
        for (std::size_t b = 0; b < k; ++b) by_matrix += direction[a] * rates.by_velocity[a * k + b] * z_bar[b];
      CHECK(std::abs(by_matrix - expected) <= 1e-11 * size);
    });
    CHECK(differentiated > repeats(5, 20));
    CHECK((by_classes > 0) == kind.knows_classes);
  }
}

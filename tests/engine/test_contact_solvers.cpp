// Row solvers as the step uses them (contact/row_solvers.h): each solver of the list satisfies the
// interface.
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

// Solutions with the same outcomes are values of one smooth function.
std::vector<int> outcomes(const SolvedRows& solved, const RowSolution& solution) {
  std::vector<int> out;
  for (const RowClass c : solution.classes) out.push_back(static_cast<int>(c));
  solved.append_outcomes(out);
  return out;
}

}  // namespace

TEST_CASE("solvers have names, and others are refused by them") {
  for (const SolverId solver : SolverId::all())
    CHECK(SolverId::named("solver", solver.kind().name) == solver);
  CHECK(SolverId() == SolverId("lcp"));
  try {
    SolverId::named("solver", "newton");
    FAIL("no such solver");
  } catch (const InputError& error) {
    for (const SolverId solver : SolverId::all())
      CHECK(std::string(error.what()).find("'" + std::string(solver.kind().name) + "'") !=
            std::string::npos);
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
      if (c.spec.mass_ratio > 1) return;  // rounding spoils the differences
      RowSolution s;
      RowSizes sizes;
      const SolverReport report = solver->solve(problem, s, sizes, *kept);
      if (report.status == SolverStatus::inconsistent) return;
      CHECK(report.residual == row_residual(problem, sizes, s));
      CHECK((report.attempt < 0 || !kind.attempt_name ||
             kind.attempt_name(report.attempt) != std::string()));
      const std::vector<int> taken = outcomes(*kept, s);

      // Solving with the modes that the solver found leads to the same motion.
      const bool is_two_sided = kept->differentiate(problem, sizes, s) == OneSided::no;
      if (report.status == SolverStatus::solved) CHECK(kept->has_classes() == kind.knows_classes);
      RowSolution again;
      if (kept->has_classes() && other->solve_classes(problem, s.classes.data(), again)) {
        CHECK(other->has_classes());
        double off = 0, size = 0;
        for (std::size_t i = 0; i < s.w.size(); ++i) {
          off = std::max(off, std::abs(again.w[i] - s.w[i]));
          size = std::max(size, std::abs(s.w[i]));
        }
        CHECK(off <= 1e-9 * (size + 1));
        ++by_classes;
      }
      // With dependences only the motion has a derivative.
      if (!is_two_sided || kept->has_dependences(problem)) return;

      // Compare the gradient of a loss with differences of the solver along a direction of the
      // velocities.
      Rng rng(7);
      const auto random = [&](std::size_t n) {
        Numbers x(n);
        for (double& y : x) y = rng.normal();
        return x;
      };
      const Numbers z_bar = random(s.z.size()), f_bar = random(s.f.size()), none(s.f.size(), 0.0);
      RowGradient gradient;
      gradient.set_zero(problem, kept->sees_delassus());
      kept->add_vjp(problem, s, f_bar.data(), z_bar.data(), gradient);
      const std::unique_ptr<SolvedRows> moved = solver->make_solved();
      const RowProblem here = problem;
      bool is_same = true;
      // move(problem, i, distance) changes number i.
      const auto check = [&](const Numbers& by, const auto& move) {
        const Numbers direction = random(by.size());
        double expected = 0, size = 0;
        for (std::size_t i = 0; i < by.size(); ++i) {
          expected += by[i] * direction[i];
          size += std::abs(by[i] * direction[i]);
        }
        if (size == 0) return;
        is_same = true;
        const Numbers rate = ridders(
            [&](double t) {
              for (std::size_t i = 0; i < by.size(); ++i) move(problem, i, t * direction[i]);
              RowSolution x;
              solver->solve(problem, x, sizes, *moved);
              is_same &= outcomes(*moved, x) == taken;
              problem = here;
              return Numbers{dot(x.z, z_bar) + dot(x.f, f_bar)};
            },
            1e-3);
        if (!is_same) return;
        // Differences of almost converged sweeps are dominated by rounding.
        const double loss = std::abs(dot(s.z, z_bar)) + std::abs(dot(s.f, f_bar));
        CHECK(std::abs(rate[0] - expected) <= 1e-8 * size + 1e-12 * loss);
        ++differentiated;
      };
      check(gradient.y_free, [](RowProblem& p, std::size_t i, double t) { p.y_free[i] += t; });
      check(gradient.target, [](RowProblem& p, std::size_t i, double t) { p.rows[i].target += t; });
      Numbers by_mu(gradient.mu), by_compliance(gradient.compliance);  // only of nonzero ones
      for (std::size_t i = 0; i < s.f.size(); ++i) {
        if (here.rows[i].kind != RowKind::friction || here.rows[i].mu == 0) by_mu[i] = 0;
        if (here.rows[i].compliance == 0) by_compliance[i] = 0;
      }
      // The axes of a disc have one compliance.
      for (std::size_t i = 0; i < s.f.size(); ++i)
        if (here.rows[i].is_disc) {
          by_compliance[i] += by_compliance[i + 1];
          by_compliance[i + 1] = 0;
        }
      check(by_mu,
            [&](RowProblem& p, std::size_t i, double t) { p.rows[i].mu += by_mu[i] != 0 ? t : 0; });
      check(by_compliance, [&](RowProblem& p, std::size_t i, double t) {
        if (by_compliance[i] == 0) return;
        p.rows[i].compliance += t;
        if (p.rows[i].is_disc) p.rows[i + 1].compliance += t;
      });

      // Compare with the matrices.
      ImpulseRates rates;
      rates.ask_for_all(problem.channels);
      if (!kept->rates(problem, rates)) return;
      RowGradient of_channels;
      of_channels.set_zero(problem, kept->sees_delassus());
      kept->add_vjp(problem, s, none.data(), z_bar.data(), of_channels);
      const std::size_t k = here.y_free.size();
      for (std::size_t a = 0; a < k; ++a) {
        double sum = 0, size = 0;
        for (std::size_t b = 0; b < k; ++b) {
          sum += rates.by_velocity[a * k + b] * z_bar[b];
          size += std::abs(rates.by_velocity[a * k + b] * z_bar[b]);
        }
        CHECK(std::abs(sum - of_channels.y_free[a]) <= 1e-11 * size);
      }
    });
    CHECK(differentiated > repeats(5, 20));
    CHECK((by_classes > 0) == kind.knows_classes);
  }
}

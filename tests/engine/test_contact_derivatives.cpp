// The adjoints of the row solvers are the derivatives of the solution.
#include <doctest/doctest.h>

#include <Eigen/Dense>

#include <numeric>

#include "contact/mode_solver.h"
#include "count_allocations.h"
#include "ridders.h"
#include "row_cases.h"
#include "scale.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A number of a problem, and the gradient with respect to it.
struct Number {
  double* value;
  double gradient;
};

std::vector<Number> numbers(RowProblem& problem, const RowGradient& g, bool with_rows) {
  std::vector<Number> all;
  const int k = problem.channels;
  for (int a = 0; a < k; ++a) all.push_back({&problem.y_free[a], g.y_free[a]});
  for (int a = 0; a < k; ++a) all.push_back({&problem.L[a * k + a], g.L[a * k + a]});
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      ConstraintRow& row = problem.rows[i];
      if (with_rows) {
        all.push_back({&row.target, g.target[i]});
        for (int c = 0; c < block.width; ++c)
          all.push_back({&row.d[c], g.d[i * most_block_channels + c]});
      }
      if (row.compliance > 0) all.push_back({&row.compliance, g.compliance[i]});
      if (row.kind == RowKind::friction) all.push_back({&row.mu, g.mu[i]});
      if (row.kind == RowKind::box) {
        all.push_back({&row.lower, g.lower[i]});
        all.push_back({&row.upper, g.upper[i]});
      }
    }
  }
  return all;
}

// Compare a gradient with Ridders differences of `loss`, if no mode changes nearby. Returns the
// number of derivatives compared.
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
    // Differences of numbers with errors of 1e-16, over steps of 1e-5 and more.
    CHECK(std::abs(rate[0] - n.gradient) <= 1e-8 * largest);
  }
  return compared;
}

// A random loss that is linear in the impulses of rows and z.
struct Loss {
  std::vector<double> f_bar, z_bar;

  Loss(const RowProblem& problem, Rng& rng)
      : f_bar(at(problem.size())), z_bar(at(problem.channels)) {
    for (std::vector<double>* bar : {&f_bar, &z_bar})
      for (double& x : *bar) x = rng.normal();
  }
  double operator()(const RowSolution& s) const {
    return std::inner_product(f_bar.begin(), f_bar.end(), s.f.begin(),
                              std::inner_product(z_bar.begin(), z_bar.end(), s.z.begin(), 0.0));
  }
};

}  // namespace

TEST_CASE("the adjoint of the sweeps is their derivative") {
  for (const Case& c : cases()) {
    if (c.spec.bodies * c.spec.points > 8) continue;
    CAPTURE(c.name);
    Rng rng(11);
    RowProblem problem = random_rows(rng, c.spec);
    const Loss loss(problem, rng);
    ProjectedGaussSeidel sweeps;
    RowSolution s;
    RowGradient g;
    sweeps.solve(problem, 6, s);
    g.set_zero(problem);
    sweeps.add_vjp(problem, s, loss.f_bar.data(), loss.z_bar.data(), g);
    const RowGradient once = g;
    // Gradients are added up, and can be computed again.
    sweeps.add_vjp(problem, s, loss.f_bar.data(), loss.z_bar.data(), g);
    for (std::size_t i = 0; i < g.y_free.size(); ++i) CHECK(g.y_free[i] == 2 * once.y_free[i]);
    const int compared = compare(
        problem, once, true,
        [&]() -> const RowSolution& {
          sweeps.solve(problem, 6, s);
          return s;
        },
        loss);
    CHECK(compared > problem.size());
  }
}

TEST_CASE("sweeps say where an update was as near to its bound as rounding tells") {
  RowProblem problem;
  problem.blocks = {{0, 1, 0, 1}};
  problem.rows.resize(1);
  ConstraintRow& row = problem.rows[0];
  row.kind = RowKind::box;
  row.d[0] = 1;
  row.lower = -3;
  // An impulse of 0.3 stops the motion.
  problem.channels = 1;
  problem.L = {1};
  problem.y_free = {-0.3};
  ProjectedGaussSeidel sweeps;
  RowSolution s;
  const auto is_tied = [&](double upper) {
    row.upper = upper;
    sweeps.solve(problem, 4, s);
    return sweeps.is_tied();
  };
  CHECK(is_tied(0.3));
  CHECK_FALSE(is_tied(0.3 + 1e-12));
  CHECK_FALSE(is_tied(0.3 - 1e-12));
  row.kind = RowKind::unilateral;
  problem.y_free = {0};  // touches, without motion
  CHECK(is_tied(0));
}

TEST_CASE("the derivative of solved rows is that of the solver") {
  int compared = 0, moved = 0;
  for (const Case& c : cases()) {
    if (c.spec.bodies * c.spec.points > 8) continue;
    CAPTURE(c.name);
    // Linearly dependent rows stay consistent only if they move together, so their own numbers do
    // not change.
    const bool dependent = c.spec.points > 1 && c.spec.compliance == 0;
    for (int seed = 0; seed < (dependent ? repeats(1, 8) : repeats(1, 2)); ++seed) {
      CAPTURE(seed);
      Rng rng(static_cast<std::uint64_t>(20 + seed));
      RowProblem problem = random_rows(rng, c.spec);
      const Loss loss(problem, rng);
      ModeSolver solver;
      RowSolution s;
      if (solver.solve(problem, s).status != SolverStatus::solved) continue;
      RowGradient g;
      g.set_zero(problem);
      solver.classes().add_vjp(problem, s, loss.f_bar.data(), loss.z_bar.data(), g);
      const auto solve = [&]() -> const RowSolution& {
        solver.solve(problem, s);
        return s;
      };
      compared += compare(problem, g, !dependent, solve, loss);

      // A contact point moves in the contact's plane: dependent rows stay consistent, and their
      // span rotates.
      const std::vector<RowClass> classes = solve().classes;
      for (const RowBlock& block : problem.blocks) {
        if (block.width != 6) continue;
        const std::vector<ConstraintRow> rows = problem.rows;
        const int normal = block.first_row;
        const Eigen::Vector3d n(rows[normal].d[3], rows[normal].d[4], rows[normal].d[5]),
            any = random_normal(rng, 3, 1), step = n.cross(any);
        std::vector<Eigen::Vector3d> moments(rows.size(), Eigen::Vector3d::Zero());
        double expected = 0, size = 0;
        for (int i = normal; i < block.last_row; ++i) {
          if (i != normal && rows[i].normal != normal) continue;
          moments[i] = step.cross(Eigen::Vector3d(rows[i].d[3], rows[i].d[4], rows[i].d[5]));
          for (int j = 0; j < 3; ++j) {
            const double term = g.d[i * most_block_channels + j] * moments[i][j];
            expected += term;
            size += std::abs(term);
          }
        }
        bool same = true;
        const auto loss_at = [&](double t) {
          for (int i = normal; i < block.last_row; ++i) {
            for (int j = 0; j < 3; ++j) problem.rows[i].d[j] = rows[i].d[j] + t * moments[i][j];
          }
          const RowSolution& now = solve();
          same = same && now.classes == classes;
          const double sum = loss(now);
          problem.rows = rows;
          return Numbers{sum};
        };
        // Use the longest step without a change of modes: with light bodies on heavy ones rounding
        // spoils short differences.
        Numbers rate = ridders(loss_at, 1e-2);
        if (!same) {
          same = true;
          rate = ridders(loss_at, 1e-3);
        }
        if (!same || size == 0) continue;
        ++moved;
        CHECK(std::abs(rate[0] - expected) <= 1e-8 * size);
      }
    }
  }
  CHECK(compared > repeats(100, 300));
  CHECK(moved > repeats(4, 20));
}

namespace {

// Compare the rates of the impulses z, or of every `step`-th entry, each with one adjoint. With
// of_motion compare the rates of the motion that the impulses cause. Rates of dependences are
// compared likewise, if there are any. Returns true if there were any rates.
bool check_rates(const RowProblem& problem, Rng& rng, int step = 1, bool of_motion = false) {
  ModeSolver solver;
  RowSolution s;
  if (solver.solve(problem, s).status != SolverStatus::solved) return false;
  ImpulseRates rates;
  for (int c = 0; c < problem.channels; c += step) rates.asked.push_back(c);
  rates.of_dependences = solver.classes().has_dependences(problem);
  solver.classes().rates(problem, rates);
  constexpr std::size_t changes = ImpulseRates::at_once;
  const std::size_t k = at(problem.channels), w = at(rates.width()), m = problem.rows.size();
  Numbers dd(m * most_block_channels * changes), dt(m * changes), dy(changes * k),
      dz(changes * w, 0.0), none(m, 0.0);
  for (Numbers* x : {&dd, &dt, &dy})
    for (double& y : *x) y = rng.normal();
  for (const RowBlock& block : problem.blocks)
    rates.add(s, block, &dd[at(block.first_row) * most_block_channels * changes],
              &dt[at(block.first_row) * changes], dz.data());
  for (std::size_t t = 0; t < changes; ++t)
    for (std::size_t a = 0; a < k; ++a)
      for (std::size_t c = 0; c < w; ++c)
        dz[t * w + c] += dy[t * k + a] * rates.by_velocity[a * w + c];
  for (std::size_t c = 0; c < w; ++c) {
    RowGradient g;
    g.set_zero(problem, false);
    Numbers z_bar(k, 0.0);  // of an entry of z, or of a velocity
    const bool is_of_dependences = c == rates.asked.size();
    for (std::size_t a = 0; a < k && !is_of_dependences; ++a)
      z_bar[a] = of_motion ? problem.L[c * k + a] : a == at(rates.asked[c]);
    if (is_of_dependences)
      solver.classes().add_dependence_vjp(problem, s, g);
    else
      solver.classes().add_vjp(problem, s, none.data(), z_bar.data(), g);
    for (std::size_t t = 0; t < changes; ++t) {
      double expected = 0, size = 0, found = is_of_dependences ? dz[t * w + c] : 0;
      const auto add = [&](double by, double change) {
        expected += by * change;
        size += std::abs(by * change);
      };
      for (std::size_t a = 0; a < rates.asked.size(); ++a)
        found += z_bar[rates.asked[a]] * dz[t * w + a];
      for (std::size_t i = 0; i < m; ++i) add(g.target[i], dt[i * changes + t]);
      for (std::size_t a = 0; a < k; ++a) add(g.y_free[a], dy[t * k + a]);
      for (const RowBlock& block : problem.blocks)
        for (int i = block.first_row; i < block.last_row; ++i)
          for (int a = 0; a < block.width; ++a)
            add(g.d[i * most_block_channels + a],
                dd[at(i * most_block_channels + a) * changes + t]);
      CHECK(std::abs(found - expected) <= 1e-12 * size);
    }
  }
  return true;
}

}  // namespace

TEST_CASE("the rates of impulses, of all or some channels, are what their adjoints say") {
  int checked = 0;
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    for (std::uint64_t seed = 30; seed < 36; ++seed) {
      Rng rng(seed);
      const RowProblem problem = random_rows(rng, c.spec);
      if (check_rates(problem, rng) && check_rates(problem, rng, 2)) ++checked;
    }
  }
  CHECK(checked > 30);
  // Equal rows of two pairs: their system is singular, and the share of each row is not determined.
  RowProblem twice;
  for (int side = 0; side < 2; ++side) {
    twice.blocks.push_back({side, 1, side, side + 1});
    twice.rows.emplace_back().d[0] = 1;
  }
  set_motion(twice, Eigen::MatrixXd::Ones(2, 1), Eigen::MatrixXd::Identity(1, 1),
             Eigen::VectorXd::Constant(1, -3));
  Rng rng(1);
  CHECK(check_rates(twice, rng, 1, true));
  // More points than necessary, of bodies that are not known to touch on one plane; some slide.
  int depending = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Rng own(seed);
    RowProblem problem =
        random_rows(own, {.bodies = 3, .pairs = 4, .points = 4, .mu = seed % 2 ? 0.5 : 0.0});
    for (RowBlock& block : problem.blocks) block.is_of_one_plane = false;
    ModeSolver solver;
    RowSolution s;
    if (solver.solve(problem, s).status == SolverStatus::solved &&
        solver.classes().has_dependences(problem))
      depending += check_rates(problem, own);
  }
  CHECK(depending > 10);
}

TEST_CASE("solving and differentiating again does not allocate") {
  Rng rng(3);
  const RowProblem problem = random_rows(rng, {.bodies = 3, .pairs = 4, .points = 4, .boxes = 2});
  ModeSolver solver;
  ProjectedGaussSeidel sweeps;
  Dantzig dantzig;
  Lemke lemke;
  RowSolution s;
  RowGradient g;
  ImpulseRates rates;
  const std::vector<double> f_bar(at(problem.size()), 1.0), z_bar(at(problem.channels), 1.0);
  rates.ask_for_all(problem.channels);
  rates.of_dependences = true;
  const auto all = [&] {
    lemke.solve(problem, s);
    dantzig.solve(problem, s);
    g.set_zero(problem);
    sweeps.solve(problem, 10, s);
    sweeps.add_vjp(problem, s, f_bar.data(), z_bar.data(), g);
    solver.solve(problem, s);
    solver.classes().add_vjp(problem, s, f_bar.data(), z_bar.data(), g);
    solver.classes().rates(problem, rates);
  };
  all();
  const long before = allocations;
  all();
  CHECK(allocations == before);
}

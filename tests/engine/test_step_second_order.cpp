// Second-order products of steps: they are symmetric and equal differences of gradients. There are
// none where formulas change.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "dynamics/configuration.h"
#include "ridders.h"
#include "rollout/simulator.h"
#include "step_worlds.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

// A ball and an ellipsoid that slide over the floor, the ball against the ellipsoid.
struct Sliding {
  StepWorld w{free_bodies({free_ball(0.5, 0.15),
                           {Shape::ellipsoid({0.1, 0.15, 0.2}), box_inertia(2, {0.1, 0.1, 0.15})}}),
              {0.4, 0.2, 0.01, 0.005}};
  Numbers q{0, 0, 0.1499, 0, 0, 0, 1, 0.2495, 0.01, 0.1999, 0, 0, 0.1, 1},
      v{0.4, 0.2, -0.005, 0.5, 1, -1, 0.1, -0.3, -0.2, 0.2, -0.1, 1.5};
  Numbers tau, q_bar, v_bar;

  Sliding() {
    Random random(3);
    tau = random.numbers(12);
    q_bar = random.numbers(12);
    v_bar = random.numbers(12, 0.01);
  }
  StepGradient direction(Random& random, double dt) const {
    StepGradient d;
    d.set_zero(*w.world);
    d.q = random.numbers(12);
    d.v = random.numbers(12, 1 / dt);
    d.tau = random.numbers(12);
    return d;
  }
};

double product(const StepGradient& g, const StepGradient& d) {
  double sum = 0;
  for (std::size_t k = 0; k < 12; ++k)
    sum += g.q[k] * d.q[k] + g.v[k] * d.v[k] + g.tau[k] * d.tau[k];
  return sum;
}
double size(const StepGradient& g, const StepGradient& d) {
  double sum = 0;
  for (std::size_t k = 0; k < 12; ++k)
    sum += std::abs(g.q[k] * d.q[k]) + std::abs(g.v[k] * d.v[k]) + std::abs(g.tau[k] * d.tau[k]);
  return sum;
}

}  // namespace

TEST_CASE(
    "second-order products are symmetric, and along what is a vector differences of gradients") {
  StepOptions options;
  int substeps = 1;
  SUBCASE("of solved rows") { options.solver = SolverId("lcp"); }
  SUBCASE("of convex problems") { options.solver = SolverId("convex"); }
  SUBCASE("of sweeps") {
    options.solver = SolverId("pgs");
    options.solver_options.sweeps = 5;
  }
  SUBCASE("of several substeps") { substeps = 3; }
  const Sliding s;
  Simulator simulator(*s.w.world, options, substeps);
  const ControlView control{s.tau.data()};
  Random random(4);
  const StepGradient a = s.direction(random, options.dt), b = s.direction(random, options.dt);
  StepGradient by_a, by_b, error;
  simulator.hvp({s.q.data(), s.v.data()}, control, {s.q_bar.data(), s.v_bar.data()}, b, by_b,
                error);
  CHECK(product(error, a) < 1e-7 * size(by_b, a));
  simulator.hvp({s.q.data(), s.v.data()}, control, {s.q_bar.data(), s.v_bar.data()}, a, by_a,
                error);
  CHECK(by_a.one_sided == OneSided::no);
  CHECK(size(by_a, b) > 0);
  // Ten digits, relative to the terms of the sums.
  CHECK(std::abs(product(by_a, b) - product(by_b, a)) <
        1e-8 * std::max(size(by_a, b), size(by_b, a)));

  StepGradient forces(b);
  std::fill(forces.q.begin(), forces.q.end(), 0.0);
  simulator.hvp({s.q.data(), s.v.data()}, control, {s.q_bar.data(), s.v_bar.data()}, forces, by_b,
                error);
  const auto gradient_at = [&](double h) {
    Numbers v(s.v), tau(s.tau), q_next(s.q), v_next(s.v), apart(12), q_bar(12);
    for (std::size_t k = 0; k < 12; ++k) {
      v[k] += h * forces.v[k];
      tau[k] += h * forces.tau[k];
    }
    // The loss is a function of coordinates at the next state here, with differences of each of
    // them.
    RolloutReport report;
    StepGradient g;
    simulator.step({s.q.data(), s.v.data()}, {s.tau.data()}, {q_next.data(), v_next.data()},
                   report);
    CHECK(report.contacts == 3);
    const Numbers here(q_next);
    simulator.step({s.q.data(), v.data()}, {tau.data()}, {q_next.data(), v_next.data()}, report);
    for (int k = 0; k < 12; ++k)
      q_bar[k] = ridders([&](double e) {
        Numbers unit(12), moved(here);
        unit[k] = e;
        integrate(s.w.model, q_next.data(), unit.data(), moved.data());
        difference(s.w.model, here.data(), moved.data(), apart.data());
        double sum = 0;
        for (std::size_t i = 0; i < 12; ++i) sum += s.q_bar[i] * apart[i];
        return Numbers{sum};
      })[0];
    simulator.take({s.q.data(), v.data()}, {tau.data()}, report);
    simulator.vjp({tau.data()}, {q_bar.data(), s.v_bar.data()}, g);
    Numbers all(g.q);
    all.insert(all.end(), g.v.begin(), g.v.end());
    all.insert(all.end(), g.tau.begin(), g.tau.end());
    all.insert(all.end(), g.parameters.numbers().begin(), g.parameters.numbers().end());
    return all;
  };
  const Numbers expected = ridders(gradient_at, 1e-5);
  Numbers got(by_b.q);
  got.insert(got.end(), by_b.v.begin(), by_b.v.end());
  got.insert(got.end(), by_b.tau.begin(), by_b.tau.end());
  got.insert(got.end(), by_b.parameters.numbers().begin(), by_b.parameters.numbers().end());
  double largest = 0;
  for (const double x : expected) largest = std::max(largest, std::abs(x));
  for (std::size_t k = 0; k < got.size(); ++k) {
    CAPTURE(k);
    CHECK(std::abs(got[k] - expected[k]) < 1e-7 * largest);
  }
}

TEST_CASE(
    "where a formula ends there are no second-order products, and along nothing they are zero") {
  // Two balls that touch without a force.
  const StepWorld w(free_bodies({free_ball(1, 0.1), free_ball(1, 0.1)}), {0.5, 0.0});
  Simulator simulator(*w.world, StepOptions(), 1);
  const Numbers q{0, 0, 5, 0, 0, 0, 1, 0.2, 0, 5, 0, 0, 0, 1}, v(12), bar(12, 1.0);
  StepGradient d, g, error;
  d.set_zero(*w.world);
  simulator.hvp({q.data(), v.data()}, {}, {bar.data(), bar.data()}, d, g, error);
  for (std::size_t k = 0; k < 12; ++k) CHECK((g.q[k] == 0 && error.v[k] == 0));
  d.v[0] = 1;
  simulator.hvp({q.data(), v.data()}, {}, {bar.data(), bar.data()}, d, g, error);
  CHECK(g.one_sided == (OneSided::tie | OneSided::switches));  // they touch
  for (std::size_t k = 0; k < 12; ++k) CHECK((std::isnan(g.q[k]) && std::isnan(error.v[k])));
}

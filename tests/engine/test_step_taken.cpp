// Completed steps: their derivatives are bitwise those of the step, whatever their simulators did
// since.
#include <doctest/doctest.h>

#include "random_models.h"
#include "rollout/taken_step.h"
#include "step_worlds.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

// A ball and a box on the floor, pushed.
struct Pushed {
  StepWorld w =
      StepWorld(free_bodies({free_box(2, {0.2, 0.2, 0.1}), free_box(1, {0.1, 0.1, 0.1})}), {0});
  Numbers q{0, 0, 0.0999, 0, 0, 0, 1, 0.05, 0.02, 0.2999, 0, 0, 0, 1}, v, tau, q_bar, v_bar;

  explicit Pushed(unsigned seed) {
    Random random(seed);
    v = random.numbers(12);
    tau = random.numbers(12);
    q_bar = random.numbers(12);
    v_bar = random.numbers(12);
  }
  StateView state() const { return {q.data(), v.data()}; }
  ControlView control() const { return {tau.data()}; }
  TangentView bar() const { return {q_bar.data(), v_bar.data()}; }
};

StepGradient gradient_of(TakenStep& step, const Pushed& x) {
  StepGradient g;
  step.vjp(x.bar(), g);
  return g;
}

void check_same(const StepGradient& a, const StepGradient& b) {
  CHECK(a.q == b.q);
  CHECK(a.v == b.v);
  CHECK(a.tau == b.tau);
  CHECK(a.parameters.numbers() == b.parameters.numbers());
}

}  // namespace

TEST_CASE(
    "derivatives of a taken step are those of its simulator, though that has taken others since") {
  for (const int substeps : {1, 3}) {
    CAPTURE(substeps);
    const Pushed x(1), y(2);
    SimulatorPool pool(*x.w.world, StepOptions(), substeps);
    Simulator alone(*x.w.world, StepOptions(), substeps);
    RolloutReport report;
    alone.take(x.state(), x.control(), report);
    REQUIRE(report.contacts > 0);
    StepGradient expected, direction;
    alone.vjp(x.control(), x.bar(), expected);

    TakenStep first(pool, x.state(), x.control());
    CHECK(first.report().residual == report.residual);
    CHECK(std::equal(first.end().q, first.end().q + 14, alone.end().q));
    check_same(gradient_of(first, x), expected);
    check_same(gradient_of(first, x), expected);  // no other step was taken in between
    TakenStep second(pool, y.state(), y.control());
    check_same(gradient_of(first, x), expected);
    Numbers q(x.q), v(x.v);
    SimulatorPool::Borrowed(pool, 1)->step(y.state(), y.control(), {q.data(), v.data()}, report);
    check_same(gradient_of(first, x), expected);
    {
      const SimulatorPool::Borrowed all(pool, 3);  // its own simulator is not available
      check_same(gradient_of(first, x), expected);
    }

    // A second-order product, tangents and matrices, in any order.
    direction.set_zero(*x.w.world);
    std::fill(direction.parameters.numbers().begin(), direction.parameters.numbers().end(), 0.0);
    direction.v = y.v;
    StepGradient product, error;
    first.hvp(x.bar(), direction, product, error);
    check_same(gradient_of(first, x), expected);
    Numbers q_way(12), v_way(12);
    first.jvp(direction, {q_way.data(), v_way.data()});
    check_same(gradient_of(first, x), expected);
    StepJacobians J;
    first.jacobians(J.resize(x.w.world->model()));
    double by_matrix = 0, by_tangent = 0, by_gradient = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      by_gradient += expected.v[i] * direction.v[i];
      by_tangent += x.q_bar[i] * q_way[i] + x.v_bar[i] * v_way[i];
      for (std::size_t k = 0; k < 12; ++k)
        by_matrix +=
            (x.q_bar[i] * J.v[i * 12 + k] + x.v_bar[i] * J.v[(12 + i) * 12 + k]) * direction.v[k];
    }
    CHECK(by_tangent == doctest::Approx(by_gradient).epsilon(1e-11));
    CHECK(by_matrix == doctest::Approx(by_gradient).epsilon(1e-11));
    // The stepper after the last substep, whatever was computed before.
    CHECK(first.with_stepper([](const Stepper& s) { return s.data().u; }) ==
          alone.at_end(x.control()).data().u);
  }
}

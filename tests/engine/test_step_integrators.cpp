// Integrators as the step uses them (step/integrators/integrators.h): each integrator of the list
// satisfies the interface. Derivatives of steps with each integrator are in
// test_step_gradients.cpp.
#include "step/columns.h"
#include "step_differences.h"

using namespace robosim;
using namespace robosim::testing;

TEST_CASE("integrators have names, and others are refused by them") {
  for (const IntegratorId id : IntegratorId::all())
    CHECK(IntegratorId::named("integrator", id.kind().name) == id);
  CHECK_THROWS_AS(IntegratorId::named("integrator", "leapfrog"), InputError);
}

TEST_CASE(
    "the operator of each integrator is symmetric, and solved alike for one vector and for "
    "columns") {
  for (const IntegratorId id : IntegratorId::all()) {
    CAPTURE(std::string(id.kind().name));
    for (unsigned seed = 0; seed < random_worlds; ++seed) {
      Random random(seed);
      Model model = random_tree("robot", random, {"revolute", "prismatic", "planar", "floating"}, 5,
                                false, true)
                        .build({});
      std::fill(model.friction.begin(), model.friction.end(), 0.0);  // without rows
      const StepWorld w(std::move(model), {});
      const Model& m = w.model;
      StepData step(*w.world, {});
      const std::unique_ptr<Integrator> integrator = id.kind().make(m);
      const Numbers q = random.configuration(m), v = random.numbers(m.n_v);
      integrator->move_freely(step, {{q.data(), v.data()}, {}});
      const int stride = padded(2);
      const Numbers x[] = {random.numbers(m.n_v), random.numbers(m.n_v)};
      Numbers columns(at(m.n_v * stride), 0.0), solved[2] = {x[0], x[1]}, transposed = x[1];
      for (int r = 0; r < m.n_v; ++r)
        for (int c = 0; c < 2; ++c) columns[r * stride + c] = x[c][r];
      for (Numbers& each : solved) integrator->solve(step, each.data());
      integrator->solve_columns(step, columns.data(), stride);
      integrator->solve_transposed(step, transposed.data());
      double one = 0, other = 0, size = 0;
      for (int r = 0; r < m.n_v; ++r) {
        for (int c = 0; c < 2; ++c)
          CHECK(columns[r * stride + c] == doctest::Approx(solved[c][r]).epsilon(1e-12));
        one += x[0][r] * solved[1][r];
        other += x[1][r] * solved[0][r];
        size += std::abs(x[0][r] * solved[1][r]);
      }
      CHECK(std::abs(one - other) <= 1e-12 * size);
      CHECK(transposed == solved[1]);

      // Without impulses a step ends at v_free, and the integrator maps it to the next state.
      StepOptions options;
      options.integrator = id;
      Stepper stepper(*w.world, options);
      States next(StateLayout::of(m), 1);
      REQUIRE(stepper.step({q.data(), v.data()}, {}, next[0]).rows == 0);
      CHECK(stepper.data().u == step.v_free);
      step.u = step.way = step.v_free;
      States advanced(StateLayout::of(m), 1);
      integrator->advance(step, {{q.data(), v.data()}, {}}, advanced[0]);
      CHECK(advanced.q == next.q);
      CHECK(advanced.v == next.v);
    }
  }
}

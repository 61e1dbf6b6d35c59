// Many rollouts at once: each is bitwise equal to a single rollout, for any number of threads and
// any interval of synchronization. The caller can end them.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "rollout/rollouts.h"
#include "step_worlds.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

constexpr int n_q = 14, n_v = 12;

std::size_t at(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

// A box and a ball that fall, collide, slide and roll, driven by controls.
struct Batch {
  StepWorld w{free_bodies({free_box(2, {0.2, 0.3, 0.1}), free_ball(0.5, 0.15)}), {0.5, 0.3}};
  int count, steps, substeps;
  bool is_shared;
  Numbers q, v, tau, q_bar, v_bar;
  std::vector<RolloutReport> reports;
  std::vector<StepGradient> gradients;
  Numbers tau_bar, q_target_bar, v_target_bar;

  Batch(int count_, int steps_, bool is_shared_, int substeps_ = 1)
      : count(count_),
        steps(steps_),
        substeps(substeps_),
        is_shared(is_shared_),
        q(rows(steps + 1, n_q)),
        v(rows(steps + 1, n_v)),
        tau(rows(steps, n_v)),
        q_bar(rows(steps + 1, n_v)),
        v_bar(q_bar.size()),
        reports(at(count)),
        gradients(at(count)),
        tau_bar(rows(steps, n_v)),
        q_target_bar(rows(steps, n_q)),
        v_target_bar(rows(steps, n_v)) {
    Random random(5);
    for (int r = 0; r < count; ++r) {
      double *q_0 = &q[r * (steps + 1) * n_q], *v_0 = &v[r * (steps + 1) * n_v];
      const double rest[n_q] = {0,    0,    0.101, 0, 0, 0, 1, random.uniform(-0.1, 0.1),
                                0.05, 0.37, 0,     0, 0, 1};
      std::copy_n(rest, n_q, q_0);
      for (int k = 0; k < n_v; ++k) v_0[k] = random.uniform(-0.5, 0.5);
    }
    for (double& x : tau) x = random.uniform(-1, 1);
    for (Numbers* x : {&q_bar, &v_bar})
      for (double& y : *x) y = random.uniform(-1, 1);
  }
  Numbers rows(int each, int width) const {
    return Numbers(at(std::ptrdiff_t{count} * each * width));
  }

  // Numbers of steps taken forward and backward, if the caller continues `patience` times.
  std::pair<int, int> run(int threads, int patience = 1 << 30) {
    std::vector<Simulator> simulators;
    for (int i = 0; i < threads; ++i) simulators.emplace_back(*w.world, StepOptions(), substeps);
    std::vector<Simulator*> all;
    for (Simulator& x : simulators) all.push_back(&x);
    for (RolloutReport& x : reports) x = RolloutReport();
    const ManyControls controls{{tau.data(), nullptr, nullptr}, is_shared};
    int looks = 0, told = 0;
    const auto go_on = [&](int taken) {
      CHECK(taken > told);
      told = taken;
      return ++looks <= patience;
    };
    const KeptStates kept{steps, 1};
    const int there =
        rollouts(all, count, kept, {q.data(), v.data()}, controls, reports.data(), go_on);
    CHECK(told == (there < steps ? there : told));
    looks = 0;
    told = 0;
    const int back = rollouts_vjp(
        all, count, kept, {q.data(), v.data()}, controls, {q_bar.data(), v_bar.data()},
        gradients.data(), {tau_bar.data(), q_target_bar.data(), v_target_bar.data()}, go_on);
    return {there, back};
  }
};

}  // namespace

TEST_CASE(
    "many rollouts and their gradients are those of each alone, to the bit, on any number of "
    "threads") {
  for (const auto& [count, steps, is_shared, substeps] :
       {std::tuple(5, 70, false, 1), std::tuple(3, 40, true, 2), std::tuple(1, 1100, false, 1)}) {
    Batch batch(count, steps, is_shared, substeps);
    for (const int threads : {1, 2, 4}) {
      CHECK(batch.run(threads) == std::pair(steps, steps));
      Simulator alone(*batch.w.world, StepOptions(), substeps);
      for (int r = 0; r < count; ++r) {
        const std::ptrdiff_t of_q = std::ptrdiff_t{r} * (steps + 1) * n_q,
                             of_v = std::ptrdiff_t{r} * (steps + 1) * n_v;
        Numbers q(at((steps + 1) * n_q)), v(at((steps + 1) * n_v)), tau(at(steps * n_v)),
            q_target(at(steps * n_q)), v_target(at(steps * n_v));
        std::copy_n(&batch.q[of_q], n_q, q.data());
        std::copy_n(&batch.v[of_v], n_v, v.data());
        ControlView controls;
        controls.tau = batch.tau.data() + (is_shared ? 0 : std::ptrdiff_t{r} * steps * n_v);
        RolloutReport report;
        alone.rollout({steps, 1}, 0, steps, {q.data(), v.data()}, controls, report);
        CHECK(std::equal(q.begin(), q.end(), batch.q.begin() + of_q));
        CHECK(std::equal(v.begin(), v.end(), batch.v.begin() + of_v));
        CHECK(report.status == batch.reports[r].status);
        CHECK(report.contacts == batch.reports[r].contacts);
        CHECK(report.residual == batch.reports[r].residual);

        StepGradient g;
        g.set_zero(*batch.w.world);
        const double *q_bar = &batch.q_bar[of_v], *v_bar = &batch.v_bar[of_v];
        g.q.assign(q_bar + steps * n_v, q_bar + (steps + 1) * n_v);
        g.v.assign(v_bar + steps * n_v, v_bar + (steps + 1) * n_v);
        alone.rollout_vjp({steps, 1}, 0, steps, {q.data(), v.data()}, controls, {q_bar, v_bar}, g,
                          {tau.data(), q_target.data(), v_target.data()});
        const StepGradient& of_batch = batch.gradients[r];
        CHECK(g.q == of_batch.q);
        CHECK(g.v == of_batch.v);
        CHECK(g.parameters.numbers() == of_batch.parameters.numbers());
        CHECK(std::equal(tau.begin(), tau.end(),
                         batch.tau_bar.begin() + std::ptrdiff_t{r} * steps * n_v));
      }
    }
  }
}

TEST_CASE(
    "a rollout's gradient is that of differences of the rollout, substeps and controls included") {
  Batch batch(1, 30, false, 3);
  batch.run(1);
  Random random(9);
  Simulator simulator(*batch.w.world, StepOptions(), 3);
  const Numbers q_start(batch.q.begin(), batch.q.begin() + n_q),
      v_start(batch.v.begin(), batch.v.begin() + n_v), q_there(batch.q);
  const auto loss = [&](const Numbers& v, const Numbers& tau) {
    Numbers qs(batch.q.size()), vs(batch.v.size());
    std::copy(q_start.begin(), q_start.end(), qs.begin());
    std::copy(v.begin(), v.end(), vs.begin());
    ControlView controls;
    controls.tau = tau.data();
    RolloutReport report;
    simulator.rollout({batch.steps, 1}, 0, batch.steps, {qs.data(), vs.data()}, controls, report);
    double sum = 0;
    for (int i = 0; i <= batch.steps; ++i) {
      double moved[n_v];
      difference(batch.w.model, &q_there[i * n_q], &qs[i * n_q], moved);
      for (int k = 0; k < n_v; ++k)
        sum += batch.q_bar[i * n_v + k] * moved[k] + batch.v_bar[i * n_v + k] * vs[i * n_v + k];
    }
    return sum;
  };
  const Numbers dv = random.numbers(n_v), dtau = random.numbers(batch.steps * n_v);
  double of_v = 0, of_tau = 0;
  for (std::size_t k = 0; k < dv.size(); ++k) of_v += batch.gradients[0].v[k] * dv[k];
  for (std::size_t k = 0; k < dtau.size(); ++k) of_tau += batch.tau_bar[k] * dtau[k];
  const auto along = [](Numbers x, const Numbers& d, double h) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += h * d[k];
    return x;
  };
  // No contact changes its mode within h; errors of central differences are h^2 and 1e-16 / h.
  const double h = 1e-6;
  CHECK(of_v == doctest::Approx((loss(along(v_start, dv, h), batch.tau) -
                                 loss(along(v_start, dv, -h), batch.tau)) /
                                (2 * h))
                    .epsilon(1e-6));
  CHECK(of_tau == doctest::Approx((loss(v_start, along(batch.tau, dtau, h)) -
                                   loss(v_start, along(batch.tau, dtau, -h))) /
                                  (2 * h))
                      .epsilon(1e-6));
}

TEST_CASE("a rollout's gradient is the same to the bit whichever states are kept") {
  for (const int substeps : {1, 2}) {
    const int steps = 40;
    Batch batch(1, steps, true, substeps);
    ControlView controls;
    controls.tau = batch.tau.data();
    StepGradient expected;
    Numbers expected_tau;
    for (const int interval : {1, 2, 3, 7, 40, 100}) {  // the first keeps every state
      CAPTURE(interval);
      const KeptStates kept{steps, interval};
      Simulator simulator(*batch.w.world, StepOptions(), substeps);
      Numbers q(at(kept.rows() * n_q)), v(at(kept.rows() * n_v)), none(v.size(), 0.0),
          tau(batch.tau.size()), q_target(at(steps * n_q)), v_target(at(steps * n_v));
      std::copy_n(batch.q.data(), n_q, q.data());
      std::copy_n(batch.v.data(), n_v, v.data());
      RolloutReport report;
      simulator.rollout(kept, 0, steps, {q.data(), v.data()}, controls, report);
      StepGradient g;
      g.set_zero(*batch.w.world);
      g.q.assign(batch.q_bar.begin(), batch.q_bar.begin() + n_v);
      g.v.assign(batch.v_bar.begin(), batch.v_bar.begin() + n_v);
      simulator.rollout_vjp(kept, 0, kept.rows() - 1, {q.data(), v.data()}, controls,
                            {none.data(), none.data()}, g,
                            {tau.data(), q_target.data(), v_target.data()});
      if (interval == 1) {
        expected = g;
        expected_tau = tau;
      }
      CHECK(g.q == expected.q);
      CHECK(g.v == expected.v);
      CHECK(g.parameters.numbers() == expected.parameters.numbers());
      CHECK(tau == expected_tau);
    }
  }
}

TEST_CASE("threads meet between states that are kept, too") {
  Batch batch(1, 3000, true);
  batch.run(1);
  const Numbers q_end(batch.q.end() - n_q, batch.q.end()),
      v_end(batch.v.end() - n_v, batch.v.end());
  Simulator simulator(*batch.w.world, StepOptions(), 1);
  Simulator* const one[] = {&simulator};
  Numbers q(batch.q.begin(), batch.q.begin() + 2 * n_q),
      v(batch.v.begin(), batch.v.begin() + 2 * n_v);
  RolloutReport report;
  std::vector<int> told;
  const auto go_on = [&](int taken) {
    told.push_back(taken);
    return true;
  };
  CHECK(rollouts(one, 1, {3000, 5000}, {q.data(), v.data()},
                 {{batch.tau.data(), nullptr, nullptr}, true}, &report, go_on) == 3000);
  CHECK(told == std::vector<int>{1000, 2000});
  CHECK(std::equal(q_end.begin(), q_end.end(), q.begin() + n_q));
  CHECK(std::equal(v_end.begin(), v_end.end(), v.begin() + n_v));
}

TEST_CASE("threads meet, and end when the caller says so, with what was taken told") {
  Batch batch(4, 1000, true);
  // Two threads have two rollouts each, and synchronize every 500 steps.
  CHECK(batch.run(2, 0) == std::pair(500, 500));
  CHECK(batch.run(2, 1) == std::pair(1000, 1000));
  CHECK(batch.run(1, 2) == std::pair(750, 750));
}

TEST_CASE(
    "the Jacobians of a rollout are those of its steps, to the bit, on any number of threads and "
    "for whichever states are kept") {
  for (const int substeps : {1, 2}) {
    constexpr int steps = 30;
    Batch batch(1, steps, true, substeps);
    batch.run(1);
    const Model& m = batch.w.world->model();
    const ControlView controls{batch.tau.data(), nullptr, nullptr};
    std::vector<StepJacobians> expected(steps);
    Simulator alone(*batch.w.world, StepOptions(), substeps);
    const ParameterSelection selection = all_parameters(*batch.w.world);
    const std::size_t block_of_parameters = 2 * n_v * at(selection.size());
    Numbers expected_parameters(steps * block_of_parameters);
    std::array<OneSided, steps> of_each{};
    for (int i = 0; i < steps; ++i) {
      JacobianBlocks blocks = expected[i].resize(m);
      blocks.parameters = &expected_parameters[at(i) * block_of_parameters];
      blocks.selection = &selection;
      const ControlView control = row(controls, ControlLayout::of(m), i);
      RolloutReport report;
      alone.take({&batch.q[i * n_q], &batch.v[i * n_v]}, control, report);
      of_each[i] = alone.jacobians(control, blocks);
    }
    for (const auto& [interval, threads] : {std::pair(1, 1), std::pair(1, 3), std::pair(7, 2)}) {
      const KeptStates kept{steps, interval};
      Numbers q, v;
      for (int row = 0; row < kept.rows(); ++row) {
        const std::ptrdiff_t step = kept.before(row);
        q.insert(q.end(), batch.q.begin() + step * n_q, batch.q.begin() + (step + 1) * n_q);
        v.insert(v.end(), batch.v.begin() + step * n_v, batch.v.begin() + (step + 1) * n_v);
      }
      std::vector<Simulator> simulators;
      for (int i = 0; i < threads; ++i)
        simulators.emplace_back(*batch.w.world, StepOptions(), substeps);
      std::vector<Simulator*> all;
      for (Simulator& x : simulators) all.push_back(&x);
      constexpr std::size_t block = 2 * n_v * n_v;
      Numbers by_q(steps * block), by_tau(steps * block),
          by_parameters(steps * block_of_parameters);
      std::array<OneSided, steps> one_sided{};
      JacobianBlocks out;
      out.q = by_q.data();
      out.tau = by_tau.data();
      out.parameters = by_parameters.data();
      out.selection = &selection;
      CHECK(rollouts_jacobians(all, 1, kept, {q.data(), v.data()}, {controls, true}, out,
                               one_sided.data(), [](int) { return true; }) == steps);
      CHECK(one_sided == of_each);
      CHECK(by_parameters == expected_parameters);
      for (int i = 0; i < steps; ++i) {
        CHECK(std::equal(expected[i].q.begin(), expected[i].q.end(), &by_q[at(i) * block]));
        CHECK(std::equal(expected[i].tau.begin(), expected[i].tau.end(), &by_tau[at(i) * block]));
      }
    }
  }
}

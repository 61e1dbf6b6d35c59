// A step of substeps equals its substeps, and so do its gradient, its Jacobians and its report:
// number by number, bitwise.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "rollout/simulator.h"
#include "step_worlds.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

StepOptions coarse() {
  StepOptions options;
  options.dt = 0.01;
  options.margin = 0.02;
  options.limit_margin = 0.05;
  options.speed_limits = true;
  return options;
}

// A robot with joints of one and of several positions, and with all parameters that have a
// gradient: motors with and without limits, springs, dampers, dry friction, limits within reach,
// and a floor with all kinds of friction, compliant under one of the shapes.
StepWorld world_of_everything() {
  Random random(5);
  ModelBuilder builder =
      random_tree("robot", random, {"revolute", "prismatic", "planar", "revolute"}, 5, false, true);
  for (int i = 0; i <= 5; ++i)
    builder.add_collider(message("l", i),
                         i % 2 ? Shape::sphere(0.15) : Shape::box({0.1, 0.15, 0.1}), random.pose(),
                         "c");
  Model model = builder.build({});
  std::vector<Motor> motors(at(model.n_v));
  int n = 0;
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    if (joint.n_q != 1) continue;
    model.limits.q_lower[joint.q_index] = -0.5;
    model.limits.q_upper[joint.q_index] = 0.5;
    // Otherwise no target of a motor has an effect.
    if (n < 2) model.limits.velocity[joint.v_index] = 0.8;
    if (n % 3) motors[joint.v_index] = {30, 2, n % 3 == 1 ? 1.0 : INFINITY};
    ++n;
  }
  const StepWorld hard(std::move(model), {0.6, 0.3, 0.02, 0.01}, true, motors);
  WorldParts parts(*hard.world, coarse().dt);
  parts.materials[1] = {0.6, 0, 0.02, 0.01, 1e-3, 0.02};
  return StepWorld(std::move(parts));
}

// A state near the floor and the control of a step.
struct Drive {
  Numbers q, v, tau, q_target, v_target;

  Drive(const Model& m, Random& random)
      : q(random.configuration(m)),
        v(random.numbers(m.n_v)),
        tau(random.numbers(m.n_v, 5)),
        q_target(random.configuration(m)),
        v_target(random.numbers(m.n_v)) {
    q[2] = random.uniform(0, 0.6);
    // Some are beyond their limits.
    for (int i = 7; i < m.n_q; ++i) q[i] = random.uniform(-0.55, 0.55);
  }
  ControlView control() const { return {tau.data(), q_target.data(), v_target.data()}; }
};

// Check that every kind of parameter of the world has a nonzero gradient somewhere. Otherwise a
// test of sums would be vacuous.
void check_everything_is_there(const std::vector<StepGradient>& all) {
  for (int kind = 0; kind < n_parameter_kinds; ++kind) {
    if (all[0].parameters.layout().owners(ParameterId(kind)) == 0 ||
        parameter_kinds[kind].owner == ParameterOwner::vertex)
      continue;
    INFO(std::string(parameter_kinds[kind].name));
    CHECK(std::any_of(all.begin(), all.end(), [&](const StepGradient& g) {
      for (int i = 0; i < g.parameters.layout().owners(ParameterId(kind)); ++i)
        for (int k = 0; k < parameter_kinds[kind].width(); ++k)
          if (g.parameters.of(ParameterId(kind), i)[k] != 0) return true;
      return false;
    }));
  }
}

Numbers plus(const Numbers& x, const Numbers& y) {
  Numbers sum(x);
  for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += y[k];
  return sum;
}

}  // namespace

TEST_CASE(
    "substeps are steps of their part of dt, and their gradient and Jacobians the products of "
    "those") {
  const StepWorld w = world_of_everything();
  const Model& m = w.model;
  REQUIRE(m.n_q != m.n_v);
  const int parts = 4;
  StepOptions whole_step = coarse();
  whole_step.dt *= parts;
  Simulator simulator(*w.world, whole_step, parts);
  Stepper stepper(*w.world, coarse());
  std::vector<StepGradient> found;
  for (unsigned seed = 0; seed < 16; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Drive drive(m, random);
    const ControlView control = drive.control();  // constant over the step
    Numbers q_next(at(m.n_q)), v_next(at(m.n_v));
    RolloutReport report, expected;
    simulator.step({drive.q.data(), drive.v.data()}, control, {q_next.data(), v_next.data()},
                   report);
    std::vector<Numbers> q{drive.q}, v{drive.v};
    for (int i = 0; i < parts; ++i) {
      Numbers q_i(q.back()), v_i(v.back());
      expected.take(stepper.step({q_i.data(), v_i.data()}, control, {q_i.data(), v_i.data()}), 0);
      q.push_back(q_i);
      v.push_back(v_i);
    }
    CHECK(q_next == q.back());
    CHECK(v_next == v.back());
    CHECK(report.status == expected.status);
    CHECK(report.residual == expected.residual);
    CHECK(report.class_changes == expected.class_changes);

    const Numbers q_bar = random.numbers(m.n_v), v_bar = random.numbers(m.n_v);
    StepGradient whole, one;
    simulator.take({drive.q.data(), drive.v.data()}, control, report);
    simulator.vjp(control, {q_bar.data(), v_bar.data()}, whole);
    one.set_zero(*w.world);
    const auto drives_of = [](const StepGradient& g) {
      Numbers x(g.tau);
      x.insert(x.end(), g.q_target.begin(), g.q_target.end());
      x.insert(x.end(), g.v_target.begin(), g.v_target.end());
      return x;
    };
    Numbers parameters_sum(one.parameters.numbers().size(), 0.0),
        drives_sum(drives_of(one).size(), 0.0), of_q(q_bar), of_v(v_bar);
    OneSided one_sided = OneSided::no;
    for (int i = parts - 1; i >= 0; --i) {
      const Numbers &q_i = q[i], &v_i = v[i];
      stepper.step({q_i.data(), v_i.data()}, control, {q_next.data(), v_next.data()});
      stepper.vjp({q_i.data(), v_i.data()}, control, {of_q.data(), of_v.data()}, one);
      parameters_sum = plus(parameters_sum, one.parameters.numbers());
      drives_sum = plus(drives_sum, drives_of(one));
      of_q = one.q;
      of_v = one.v;
      one_sided |= one.one_sided;
    }
    parameters_sum.back() /= parts;  // dt is that of the whole step
    CHECK(of_q == whole.q);
    CHECK(of_v == whole.v);
    CHECK(drives_sum == drives_of(whole));
    CHECK(parameters_sum == whole.parameters.numbers());
    CHECK(one_sided == whole.one_sided);
    found.push_back(whole);
    if (seed > 1) continue;

    // Rows of the Jacobians are gradients of single numbers.
    StepJacobians J;
    JacobianBlocks blocks = J.resize(m);
    const ParameterSelection selection = all_parameters(*w.world);
    Numbers by_parameters(2 * at(m.n_v) * at(selection.size()));
    blocks.parameters = by_parameters.data();
    blocks.selection = &selection;
    CHECK(simulator.jacobians(control, blocks) == whole.one_sided);
    for (int i = 0; i < 2 * m.n_v; i += 5) {
      CAPTURE(i);
      Numbers unit(at(m.n_v), 0.0), zero(unit);
      unit[i % m.n_v] = 1;
      simulator.vjp(control,
                    {i < m.n_v ? unit.data() : zero.data(), i < m.n_v ? zero.data() : unit.data()},
                    one);
      // Relative to the largest entry.
      const auto from_row = [&](const Numbers& matrix, const Numbers& x) {
        double off = 0, size = 0;
        for (const double y : matrix) size = std::max(size, std::abs(y));
        for (std::size_t c = 0; c < x.size(); ++c)
          off = std::max(off, std::abs(x[c] - matrix[at(i) * x.size() + c]));
        return off / size;
      };
      CHECK(from_row(J.q, one.q) < 1e-12);
      CHECK(from_row(J.v, one.v) < 1e-12);
      CHECK(from_row(J.tau, one.tau) < 1e-12);
      CHECK(from_row(J.q_target, one.q_target) < 1e-12);
      CHECK(from_row(J.v_target, one.v_target) < 1e-12);
      CHECK(from_row(by_parameters, numbers_of(selection, one)) < 1e-12);
    }
  }
  check_everything_is_there(found);
}

TEST_CASE(
    "a report has the worst of its steps, the sum of their work and the first that was not "
    "solved") {
  RolloutReport report;
  StepReport step;
  step.status = StepStatus::basic;
  step.residual = 1e-13;
  step.class_changes = 2;
  step.pivots = 3;
  step.contacts = 4;
  step.rows = 12;
  step.islands = 2;
  report.take(step, 0);
  CHECK(report.first_unsolved == -1);
  step.status = StepStatus::relaxed;
  step.residual = 1e-9;
  step.contacts = 1;
  step.rows = 3;
  step.islands = 1;
  report.take(step, 5);
  step.status = StepStatus::inconsistent;
  step.residual = 1e-10;
  report.take(step, 7);
  step.status = StepStatus::rough;
  report.take(step, 8);
  CHECK(report.status == StepStatus::inconsistent);
  CHECK(report.residual == 1e-9);
  CHECK(report.first_unsolved == 5);
  CHECK(report.class_changes == 8);
  CHECK(report.pivots == 12);
  CHECK(report.contacts == 1);  // of the last step
  CHECK(report.rows == 3);
  CHECK(report.islands == 1);
}

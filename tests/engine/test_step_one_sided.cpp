// A one-sided derivative of a step is flagged by its gradient, and other derivatives are not.
#include <doctest/doctest.h>

#include "rollout/simulator.h"
#include "step_worlds.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

// Causes for which the gradient of a step is one-sided, for any loss.
OneSided causes_of(const StepWorld& w, const StepOptions& options, const Numbers& q,
                   const Numbers& v) {
  Stepper stepper(*w.world, options);
  Numbers q_next(q.size()), v_next(v.size());
  const StepReport report = stepper.step({q.data(), v.data()}, {}, {q_next.data(), v_next.data()});
  CHECK(report.contacts > 0);
  StepGradient gradient;
  const Numbers bar(v.size(), 1.0);
  stepper.vjp({q.data(), v.data()}, {}, {bar.data(), bar.data()}, gradient);
  return gradient.one_sided;
}

}  // namespace

TEST_CASE("features of a contact that change right there make a gradient one-sided") {
  const StepWorld w(free_bodies({free_box(2, {0.2, 0.2, 0.1}), free_box(1, {0.1, 0.1, 0.1})}),
                    {0.5});
  for (const SolverId solver : SolverId::all()) {
    StepOptions options;
    options.solver = solver;
    const auto at_x = [](double x) {
      return Numbers{0, 0, 0.1, 0, 0, 0, 1, x, 0.02, 0.3, 0, 0, std::sin(0.15), std::cos(0.15)};
    };
    CHECK(causes_of(w, options, at_x(0.05), Numbers(12, 0.0)) == OneSided::no);
    // One corner of the upper box, rotated by 0.3 rad, is exactly over an edge of the lower box.
    // Beyond the edge two crossing points of edges replace the corner.
    CHECK(causes_of(w, options, at_x(0.2 - 0.1 * (std::cos(0.3) + std::sin(0.3))),
                    Numbers(12, 0.0)) == OneSided::feature);
  }
}

TEST_CASE(
    "a table at rest on its four feet is not one-sided, wherever these are colliders of one body") {
  ModelBuilder builder("table", false);
  builder.add_link("base", Inertia());
  builder.add_link("table", box_inertia(5, {0.4, 0.3, 0.05}));
  JointSpec joint;
  joint.name = "free";
  joint.kind = "floating";
  joint.parent = "base";
  joint.child = "table";
  builder.add_joint(joint);
  for (const double x : {-0.4, 0.4})
    for (const double y : {-0.3, 0.3})
      builder.add_collider("table", Shape::sphere(0.05), SE3d(Mat3d::identity(), {x, y, -0.5}),
                           message("foot", x, y));
  const StepWorld w(builder.build({}), {0.5});
  for (const SolverId solver : {SolverId("lcp"), SolverId("convex")}) {
    StepOptions options;
    options.solver = solver;
    CHECK(causes_of(w, options, {0, 0, 0.55, 0, 0, 0, 1}, Numbers(6, 0.0)) == OneSided::no);
    CHECK(causes_of(w, options, {0, 0, 0.549, 0, 0, 0, 1}, {0, 0, -0.3, 0, 0, 0}) == OneSided::no);
    Stepper stepper(*w.world, options);
    Numbers q{0, 0, 0.55, 0, 0, 0, 1}, v(6, 0.0);
    const StepReport report = stepper.step({q.data(), v.data()}, {}, {q.data(), v.data()});
    CHECK(report.manifolds == 4);
    CHECK(stepper.islands()[0].problem.channels == 6);  // of all feet together
    for (const double f : stepper.islands()[0].solution.f)
      CHECK((f == doctest::Approx(5 * 9.81 * options.dt / 4) || std::abs(f) < 1e-12));
  }
}

TEST_CASE("sweeps that are at a bound by rounding alone make a gradient one-sided") {
  Model model = free_bodies({free_ball(1, 0.1)});
  model.gravity = {};
  const StepWorld w(std::move(model), {0.5});
  StepOptions options;
  options.solver = SolverId("pgs");
  const Numbers touching{0, 0, 0.1, 0, 0, 0, 1};
  // Pushed down it stays in contact, pulled up it separates.
  CHECK(causes_of(w, options, touching, Numbers(6, 0.0)) == OneSided::tie);
  CHECK(causes_of(w, options, touching, {0, 0, -1e-3, 0, 0, 0}) == OneSided::no);
  CHECK(causes_of(w, options, touching, {0, 0, 1e-3, 0, 0, 0}) == OneSided::no);
}

TEST_CASE("a step is one-sided where any of its substeps is") {
  // As above, without friction: the upper box moves at its speed, and in one substep its corner
  // passes the edge.
  const StepWorld w(free_bodies({free_box(2, {0.2, 0.2, 0.1}), free_box(1, {0.1, 0.1, 0.1})}), {0});
  const double speed = 0.5, dt = 1e-3, edge = 0.2 - 0.1 * (std::cos(0.3) + std::sin(0.3));
  StepOptions options;
  options.dt = 3 * dt;
  Simulator simulator(*w.world, options, 3);
  const Numbers bar(12, 1.0),
      v{0, 0, 0, 0, 0, 0, speed * std::cos(0.3), -speed * std::sin(0.3), 0, 0, 0, 0};
  for (const int before : {0, 1, 2, 3}) {  // number of substeps before the edge
    CAPTURE(before);
    const Numbers q{0,
                    0,
                    0.1,
                    0,
                    0,
                    0,
                    1,
                    edge - before * speed * dt,
                    0.02,
                    0.3,
                    0,
                    0,
                    std::sin(0.15),
                    std::cos(0.15)};
    StepGradient gradient;
    RolloutReport report;
    simulator.take({q.data(), v.data()}, {}, report);
    simulator.vjp({}, {bar.data(), bar.data()}, gradient);
    CHECK(gradient.one_sided == one_sided_if(before < 3, OneSided::feature));
    StepJacobians jacobians;
    CHECK(simulator.jacobians({}, jacobians.resize(w.world->model())) == gradient.one_sided);
  }
}

TEST_CASE("a contact along which nothing moves is in no Jacobian, and nothing of it is looked at") {
  // A ball that can only spin about the axis through its contact. The sanitizers detect access to
  // missing data.
  ModelBuilder builder("top", false);
  builder.add_link("base", Inertia());
  const FreeBody ball = free_ball(1, 0.1);
  builder.add_link("ball", ball.inertia);
  JointSpec joint;
  joint.name = "spin";
  joint.kind = "continuous";
  joint.parent = "base";
  joint.child = "ball";
  joint.axis = {0, 0, 1};
  joint.X_PJ.p = {0, 0, 0.0999};
  builder.add_joint(joint);
  builder.add_collider("ball", ball.shape, SE3d(), "shape");
  const StepWorld w(builder.build({}), {0.5});
  for (const SolverId solver : SolverId::all()) {
    StepOptions options;
    options.solver = solver;
    Stepper stepper(*w.world, options);
    const Numbers q{0.3}, v{1.0};
    Numbers q_next(1), v_next(1);
    CHECK(stepper.step({q.data(), v.data()}, {}, {q_next.data(), v_next.data()}).contacts == 1);
    StepJacobians jacobians;
    CHECK(stepper.jacobians({q.data(), v.data()}, {}, jacobians.resize(w.world->model())) ==
          OneSided::no);
    CHECK(jacobians.q == Numbers{1, 0});
    CHECK(jacobians.v == Numbers{options.dt, 1});
  }
}

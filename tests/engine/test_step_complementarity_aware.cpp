// Gradients that look beyond the active set of a step: contacts that stay together and that
// separate.
#include <doctest/doctest.h>

#include "step_worlds.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr double dt = 2e-3, ball_mass = 0.7, platform_mass = 1.3, radius = 0.1, half_height = 0.05,
                 high = 0.5;

// A platform 0.5 m above the floor that a force (v[0]) can lift from the lower limit of its joint,
// and free bodies: q has seven entries for each of these, v six. Only the platform's mass is an
// argument.
Model lift(double mass, const std::vector<FreeBody>& free) {
  ModelBuilder builder("lift", false);
  builder.add_link("base", Inertia());
  builder.add_link("platform", box_inertia(mass, {0.3, 0.3, half_height}));
  JointSpec slide;
  slide.name = "slide";
  slide.kind = "prismatic";
  slide.parent = "base";
  slide.child = "platform";
  slide.X_PJ.p = {0, 0, high - half_height};
  slide.lower = {0};
  slide.upper = {2};
  builder.add_joint(slide);
  builder.add_collider("platform", Shape::box({0.3, 0.3, half_height}), SE3d(), "plate");
  for (std::size_t i = 0; i < free.size(); ++i) {
    JointSpec joint;
    joint.name = message("free", i);
    joint.kind = "floating";
    joint.parent = "base";
    joint.child = message("body", i);
    builder.add_link(joint.child, free[i].inertia);
    builder.add_joint(joint);
    builder.add_collider(joint.child, free[i].shape, SE3d(), "shape");
  }
  return builder.build({});
}

const FreeBody ball = free_ball(ball_mass, radius);
Numbers upright(double z) { return {0.02, -0.01, z, 0, 0, 0, 1}; }
Numbers ball_on_platform(double gap = 0) {
  Numbers q{0};
  for (const double x : upright(high + radius + gap)) q.push_back(x);
  return q;
}

// Steps under a constant force on the platform, and the gradient of a loss of the last velocities
// with respect to the force in each step.
struct Run {
  Numbers by_force;
  OneSided one_sided = OneSided::no;  // over all steps
  StepGradient first;                 // of the first step
};
Run run(const StepWorld& w, const StepOptions& options, Numbers q, int steps, const Numbers& q_bar,
        double force) {
  const std::size_t n = at(w.model.n_v);
  Stepper stepper(*w.world, options);
  Numbers tau(n, 0.0);
  tau[0] = force;
  ControlView control;
  control.tau = tau.data();
  std::vector<Numbers> qs{std::move(q)}, vs{Numbers(n, 0.0)};
  for (int i = 0; i < steps; ++i) {
    qs.push_back(qs.back());
    vs.push_back(vs.back());
    REQUIRE(
        stepper.step({qs[i].data(), vs[i].data()}, control, {qs.back().data(), vs.back().data()})
            .status == StepStatus::solved);
  }
  Run out;
  out.by_force.assign(steps, 0.0);
  out.first.q = q_bar;
  out.first.v.assign(n, 0.0);
  for (int i = steps; i-- > 0;) {
    Numbers q_next(qs[i].size()), v_next(n), q_to = out.first.q, v_to = out.first.v;
    stepper.step({qs[i].data(), vs[i].data()}, control, {q_next.data(), v_next.data()});
    stepper.vjp({qs[i].data(), vs[i].data()}, control, {q_to.data(), v_to.data()}, out.first);
    out.by_force[i] = out.first.tau[0];
    out.one_sided |= out.first.one_sided;
  }
  return out;
}

// Gradient of minus the height of free body `i`, a loss that is less if the body is higher.
Numbers lower(const StepWorld& w, int i, double sign = -1) {
  Numbers bar(at(w.model.n_v), 0.0);
  bar[1 + 6 * i + 2] = sign;
  return bar;
}

}  // namespace

TEST_CASE(
    "a ball at rest on a platform at rest is lifted as one body of both masses, by the rule that "
    "keeps them together") {
  StepOptions options;
  options.dt = dt;
  SUBCASE("bounces within a step") {}
  SUBCASE("bounces in time") { options.bounce = BounceId("time_of_impact"); }
  const int steps = 40;
  const double all = ball_mass + platform_mass;
  for (const double friction : {0.0, 0.5}) {
    const StepWorld w(lift(platform_mass, {ball}), {friction});
    const StepWorld alone(lift(all, {}), {friction});
    const auto gradient = [&](ComplementarityAwareId rule, double sign, double force) {
      options.complementarity_aware = rule;
      return run(w, options, ball_on_platform(), steps, lower(w, 0, sign), force);
    };
    const double weak = 0.5 * all * 9.81;
    for (const double force : {0.0, weak}) {
      // None of the force reaches the ball: the limit carries it. Rows considered one by one also
      // separate from the ball.
      for (const ComplementarityAwareId rule :
           {ComplementarityAwareId("none"), ComplementarityAwareId("each")})
        for (const double x : gradient(rule, -1, force).by_force) CHECK(std::abs(x) < 1e-18);
      // Together: as in free flight, and as one body with both masses on the same joint in the air.
      const Run together = gradient(ComplementarityAwareId("together"), -1, force);
      CHECK(together.one_sided == OneSided::other_classes);
      options.complementarity_aware = ComplementarityAwareId("none");
      const Run flies = run(alone, options, {1}, steps, {-1}, force);
      for (int i = 0; i < steps; ++i) {
        CHECK(together.by_force[i] == doctest::Approx(-dt * dt / all * (steps - i)).epsilon(1e-12));
        CHECK(together.by_force[i] == doctest::Approx(flies.by_force[i]).epsilon(1e-12));
      }
      // A loss that pulls the body down, where it cannot move, has the plain gradient.
      const Run pressed = gradient(ComplementarityAwareId("together"), 1, force);
      CHECK(pressed.one_sided == OneSided::no);
      for (const double x : pressed.by_force) CHECK(std::abs(x) < 1e-18);
    }
  }
}

TEST_CASE(
    "a platform lifts what rests elsewhere, a little above it, by the rule that keeps them "
    "together") {
  // Figure 4 of the paper: the contact separates. Ball and platform each rest on the limit of their
  // own joint.
  ModelBuilder builder("pair", false);
  builder.add_link("base", Inertia());
  const double gap = 5e-4;  // within the margin, so that there is a row
  const FreeBody plate = free_box(platform_mass, {0.3, 0.3, half_height});
  const auto add = [&](const char* name, const FreeBody& body, double z) {
    JointSpec slide;
    slide.name = message(name, "_slides");
    slide.kind = "prismatic";
    slide.parent = "base";
    slide.child = name;
    slide.X_PJ.p = {0, 0, z};
    slide.lower = {0};
    slide.upper = {2};
    builder.add_link(name, body.inertia);
    builder.add_joint(slide);
    builder.add_collider(name, body.shape, SE3d(), "shape");
  };
  add("platform", plate, high - half_height);
  add("ball", ball, high + radius + gap);
  const StepWorld w(builder.build({}), {0.5});
  StepOptions options;
  options.dt = dt;
  for (const ComplementarityAwareId rule :
       {ComplementarityAwareId("none"), ComplementarityAwareId("together")}) {
    options.complementarity_aware = rule;
    const Run found = run(w, options, {0, 0}, 1, {0, -1}, 0);
    CHECK(found.one_sided ==
          one_sided_if(rule == ComplementarityAwareId("together"), OneSided::other_classes));
    if (rule == ComplementarityAwareId("none"))
      CHECK(found.by_force[0] == 0);
    else
      CHECK(found.by_force[0] ==
            doctest::Approx(-dt * dt / (ball_mass + platform_mass)).epsilon(1e-12));
  }
}

TEST_CASE("what flies above a platform keeps its own gradient, which is the larger one") {
  const StepWorld w(lift(platform_mass, {ball}), {0.5});
  StepOptions options;
  options.dt = dt;
  options.complementarity_aware = ComplementarityAwareId("together");
  const Run found = run(w, options, ball_on_platform(5e-4), 1, lower(w, 0), 0);
  CHECK(found.one_sided == OneSided::no);
  CHECK(found.by_force[0] == 0);
  CHECK(found.first.v[3] == doctest::Approx(-dt).epsilon(1e-12));  // by the ball's own velocity
}

TEST_CASE("a tower of boxes is lifted as one body, whatever shares the load") {
  StepOptions options;
  options.dt = dt;
  options.complementarity_aware = ComplementarityAwareId("together");
  const FreeBody box = free_box(0.4, {0.1, 0.15, 0.1});
  const StepWorld w(lift(platform_mass, {box, box}), {0.5});
  Numbers q{0};
  for (const double z : {0.1, 0.3})
    for (const double x : upright(high + z)) q.push_back(x);
  const int steps = 10;
  const double all = platform_mass + 2 * 0.4;
  const Run top = run(w, options, q, steps, lower(w, 1), 3);
  // Four points share the load at each of the two contacts: rounding of their impulses, over all
  // steps.
  for (int i = 0; i < steps; ++i)
    CHECK(top.by_force[i] == doctest::Approx(-dt * dt / all * (steps - i)).epsilon(1e-11));
}

TEST_CASE("where nothing rests on what moves both rules are one, to the bit") {
  const StepWorld w(free_bodies({ball}), {0.5});
  const Numbers q = upright(radius), still(6, 0.0), q_bar{0.3, 0.1, -1, 0.2, -0.4, 0.5},
                v_bar{0.1, -0.2, -0.3, 0, 0.7, 0};
  StepGradient found[2];
  for (const ComplementarityAwareId rule :
       {ComplementarityAwareId("each"), ComplementarityAwareId("together")}) {
    StepOptions options;
    options.complementarity_aware = rule;
    Stepper stepper(*w.world, options);
    Numbers q_next(7), v_next(6);
    stepper.step({q.data(), still.data()}, {}, {q_next.data(), v_next.data()});
    StepGradient& g = found[rule == ComplementarityAwareId("together")];
    stepper.vjp({q.data(), still.data()}, {}, {q_bar.data(), v_bar.data()}, g);
    CHECK((static_cast<int>(g.one_sided) & static_cast<int>(OneSided::other_classes)) != 0);
  }
  CHECK(found[0].q == found[1].q);
  CHECK(found[0].v == found[1].v);
  CHECK(found[0].tau == found[1].tau);
  CHECK(found[0].parameters.numbers() == found[1].parameters.numbers());
}

// Steps with a known outcome in closed form, and checks that a step is a function of its arguments
// alone.
#include <doctest/doctest.h>

#include "count_allocations.h"
#include "step/constraints/constraint_kinds.h"
#include "step/contact_axes.h"
#include "step_worlds.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

constexpr double g = 9.80665;

Numbers rest(double z) { return {0, 0, z, 0, 0, 0, 1}; }

struct Run {
  Stepper stepper;
  Numbers q, v;
  StepReport last;

  Run(const StepWorld& w, const StepOptions& options, Numbers q_, Numbers v_)
      : stepper(*w.world, options), q(std::move(q_)), v(std::move(v_)) {}
  void steps(int n, const ControlView& control = {}) {
    for (int i = 0; i < n; ++i)
      last = stepper.step({q.data(), v.data()}, control, {q.data(), v.data()});
  }
};

}  // namespace

TEST_CASE("axes of friction: right-handed, smooth, and with the transposed rate they say") {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const Vec3d n = unit_or(random.vec3(), {0, 0, 1});
    if (dot(n, Vec3d(1, 1, 0)) < -1.2) continue;  // near the normal where axes rotate fast
    const ContactAxes a = contact_axes(n);
    CHECK(norm(cross(a.t[0], a.t[1]) - n) < 1e-14);
    CHECK(std::abs(dot(a.t[0], a.t[1])) < 1e-14);
    CHECK(std::abs(norm(a.t[0]) - 1) < 1e-14);
    const Vec3d dn = cross(n, random.vec3());
    const double h = 1e-5;
    const auto turned = [&](double s) { return contact_axes(unit_or(n + s * dn, n)); };
    const ContactAxes bar{{random.vec3(), random.vec3()}}, ahead = turned(h), behind = turned(-h);
    double difference = 0;
    for (int k = 0; k < 2; ++k) difference += dot(bar.t[k], (0.5 / h) * (ahead.t[k] - behind.t[k]));
    // h^2 times third derivatives below 1e3.
    CHECK(std::abs(dot(contact_axes_pulled_back(n, bar), dn) - difference) < 1e-7);
  }
  CHECK(norm(contact_axes({0, 0, 1}).t[0] - Vec3d(1, 0, 0)) < 1e-15);
  CHECK(norm(contact_axes({0, 0, -1}).t[0] - Vec3d(0, -1, 0)) < 1e-15);
  for (const double sign : {1.0, -1.0}) {  // also where the axes are singular
    const Vec3d n = sign * Vec3d(std::sqrt(0.5), std::sqrt(0.5), 0);
    CHECK(std::isfinite(norm(contact_axes(n).t[0])));
  }
}

TEST_CASE("a box at rest stays at rest, carried by its weight") {
  const StepWorld w(free_bodies({free_box(2, {0.2, 0.3, 0.1})}), {0.5});
  for (const SolverId solver : SolverId::all()) {
    StepOptions options;
    options.solver = solver;
    options.solver_options.sweeps = 200;
    Run run(w, options, rest(0.1), Numbers(6, 0.0));
    run.steps(1000);
    CHECK(run.last.contacts == 4);
    for (const double x : run.v) CHECK(std::abs(x) < 1e-12);
    for (int k = 0; k < 7; ++k) CHECK(std::abs(run.q[k] - rest(0.1)[k]) < 1e-12);
    double sum = 0;
    const StepIsland& island = run.stepper.islands()[0];
    for (int i = 0; i < island.problem.size(); ++i)
      if (is_of<Contact>(island.rows[i], Contact::normal)) sum += island.solution.f[i];
    CHECK(sum == doctest::Approx(2 * g * options.dt).epsilon(1e-12));
  }
}

TEST_CASE("a block on an incline slides and sticks as Coulomb says") {
  // Gravity is tilted instead of the floor, along the first axis of friction, where the pyramid is
  // exact.
  const double mu = 0.4;
  for (const double angle : {0.2, std::atan(mu) - 1e-3, std::atan(mu) + 1e-3, 0.8}) {
    Model model = free_bodies({free_box(3, {0.2, 0.2, 0.05})});
    model.gravity = {g * std::sin(angle), 0, -g * std::cos(angle)};
    const StepWorld w(std::move(model), {mu});
    StepOptions options;
    Run run(w, options, rest(0.05), Numbers(6, 0.0));
    run.steps(500);
    const double a = std::max(0.0, g * (std::sin(angle) - mu * std::cos(angle)));
    CHECK(std::abs(run.v[0] - a * 0.5) < 1e-11);
    CHECK(std::abs(run.q[0] - a * 0.5 * 1e-3 * 501 / 2) < 1e-11);  // v_k = a k dt, summed
    for (int k = 1; k < 6; ++k) CHECK(std::abs(run.v[k]) < 1e-11);
  }
}

TEST_CASE("a disc of friction is the same in every direction") {
  const double mu = 0.4;
  for (const double heading : {0.0, 0.6, 2.2, -1.3}) {
    for (const double angle : {std::atan(mu) - 1e-3, std::atan(mu) + 1e-3, 0.8}) {
      Model model = free_bodies({free_box(3, {0.2, 0.2, 0.05})});
      model.gravity = {g * std::sin(angle) * std::cos(heading),
                       g * std::sin(angle) * std::sin(heading), -g * std::cos(angle)};
      const StepWorld w(std::move(model), {mu});
      StepOptions options;
      options.solver = SolverId("convex");
      Run run(w, options, rest(0.05), Numbers(6, 0.0));
      run.steps(500);
      CHECK(run.last.residual <= 1e-12);
      const double a = std::max(0.0, g * (std::sin(angle) - mu * std::cos(angle)));
      CHECK(std::abs(run.v[0] - a * 0.5 * std::cos(heading)) < 1e-11);
      CHECK(std::abs(run.v[1] - a * 0.5 * std::sin(heading)) < 1e-11);
      for (int k = 2; k < 6; ++k) CHECK(std::abs(run.v[k]) < 1e-11);
      // The square's corners are sqrt(2) away: along a diagonal it sticks where Coulomb's law
      // slips.
      if (heading != 0.6 || angle > 0.5) continue;
      options.solver = SolverId("lcp");
      Run square(w, options, rest(0.05), Numbers(6, 0.0));
      square.steps(500);
      CHECK(std::hypot(square.v[0], square.v[1]) < 1e-11);
    }
  }
}

TEST_CASE("a block comes to rest after v^2 / (2 mu g) and stays there") {
  const StepWorld w(free_bodies({free_box(1, {0.2, 0.2, 0.05})}), {0.3});
  StepOptions options;
  Run run(w, options, rest(0.05), {1.0, 0, 0, 0, 0, 0});
  run.steps(2000);
  CHECK(std::abs(run.v[0]) < 1e-13);
  // Semi-implicit: up to the displacement of one step more or less.
  CHECK(std::abs(run.q[0] - 1 / (2 * 0.3 * g)) < 1e-3);
}

TEST_CASE("a ball bounces with its restitution") {
  for (const double e : {0.0, 0.5, 1.0}) {
    const StepWorld w(free_bodies({free_ball(1, 0.1)}), {0.5, e});
    StepOptions options;
    options.erp = 0;
    options.bounce = BounceId("step");
    Run run(w, options, rest(0.1), {0, 0, -2, 0, 0, 0});
    run.steps(1);
    CHECK(std::abs(run.v[2] - 2 * e) < 1e-13);
    // By its time of impact, which is immediate here. Velocities are those in the middle of steps,
    // with half a step's weight before and after.
    options.bounce = BounceId("automatic");
    Run in_time(w, options, rest(0.1), {0, 0, -2, 0, 0, 0});
    in_time.steps(1);
    const double half = 0.5 * options.dt * g;
    CHECK(std::abs(in_time.v[2] - (e > 0 ? e * (2 + half) - half : 0)) < 1e-13);
  }
}

TEST_CASE("what lands without bouncing is carried from then on") {
  const StepWorld w(free_bodies({free_box(2, {0.2, 0.3, 0.1})}), {0.5, 0});
  for (const BounceId bounce : {BounceId("step"), BounceId("time_of_impact")}) {
    StepOptions options;
    options.bounce = bounce;
    Run run(w, options, rest(0.15), Numbers(6, 0.0));
    int landed = -1;
    double z = 1;
    for (int i = 0; i < 400; ++i) {
      run.steps(1);
      double push = 0;
      if (run.last.islands > 0) {
        const StepIsland& island = run.stepper.islands()[0];
        for (std::size_t r = 0; r < island.rows.size(); ++r)
          if (is_of<Contact>(island.rows[r], Contact::normal)) push += island.solution.f[r];
      }
      if (landed < 0 && push > 0) landed = i;
      CHECK((landed < 0 || push > 0));
      CHECK(run.q[2] <= z + 1e-12);
      z = run.q[2];
    }
    CHECK(std::abs(landed - 100) < 3);  // sqrt(2 h / g) = 0.101 s
    CHECK(std::abs(run.q[2] - 0.1) < 1e-10);
  }
}

TEST_CASE("a rolling ball keeps rolling, and rolling friction stops it") {
  const double r = 0.1, speed = 1;
  for (const double rolling : {0.0, 0.01}) {
    const StepWorld w(free_bodies({free_ball(1, r)}), {0.5, 0, 0, rolling});
    StepOptions options;
    Run run(w, options, rest(r), {speed, 0, 0, 0, speed / r, 0});
    run.steps(200);
    // Rolling ball with a force at the floor and a moment M = c m g about the axis: a = -c g / (r
    // (1 + 2/5)).
    const double a = rolling * g / (1.4 * r);
    const double way = std::hypot(run.q[0], run.q[1]);
    CHECK(way == doctest::Approx(0.2 * speed - 0.5 * a * 0.2 * 0.201).epsilon(1e-9));
  }
}

TEST_CASE("motors, springs, dampers and limits of a single joint are those of the formula") {
  ModelBuilder builder("slider", false);
  builder.add_link("base", Inertia());
  builder.add_link("mass", box_inertia(2, {0.1, 0.1, 0.1}));
  JointSpec joint;
  joint.name = "slide";
  joint.kind = "prismatic";
  joint.parent = "base";
  joint.child = "mass";
  joint.axis = {1, 0, 0};
  joint.lower = {-1};
  joint.upper = {1};
  joint.damping = 3;
  joint.stiffness = 40;
  joint.spring_reference = 0.1;
  builder.add_joint(joint);
  const double m = 2, d = 3, k = 40, kp = 500, kd = 20, dt = 1e-3;
  const double target = 0.3, speed = 0.5, q = 0.2, v = -0.7, tau = 4;
  for (const double limit : {std::numeric_limits<double>::infinity(), 5.0}) {
    const StepWorld w(builder.build({}), {}, false, {{kp, kd, limit}});
    StepOptions options;
    Run run(w, options, {q}, {v});
    run.steps(1, {&tau, &target, &speed});
    // m (v+ - v) = dt (tau - d v+ - k (q + dt v+ - q0) + kp (q_t - q - dt v+) + kd (v_t - v+))
    const double open = (m * v + dt * (tau - k * (q - 0.1))),
                 given = kp * (target - q) + kd * speed;
    const double free = (open + dt * given) / (m + dt * (d + dt * k + kd + dt * kp));
    const double held = (open + dt * 5.0) / (m + dt * (d + dt * k));
    CHECK(std::abs(run.v[0] - (std::isinf(limit) ? free : held)) < 1e-14);
  }
  // Pushed against its limit it stays there. A violation is corrected by erp, without adding
  // velocity.
  const StepWorld w(builder.build({}), {}, false);
  StepOptions options;
  const double push = 200;
  Run run(w, options, {0.999}, {0.5});
  run.steps(1000, {&push});
  CHECK(std::abs(run.q[0] - 1) < 1e-12);
  CHECK(std::abs(run.v[0]) < 1e-12);
  Run beyond(w, options, {1.003}, {0.0});
  beyond.steps(1, {&push});
  CHECK(std::abs(beyond.q[0] - (1.003 - 0.2 * 0.003)) < 1e-14);
  CHECK(std::abs(beyond.v[0]) < 1e-14);
  // At most 1 rad/s.
  Run far(w, options, {1.01}, {0.0});
  far.steps(1, {&push});
  CHECK(std::abs(far.q[0] - (1.01 - options.dt)) < 1e-14);
}

TEST_CASE("motors of joints with several positions brake and drive by speed") {
  Model model = free_bodies({free_ball(2, 0.1)});
  model.gravity = {};
  const double m = 2, moment = 0.4 * 2 * 0.01, kd = 3, speed = 0.7, dt = 1e-3;
  const StepWorld w(std::move(model), {}, false, {{0, kd}, {}, {0, kd, 0.5}, {}, {0, kd}, {}});
  Run run(w, StepOptions(), rest(5), {0.2, 0.3, -4, 0, 0, 0});
  const Numbers wanted{speed, 9, 9, 9, speed, 9};  // those without a motor have no effect
  run.steps(1, {nullptr, nullptr, wanted.data()});
  // m (v+ - v) = dt kd (v_t - v+); the third within its limit, and the fifth a rotation
  const Numbers expected{(m * 0.2 + dt * kd * speed) / (m + dt * kd), 0.3, -4 + dt * 0.5 / m, 0,
                         dt * kd * speed / (moment + dt * kd),        0};
  // In the axes at the start.
  const Vec3d v_W = quaternion_rotation<double>(&run.q[3]) * Vec3d(run.v[0], run.v[1], run.v[2]);
  for (int k = 0; k < 3; ++k) CHECK(std::abs(v_W[k] - expected[k]) < 1e-14);
  for (int k = 3; k < 6; ++k) CHECK(std::abs(run.v[k] - expected[k]) < 1e-14);
}

TEST_CASE("dry friction of a joint holds it exactly") {
  ModelBuilder builder("slider", false);
  builder.add_link("base", Inertia());
  builder.add_link("mass", box_inertia(2, {0.1, 0.1, 0.1}));
  JointSpec joint;
  joint.name = "slide";
  joint.kind = "prismatic";
  joint.parent = "base";
  joint.child = "mass";
  joint.axis = {1, 0, 0};
  joint.friction = 3;
  builder.add_joint(joint);
  const StepWorld w(builder.build({}), {}, false);
  for (const double push : {2.9, 3.1}) {
    Run run(w, StepOptions(), {0}, {0});
    run.steps(100, {&push});
    CHECK(std::abs(run.v[0] - std::max(0.0, (push - 3) / 2 * 0.1)) < 1e-14);
  }
}

TEST_CASE("bodies that do not touch do not feel each other, and step apart as islands") {
  const FreeBody box = free_box(1, {0.1, 0.2, 0.1});
  const StepWorld one(free_bodies({box}), {0.3}), two(free_bodies({box, box}), {0.3});
  const Numbers tilted{0.1, 0.2, 0.18, 0.1, 0.3, 0.2, std::sqrt(1 - 0.14)},
      v{0.5, -1, -1, 2, 1, 0.3};
  Numbers both = tilted, v_both = v;
  both.insert(both.end(), tilted.begin(), tilted.end());
  both[7] += 5;
  v_both.insert(v_both.end(), v.begin(), v.end());
  Run alone(one, StepOptions(), tilted, v), together(two, StepOptions(), both, v_both);
  int contacts = 0;
  for (int i = 0; i < 300; ++i) {
    alone.steps(1);
    together.steps(1);
    contacts += alone.last.contacts;
    CHECK(together.last.islands == 2 * alone.last.islands);
    // Bitwise equal: the first body has the same position as the single one.
    CHECK(std::equal(alone.v.begin(), alone.v.end(), together.v.begin()));
  }
  CHECK(contacts > 100);
  // At a distance of 5 m, rounding grows where the body tumbles.
  for (int k = 0; k < 6; ++k) CHECK(std::abs(together.v[6 + k] - alone.v[k]) < 1e-6);
}

TEST_CASE("a joint that follows one of another tree ties both to one island") {
  ModelBuilder builder("tied", false);
  builder.add_link("base", Inertia());
  for (const char* name : {"driven", "follower"}) {
    builder.add_link(name, box_inertia(2, {0.1, 0.1, 0.1}));
    JointSpec joint;
    joint.name = message("lift_", name);
    joint.kind = "prismatic";
    joint.parent = "base";
    joint.child = name;
    joint.axis = {0, 0, 1};
    if (name == std::string("follower")) joint.mimic = MimicSpec{"lift_driven", 0.5, 0.05};
    builder.add_joint(joint);
  }
  builder.add_collider("follower", Shape::sphere(0.1), SE3d(), "ball");  // touches the floor
  const StepWorld w(builder.build({}), {}, false, {{1000, 10}});
  StepOptions options;
  Run run(w, options, {0.1}, {0});
  const double target = -0.2;
  run.steps(1, {nullptr, &target});
  CHECK(run.last.contacts == 1);
  CHECK(run.last.islands == 1);
  CHECK(std::abs(run.v[0]) < 1e-14);  // pulled down, and held by the mimic ball
  // Both weights and the motor's 1000 (0.1 + 0.2), with half the displacement.
  const StepIsland& island = run.stepper.islands()[0];
  for (int i = 0; i < island.problem.size(); ++i)
    if (is_of<Contact>(island.rows[i], Contact::normal))
      CHECK(0.5 * island.solution.f[i] ==
            doctest::Approx(options.dt * (2 * g + 0.5 * 2 * g + 300)).epsilon(1e-12));
}

TEST_CASE(
    "a step and its gradient are functions of their arguments, to the bit, and take no memory once "
    "they have some") {
  const FreeBody box = free_box(1, {0.1, 0.2, 0.1});
  const StepWorld w(free_bodies({box, box, free_ball(0.5, 0.15)}), {0.6, 0.2});
  Random random(3);
  std::vector<Numbers> q, v;
  for (int i = 0; i < 30; ++i) {
    Numbers state;
    for (int b = 0; b < 3; ++b) {
      const Vec3d axis = random.vec3();
      const double c = random.uniform(0, 1), s = std::sqrt(1 - c * c) / norm(axis);
      for (const double x : {0.1 * b, random.uniform(-0.1, 0.1), random.uniform(0.1, 0.4),
                             s * axis.x, s * axis.y, s * axis.z, c})
        state.push_back(x);
    }
    q.push_back(state);
    v.push_back(random.numbers(18, 2));
  }
  for (const SolverId solver : SolverId::all()) {
    StepOptions options;
    options.solver = solver;
    Stepper used(*w.world, options);
    Numbers q_next(21), v_next(18), q_fresh(21), v_fresh(18);
    const Numbers q_bar = random.numbers(18), v_bar = random.numbers(18);
    StepGradient gradient, gradient_fresh;
    long taken = 0;
    int contacts = 0;
    const int rounds = 40;  // buffers move between impacts, until all are large enough
    for (int round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < q.size(); ++i) {
        const long before = allocations;
        contacts +=
            used.step({q[i].data(), v[i].data()}, {}, {q_next.data(), v_next.data()}).contacts;
        used.vjp({q[i].data(), v[i].data()}, {}, {q_bar.data(), v_bar.data()}, gradient);
        if (round + 1 == rounds) taken += allocations - before;
        if (round > 2) continue;
        Stepper fresh(*w.world, options);
        fresh.step({q[i].data(), v[i].data()}, {}, {q_fresh.data(), v_fresh.data()});
        fresh.vjp({q[i].data(), v[i].data()}, {}, {q_bar.data(), v_bar.data()}, gradient_fresh);
        for (std::vector<double> StepGradient::*of :
             {&StepGradient::q, &StepGradient::v, &StepGradient::tau})
          CHECK(gradient.*of == gradient_fresh.*of);
        CHECK(gradient.parameters.numbers() == gradient_fresh.parameters.numbers());
        CHECK(v_next == v_fresh);
        CHECK(q_next == q_fresh);
      }
    CHECK(taken == 0);
    CHECK(contacts > 100);
  }
}

TEST_CASE("what a world or a step cannot use is named") {
  const StepWorld w(free_bodies({free_ball(1, 0.1)}), {});
  const auto fails = [&](auto&& make, const char* text) {
    try {
      make();
      FAIL("nothing thrown");
    } catch (const InputError& error) {
      CHECK(std::string(error.what()).find(text) != std::string::npos);
    }
  };
  StepOptions options;
  options.dt = 0;
  fails([&] { Stepper(*w.world, options); }, "dt is 0; it must be positive");
  options = {};
  options.erp = 1.5;
  fails([&] { Stepper(*w.world, options); }, "erp is 1.5; it must lie between 0 and 1");
  fails([&] { World(*w.scene, {{-1.0}}, {}); },
        "material of 'body0/shape' and 'floor': friction is -1");
  fails([&] { World(*w.scene, {{}, {}}, {}); }, "2 materials for 1 pairs");
  fails([&] { World(*w.scene, {{}}, {Motor()}); }, "1 motors for 6 entries of v");
  fails(
      [&] {
        World(*w.scene, {{}}, std::vector<Motor>(6, Motor{1, 0}));
      },
      "position_gain is 1; it must be 0");
  // Materials and motors respect the ranges in the list of parameters.
  for (const ParameterKind& kind : parameter_kinds)
    for (const double value :
         {kind.least - 1, std::nan(""), std::isfinite(kind.most) ? 2 * kind.most : std::nan("")}) {
      const std::string name(kind.name);
      PairMaterial material;
      Motor motor;
      if (kind.access.of_pair)
        material.*kind.access.of_pair = value,
        fails([&] { World(*w.scene, {material}, {}); }, (name + " is").c_str());
      if (kind.access.of_motor)
        motor.*kind.access.of_motor = value,
        fails([&] { World(*w.scene, {{}}, std::vector<Motor>(6, motor)); }, (name + " is").c_str());
    }
}

TEST_CASE(
    "what flies keeps its momentum and goes straight however it spins; spin and energy are right "
    "to first order") {
  const Vec3d half{0.1, 0.2, 0.4};
  Model model = free_bodies({free_box(2, half)});
  model.gravity = {};
  const StepWorld w(std::move(model), {});
  double last = 0;
  for (const double dt : {2e-3, 1e-3, 5e-4}) {
    StepOptions options;
    options.dt = dt;
    Run run(w, options, {0, 0, 5, 0, 0, 0, 1}, {1, 2, 3, 4, 0.1, -6});
    const auto spin = [&] {
      const Inertia& inertia = w.model.inertias[1];
      return quaternion_rotation<double>(&run.q[3]) *
             (inertia.I_com * Vec3d(run.v[3], run.v[4], run.v[5]));
    };
    const Vec3d before = spin();
    run.steps(static_cast<int>(std::lround(1 / dt)));
    const Vec3d v_W = quaternion_rotation<double>(&run.q[3]) * Vec3d(run.v[0], run.v[1], run.v[2]);
    CHECK(norm(v_W - Vec3d(1, 2, 3)) < 1e-12);
    CHECK(norm(Vec3d(run.q[0], run.q[1], run.q[2]) - Vec3d(1, 2, 8)) < 1e-12);
    const double error = norm(spin() - before) / norm(before);
    if (last > 0) CHECK(last / error == doctest::Approx(2).epsilon(0.1));
    last = error;
  }
}

TEST_CASE("in the plane friction is along the one motion that there is, whatever the normal") {
  // A ball that moves in the x-z plane only, under a plate that is rotated about y. Its normal may
  // point down, where the axes of friction are not in the plane.
  for (const double angle : {3.1, 2.5, 0.3}) {
    for (const SolverId solver : SolverId::all()) {
      CAPTURE(angle);
      ModelBuilder builder("flat", false);
      builder.add_link("base", Inertia());
      builder.add_link("slide", box_inertia(0.1, {0.1, 0.1, 0.1}));
      builder.add_link("ball", free_ball(1, 0.1).inertia);
      JointSpec x, z;
      x.name = "x";
      x.kind = "prismatic";
      x.parent = "base";
      x.child = "slide";
      x.axis = {1, 0, 0};
      z.name = "z";
      z.kind = "prismatic";
      z.parent = "slide";
      z.child = "ball";
      z.axis = {0, 0, 1};
      builder.add_joint(x);
      builder.add_joint(z);
      builder.add_collider("ball", Shape::sphere(0.1), SE3d(), "ball");
      Model model = builder.build({});
      model.gravity = {};
      const Mat3d R = exp_motion(Motion<double>{{0, angle, 0}, {}}).R;
      const Vec3d n = R * Vec3d(0, 0, 1), along = R * Vec3d(1, 0, 0);
      const CollisionScene scene(model, {{"plate", Shape::half_space(), 0, SE3d(R, Vec3d())}},
                                 {{0, 1}});
      const World world(scene, {{0.5, 0, 0, 0}}, {});
      StepOptions options;
      options.solver = solver;
      Stepper stepper(world, options);
      const Vec3d p = 0.1 * n;
      const Numbers q{p.x, p.z};
      // Relative to the force into the plate: within the friction cone and beyond.
      for (const double push : {0.3, 0.8}) {
        const Vec3d force = push * along - n;
        const Numbers tau{force.x, force.z};
        Numbers q1(2), v1(2), v(2, 0.0);
        const StepReport report = stepper.step({q.data(), v.data()}, {tau.data(), nullptr, nullptr},
                                               {q1.data(), v1.data()});
        CHECK(report.status == StepStatus::solved);
        CHECK(report.rows == 2);
        const Vec3d velocity{v1[0], 0, v1[1]};
        // The two coordinates' masses are 1.1 and 1, but slip must be along the plate.
        CHECK(std::abs(dot(velocity, n)) < 1e-13);  // of a gap due to rounding, 1e-16 erp / dt
        if (push < 0.5)
          CHECK(norm(velocity) < 1e-13);
        else
          CHECK(dot(velocity, along) > 0);
        const Vec3d impulse{1.1 * v1[0] - options.dt * force.x, 0, v1[1] - options.dt * force.z};
        CHECK(dot(impulse, along) ==
              doctest::Approx(-options.dt * std::min(push, 0.5 * dot(impulse, n) / options.dt))
                  .epsilon(1e-9));
      }
    }
  }
}

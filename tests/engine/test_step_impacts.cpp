// Bounces by time of impact: closed forms that are valid for any length of a step, their gradients
// over whole runs, and flags.
#include <doctest/doctest.h>

#include "count_allocations.h"
#include "rollout/simulator.h"
#include "step_worlds.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

StepOptions in_time(double dt, SolverId solver = SolverId("lcp")) {
  StepOptions options;
  options.dt = dt;
  options.bounce = BounceId("time_of_impact");
  options.solver = solver;
  return options;
}

// Balls of these masses on a line along x, far above the floor, without gravity.
struct Balls {
  static constexpr double radius = 0.1;
  StepWorld w;
  Numbers q, v;

  Balls(const Numbers& masses, const Numbers& x, const Numbers& speeds,
        const PairMaterial& material)
      : w(model_of(masses), material) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double pose[] = {x[i], 0, 10, 0, 0, 0, 1}, rate[] = {speeds[i], 0, 0, 0, 0, 0};
      q.insert(q.end(), pose, pose + 7);
      v.insert(v.end(), rate, rate + 6);
    }
  }
  static Model model_of(const Numbers& masses) {
    std::vector<FreeBody> balls;
    for (const double mass : masses) balls.push_back(free_ball(mass, radius));
    Model model = free_bodies(balls);
    model.gravity = Vec3d();
    return model;
  }
};

struct Run {
  Numbers q, v;
  RolloutReport report;
};
Run run(Simulator& simulator, const Numbers& q, const Numbers& v, int steps) {
  const Model& m = simulator.world().model();
  Run out{Numbers(at((steps + 1) * m.n_q)), Numbers(at((steps + 1) * m.n_v)), {}};
  std::copy(q.begin(), q.end(), out.q.begin());
  std::copy(v.begin(), v.end(), out.v.begin());
  simulator.rollout({steps, 1}, 0, steps, {out.q.data(), out.v.data()}, {}, out.report);
  return out;
}

// Gradient of the last configuration's tangent entry k.
StepGradient gradient_of(Simulator& simulator, const Run& r, int steps, int k) {
  const Model& m = simulator.world().model();
  const Numbers zero(at((steps + 1) * m.n_v), 0.0);
  Numbers tau(at(steps * m.n_v)), q_target(at(steps * m.n_q)), v_target(at(steps * m.n_v));
  StepGradient g;
  g.set_zero(simulator.world());
  g.q[k] = 1;
  simulator.rollout_vjp({steps, 1}, 0, steps, {r.q.data(), r.v.data()}, {},
                        {zero.data(), zero.data()}, g,
                        {tau.data(), q_target.data(), v_target.data()});
  return g;
}

}  // namespace

TEST_CASE("two balls that hit: where one is in the end, by where and how fast both were") {
  // After the impact at t_c, x_2 = x_2 + v_2 t_c + v_2' (1 - t_c): linear in all four, with v' from
  // momentum and restitution.
  struct Case {
    double mass, restitution, expected[4];  // by x_1, x_2, v_1, v_2
  };
  const Case cases[] = {{1, 1, {1, 0, 1, 0}},
                        {3, 1, {0.5, 0.5, 0.5, 0.5}},
                        {1, 0.5, {0.75, 0.25, 0.75, 0.25}},
                        {1, 0, {0.5, 0.5, 0.5, 0.5}}};
  for (const SolverId solver : SolverId::all()) {
    for (const int steps : {10, 100, 1000}) {
      for (const Case& c : cases) {
        Balls balls({1, c.mass}, {0, 0.5203}, {1, 0}, {0.3, c.restitution});
        Simulator simulator(*balls.w.world, in_time(1.0 / steps, solver), 1);
        const Run r = run(simulator, balls.q, balls.v, steps);
        const double t_c = 0.5203 - 2 * Balls::radius, after = (1 + c.restitution) / (1 + c.mass);
        CHECK(std::abs(r.q[steps * 14 + 7] - (0.5203 + after * (1 - t_c))) < 1e-12);
        const StepGradient g = gradient_of(simulator, r, steps, 6);
        const double found[] = {g.q[0], g.q[6], g.v[0], g.v[6]};
        for (int k = 0; k < 4; ++k) CHECK(std::abs(found[k] - c.expected[k]) < 1e-11);
        if (c.restitution == 0) continue;  // they stay together
        CHECK(g.one_sided == OneSided::no);
        // dx/de = (1 - t_c) dv'/de
        double of_restitution = 0;
        for (int i = 0; i < g.parameters.layout().owners("restitution"); ++i)
          of_restitution += *g.parameters.of("restitution", i);
        CHECK(std::abs(of_restitution - (1 - t_c) / (1 + c.mass)) < 1e-11);
      }
    }
  }
}

TEST_CASE(
    "the plain step bounces where it finds things, and its gradient is not that of continuous "
    "time") {
  Balls balls({1, 1}, {0, 0.5203}, {1, 0}, {0.3, 1});
  StepOptions options;
  options.dt = 0.01;
  options.bounce = BounceId("step");
  Simulator simulator(*balls.w.world, options, 1);
  const Run r = run(simulator, balls.q, balls.v, 100);
  const StepGradient g = gradient_of(simulator, r, 100, 6);
  CHECK(std::abs(g.q[0]) < 1e-11);  // the initial position does not matter, only the velocity
  CHECK(std::abs(g.q[6] - 1) < 1e-11);
}

TEST_CASE("an off-center hit turns by the true normal, whatever the step") {
  // Equal balls, smooth and elastic: the velocity components along the line of centers are
  // exchanged at the impact.
  const double offset = 0.07, gap = std::sqrt(4 * Balls::radius * Balls::radius - offset * offset),
               t_c = 0.5 - gap;
  const Vec3d n(gap / (2 * Balls::radius), offset / (2 * Balls::radius), 0), first{t_c, 0, 0},
      second{0.5, offset, 0};
  const Vec3d second_end = second + (1 - t_c) * n.x * n,
              first_end = first + (1 - t_c) * (Vec3d(1, 0, 0) - n.x * n);
  for (const int steps : {7, 64, 500}) {
    Balls balls({1, 1}, {0, 0.5}, {1, 0}, {0, 1});
    balls.q[8] = offset;
    Simulator simulator(*balls.w.world, in_time(1.0 / steps), 1);
    const Run r = run(simulator, balls.q, balls.v, steps);
    const double* end = &r.q[steps * 14];
    // The normal is that at the start of the step; its error is at most its rotation in one step.
    const double turning = 1.0 / steps / (2 * Balls::radius);
    CHECK(norm(Vec3d(end[0], end[1], 0) - first_end) < turning);
    CHECK(norm(Vec3d(end[7], end[8], 0) - second_end) < turning);
  }
}

TEST_CASE(
    "a ball with restitution 1 bounces to the same height for ever; with less it comes to rest") {
  const double radius = 0.1, dt = 1e-3, g = 9.80665;
  const StepWorld w(free_bodies({free_ball(2, radius)}), {0.5, 1});
  Stepper stepper(*w.world, in_time(dt));
  Numbers q{0, 0, radius + 0.5, 0, 0, 0, 1}, v(6, 0.0);
  // Invariant of semi-implicit Euler in free flight: v^2/2 + g z - dt g v/2.
  const auto energy = [&] { return 0.5 * v[2] * v[2] + g * (q[2] - radius) - 0.5 * dt * g * v[2]; };
  const double at_start = energy();
  int bounces = 0;
  double highest = 0, lowest = 1;
  for (int i = 0; i < 60000; ++i) {
    const double before = v[2];
    stepper.step({q.data(), v.data()}, {}, {q.data(), v.data()});
    bounces += before < -1 && v[2] > 1;
    lowest = std::min(lowest, q[2] - radius);
    if (bounces > 90) highest = std::max(highest, q[2] - radius);
  }
  CHECK(bounces > 90);                           // one per 0.64 s
  CHECK(std::abs(energy() - at_start) < 1e-10);  // to rounding, accumulated over 60,000 steps
  CHECK(std::abs(highest - 0.5) < 2e-6);         // g dt^2 / 8 below the top between two steps
  CHECK(lowest >= -1e-12);                       // no penetration

  const StepWorld lossy(free_bodies({free_ball(2, radius)}), {0.5, 0.6});
  Stepper other(*lossy.world, in_time(dt));
  q[2] = radius + 0.5;
  v.assign(6, 0.0);
  for (int i = 0; i < 5000; ++i) other.step({q.data(), v.data()}, {}, {q.data(), v.data()});
  CHECK(std::abs(v[2]) < 1e-12);
  CHECK(std::abs(q[2] - radius) < 1e-3);
}

TEST_CASE("heights after a bounce, and their gradients, tend to those of continuous time") {
  // Dropped from h with restitution e: after t_c = sqrt(2 h / g),
  // z = e v_c (T - t_c) - g (T - t_c)^2 / 2 with v_c = sqrt(2 g h).
  const double radius = 0.1, h = 0.3, e = 0.8, T = 0.4, g = 9.80665;
  const double t_c = std::sqrt(2 * h / g), v_c = std::sqrt(2 * g * h), t = T - t_c;
  const double z = e * v_c * t - 0.5 * g * t * t, dt_dh = -1 / v_c, dv_dh = g / v_c;
  const double dz_dh = e * dv_dh * t + (e * v_c - g * t) * dt_dh;
  double worst[3], worst_rate[3];
  for (int refinement = 0; refinement < 3; ++refinement) {
    const int steps = 400 << (2 * refinement);
    const StepWorld w(free_bodies({free_ball(2, radius)}), {0, e});
    Simulator simulator(*w.world, in_time(T / steps), 1);
    const Run r = run(simulator, {0, 0, radius + h, 0, 0, 0, 1}, Numbers(6, 0.0), steps);
    worst[refinement] = std::abs(r.q[steps * 7 + 2] - radius - z);
    worst_rate[refinement] = std::abs(gradient_of(simulator, r, steps, 2).q[2] - dz_dh);
  }
  for (int i = 1; i < 3; ++i) {  // steps of a quarter of the length
    CHECK(worst[i] < 0.5 * worst[i - 1]);
    CHECK(worst_rate[i] < 0.5 * worst_rate[i - 1]);
  }
  CHECK(worst[2] < 1e-3);
  CHECK(worst_rate[2] < 1e-2);
}

TEST_CASE(
    "what lands without bouncing touches at the end of the step, and what is fast does not pass "
    "through") {
  const double radius = 0.1;
  const StepWorld w(free_bodies({free_ball(2, radius)}), {0.5, 0});
  for (const double speed : {0.5, 5.0, 500.0}) {
    Stepper stepper(*w.world, in_time(0.01));
    Numbers q{0, 0, radius + 0.4 * 0.01 * speed, 0, 0, 0, 1}, v{0, 0, -speed, 0, 0, 0};
    const StepReport report = stepper.step({q.data(), v.data()}, {}, {q.data(), v.data()});
    CHECK(report.contacts == 1);
    CHECK(std::abs(q[2] - radius) < 1e-12 * speed);
    CHECK(std::abs(v[2]) < 1e-12 * speed);
  }
}

TEST_CASE("friction of an impact acts where things touch, however far they were before") {
  // The angular momentum about the contact point is conserved: a solid ball without spin keeps 5/7
  // of its speed, at any time of impact.
  const double radius = 0.1, speed = 2, down = 5, dt = 0.01;
  for (const bool on_box : {false, true})
    for (const double restitution : {0.0, 0.5})
      for (const double share : {0.001, 0.3, 0.7, 0.999}) {
        const StepWorld w(free_bodies({free_ball(2, radius)}), {1, restitution}, true, {},
                          on_box ? Shape::box({9, 9, 1}) : Shape::half_space());
        Stepper stepper(*w.world, in_time(dt));
        Numbers q{0, 0, (on_box ? 1 : 0) + radius + share * dt * down, 0, 0, 0, 1},
            v{speed, 0, -down, 0, 0, 0};
        CHECK(stepper.step({q.data(), v.data()}, {}, {q.data(), v.data()}).contacts == 1);
        const Vec3d forward = quaternion_rotation(q.data() + 3) * Vec3d(v[0], v[1], v[2]);
        CHECK(std::abs(forward.x - 5.0 / 7 * speed) < 1e-12);
        CHECK(norm(Vec3d(v[3], v[4], v[5]) - Vec3d(0, forward.x / radius, 0)) < 1e-11);
      }
}

TEST_CASE("bounces that do not feel each other are each exact; such as do are flagged") {
  // Two pairs of balls far from each other, with impacts at different times within the same step.
  Balls pairs({1, 1, 1, 3}, {0, 0.5203, 5, 5.5233}, {1, 0, 1, 0}, {0.3, 1});
  Simulator simulator(*pairs.w.world, in_time(0.1), 1);
  const Run r = run(simulator, pairs.q, pairs.v, 10);
  const StepGradient g = gradient_of(simulator, r, 10, 18);
  CHECK(g.one_sided == OneSided::no);
  const double found[] = {g.q[12], g.q[18], g.v[12], g.v[18]};
  for (const double x : found) CHECK(std::abs(x - 0.5) < 1e-11);
  CHECK(std::abs(g.q[0]) + std::abs(g.q[6]) < 1e-12);

  // Three balls in a row, the middle one hit from both sides in one step.
  Balls row({1, 2, 1}, {-0.5, 0, 0.5}, {1, 0, -1}, {0, 1});
  Stepper stepper(*row.w.world, in_time(0.1));
  bool is_flagged = false;
  for (int i = 0; i < 10; ++i) {
    const Numbers q = row.q, v = row.v;
    const StepReport report = stepper.step({q.data(), v.data()}, {}, {row.q.data(), row.v.data()});
    StepGradient gradient;
    const Numbers ones(18, 1.0);
    stepper.vjp({q.data(), v.data()}, {}, {ones.data(), ones.data()}, gradient);
    CHECK(gradient.one_sided == OneSided::no);  // the law of simultaneous impacts is smooth
    is_flagged |= report.coupled_bounces == 2;
  }
  CHECK(is_flagged);
  // Simultaneous impacts: Newton's law; momentum and, for elastic ones, energy are conserved.
  CHECK(std::abs(row.v[0] + 2 * row.v[6] + row.v[12]) < 1e-12);
  CHECK(std::abs(row.v[0] * row.v[0] + 2 * row.v[6] * row.v[6] + row.v[12] * row.v[12] - 2) <
        1e-12);
}

TEST_CASE("what rests does so as in the plain step") {
  const StepWorld w(free_bodies({free_box(2, {0.2, 0.3, 0.1})}), {0.5, 0.5});
  for (const SolverId solver : SolverId::all()) {
    StepOptions plain = in_time(1e-3, solver);
    plain.bounce = BounceId("step");
    Stepper one(*w.world, in_time(1e-3, solver)), other(*w.world, plain);
    Numbers q{0, 0, 0.1, 0, 0, 0, 1}, v(6, 0.0), q_other(q), v_other(v);
    long warm = 0;
    for (int i = 0; i < 100; ++i) {
      if (i == 10) warm = allocations;
      one.step({q.data(), v.data()}, {}, {q.data(), v.data()});
      other.step({q_other.data(), v_other.data()}, {}, {q_other.data(), v_other.data()});
      if (q != q_other || v != v_other) FAIL_CHECK("step ", i);
    }
    CHECK(allocations == warm);
  }
}

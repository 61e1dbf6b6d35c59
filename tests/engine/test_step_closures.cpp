// Closed loops: closures of frames and equalities of joints move like equivalent models without
// closures, to rounding.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "dynamics/energy.h"
#include "dynamics/kinematics.h"
#include "step/constraints/constraint_kinds.h"
#include "step_worlds.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

SE3d shifted(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

FrameClosure point(int a, const SE3d& X_AF, int b, const SE3d& X_BG) {
  FrameClosure c;
  c.name = "closure";
  c.a = a;
  c.b = b;
  c.X_AF = X_AF;
  c.X_BG = X_BG;
  return c;
}

// No floor below, so that only the tested bodies interact.
struct Loop {
  StepWorld w;
  Stepper stepper;
  Numbers q, v;
  StepReport report;

  Loop(Model model, Closures closures, const StepOptions& options = {})
      : w(std::move(model), {0.5}, false, {}, Shape::half_space(), std::move(closures)),
        stepper(*w.world, options),
        q(at(w.model.n_q)),
        v(at(w.model.n_v)) {}
  void step(const Numbers& tau = {}) {
    ControlView control;
    if (!tau.empty()) control.tau = tau.data();
    report = stepper.step({q.data(), v.data()}, control, {q.data(), v.data()});
  }
  double energy() {
    Data<double> data(w.model);
    forward_kinematics(w.model, data, q.data());
    motion_subspaces(w.model, data);
    forward_velocities(w.model, data, v.data());
    return kinetic_energy(w.model, data, v.data()) + potential_energy(w.model, data);
  }
};

// Rods in the x-z plane, each `length` along its own x, each hinged to the end of the last one; the
// first to the world.
ModelBuilder rods(const Numbers& lengths) {
  ModelBuilder builder("rods", false);
  builder.add_link("base", Inertia());
  double before = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double length = lengths[i], moment = length * length / 12;
    builder.add_link(message("rod", i),
                     {1, {length / 2, 0, 0}, Mat3d::diagonal(0.001, moment, moment)});
    JointSpec joint;
    joint.name = message("hinge", i);
    joint.kind = "revolute";
    joint.parent = i ? message("rod", i - 1) : "base";
    joint.child = message("rod", i);
    joint.X_PJ = shifted(before, 0, i ? 0 : 3);
    joint.axis = {0, -1, 0};  // up from x
    builder.add_joint(joint);
    before = length;
  }
  return builder;
}

double largest_difference(const Numbers& a, const Numbers& b) {
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, std::abs(a[k] - b[k]));
  return most;
}

}  // namespace

TEST_CASE("a free body held at a point of the world goes as one on a hinge there") {
  for (const SolverId solver : SolverId::all()) {
    StepOptions options;
    options.solver = solver;
    options.solver_options.sweeps = 2000;
    Loop hinged(rods({0.4}).build({}), {}, options);
    const Inertia inertia = hinged.w.model.inertias[1];
    ModelBuilder builder("free", false);
    builder.add_link("base", Inertia());
    builder.add_link("rod", inertia);
    JointSpec joint;
    joint.name = "free";
    joint.kind = "floating";
    joint.parent = "base";
    joint.child = "rod";
    builder.add_joint(joint);
    Loop held(builder.build({}), {{point(0, shifted(0, 0, 3), 1, SE3d())}, {}}, options);
    const double angle = 0.7, rate = -1.3;
    hinged.q = {angle};
    hinged.v = {rate};
    held.q = {0, 0, 3, 0, -std::sin(angle / 2), 0, std::cos(angle / 2)};
    held.v = {0, 0, 0, 0, -rate, 0};
    hinged.step({0.2});
    held.step({0, 0, 0, 0, -0.2, 0});
    // A free body's velocity is expressed in its axes at the end of the step. An angular velocity
    // along y is the same in both axes.
    CHECK(largest_difference({0, -hinged.v[0], 0}, {held.v[3], held.v[4], held.v[5]}) < 1e-12);
    // Velocities of the origin in both integrations may differ by the rotation within a step.
    CHECK(std::hypot(held.v[0], held.v[2]) < 1e-12);
    CHECK(held.report.rows == 3);
  }
}

TEST_CASE("two free bodies welded go as one") {
  const Inertia inertia = box_inertia(2, {0.1, 0.2, 0.3});
  const SE3d X = exp_motion(Motion<double>{{0.3, -0.2, 0.5}, {0.4, 0.1, -0.2}});
  Loop pair(free_bodies({{Shape::sphere(0.01), inertia}, {Shape::sphere(0.01), inertia}}), {});
  FrameClosure weld = point(1, X, 2, SE3d());
  weld.is_weld = true;
  Loop welded(free_bodies({{Shape::sphere(0.01), inertia}, {Shape::sphere(0.01), inertia}}),
              {{weld}, {}});
  // Reference: both boxes on one link.
  ModelBuilder builder("one", false);
  builder.add_link("base", Inertia());
  builder.add_link("first", inertia);
  builder.add_link("second", inertia);
  JointSpec free, fixed;
  free.name = "free";
  free.kind = "floating";
  free.parent = "base";
  free.child = "first";
  fixed.name = "fixed";
  fixed.parent = "first";
  fixed.child = "second";
  fixed.X_PJ = X;
  builder.add_joint(free);
  builder.add_joint(fixed);
  Loop one(builder.build({}), {});

  one.q = {0, 0, 5, 0, 0, 0, 1};
  one.v = {0.3, -0.1, 0.2, 0, 0, 0};
  const Quaternion<double> turn = rotation_to_quaternion(X.R);
  welded.q = {0,     0,     5,         0,          0,          0,          1,
              X.p.x, X.p.y, 5 + X.p.z, turn.vec.x, turn.vec.y, turn.vec.z, turn.w};
  const Vec3d other = transpose_times(X.R, Vec3d{0.3, -0.1, 0.2});
  welded.v = {0.3, -0.1, 0.2, 0, 0, 0, other.x, other.y, other.z, 0, 0, 0};
  const Numbers tau{1, -2, 3, 0.5, -0.4, 0.3};
  Numbers both(tau);
  both.resize(12);
  one.step(tau);
  welded.step(both);
  CHECK(largest_difference(one.v, {welded.v.begin(), welded.v.begin() + 6}) < 1e-13);
  CHECK(welded.report.rows == 6);
  // They stay together while rotating.
  for (int i = 0; i < 2000; ++i) welded.step();
  Data<double> data(welded.w.model);
  forward_kinematics(welded.w.model, data, welded.q.data());
  const SE3d apart = X.inverse() * (data.X_WB[1].inverse() * data.X_WB[2]);
  CHECK(norm(apart.p) < 1e-6);
  CHECK(norm(log_rotation(apart.R)) < 1e-6);
}

TEST_CASE("joints that follow by a closure go as those that mimic") {
  const double ratio = -0.7, offset = 0.2;
  const auto tree = [&](bool mimics) {
    Random random(3);
    ModelBuilder builder = random_tree("tree", random, {"revolute", "prismatic"}, 3, true, true);
    builder.add_link("last", random.inertia());
    JointSpec joint;
    joint.name = "follower";
    joint.kind = "revolute";
    joint.parent = "l3";
    joint.child = "last";
    joint.X_PJ = random.pose();
    joint.axis = random.vec3();
    if (mimics) joint.mimic = MimicSpec{"j1", ratio, offset};
    builder.add_joint(joint);
    return builder.build({});
  };
  Loop mimics(tree(true), {});
  Model free = tree(false);
  const int first = free.joints[2].v_index, last = free.n_v - 1;
  REQUIRE(free.joints[2].name == "j1");
  Loop follows(std::move(free), {{}, {{"law", first, last, {offset, ratio, 0, 0, 0}}}});
  Random random(4);
  mimics.q = random.configuration(mimics.w.model);
  mimics.v = random.numbers(mimics.w.model.n_v);
  follows.q = mimics.q;
  follows.v = mimics.v;
  follows.q.push_back(ratio * mimics.q[mimics.w.model.joints[2].q_index] + offset);
  follows.v.push_back(ratio * mimics.v[first]);
  for (int i = 0; i < 100; ++i) {
    mimics.step();
    follows.step();
  }
  CHECK(largest_difference(mimics.v, {follows.v.begin(), follows.v.end() - 1}) < 1e-10);
  CHECK(largest_difference(mimics.q, {follows.q.begin(), follows.q.end() - 1}) < 1e-10);
  CHECK(follows.report.rows == mimics.report.rows + 1);
}

TEST_CASE(
    "a four-bar linkage stays closed and keeps its energy, with rows that others imply left out") {
  // Crank, coupler and rocker of 0.3, 0.5 and 0.4 on pivots 0.5 apart. The rocker's end is at the
  // second pivot.
  const auto drift = [](double dt, int closures, double out_of_plane, StepStatus* worst) {
    Closures all;
    const FrameClosure end = point(0, shifted(0.5, 0, 3), 3, shifted(0.4, out_of_plane, 0));
    for (int i = 0; i < closures; ++i) all.frames.push_back(end);
    StepOptions options;
    options.dt = dt;
    Loop loop(rods({0.3, 0.5, 0.4}).build({}), all, options);
    // Distance to the second pivot.
    const double crank = 1.2, x = 0.5 - 0.3 * std::cos(crank), z = -0.3 * std::sin(crank),
                 line = std::hypot(x, z);
    const double coupler =
        std::atan2(z, x) + std::acos((0.5 * 0.5 + line * line - 0.4 * 0.4) / (2 * 0.5 * line));
    const double rocker = std::atan2(z - 0.5 * std::sin(coupler), x - 0.5 * std::cos(coupler));
    loop.q = {crank, coupler - crank, rocker - coupler};
    const double before = loop.energy();
    double apart = 0;
    *worst = StepStatus::solved;
    for (int i = 0; i < static_cast<int>(1 / dt); ++i) {
      loop.step();
      *worst = std::max(*worst, loop.report.status);
      CHECK(loop.report.rows == 2);
      Data<double> data(loop.w.model);
      forward_kinematics(loop.w.model, data, loop.q.data());
      const Vec3d p = data.X_WB[3] * Vec3d{0.4, 0, 0} - Vec3d{0.5, 0, 3};
      apart = std::max(apart, norm(p));
    }
    return std::pair(apart, std::abs(loop.energy() - before));
  };
  StepStatus status;
  const auto coarse = drift(1e-3, 1, 0, &status), fine = drift(2.5e-4, 1, 0, &status);
  CHECK(status == StepStatus::solved);
  // With a quarter of dt the drift is of second order, and the energy of first order, as the scheme
  // is symplectic in free coordinates only.
  CHECK(coarse.first < 1.5e-4);
  CHECK(coarse.first > 12 * fine.first);
  CHECK(coarse.second < 0.12);  // of 9 J that are exchanged
  CHECK(coarse.second > 3 * fine.second);
  // A duplicate constraint, or an error perpendicular to the plane, leads to the same motion.
  CHECK(drift(1e-3, 2, 0, &status) == coarse);
  CHECK(status == StepStatus::solved);
  CHECK(drift(1e-3, 1, 1e-3, &status) == coarse);
  CHECK(status == StepStatus::solved);
}

TEST_CASE("what is apart is taken back, also by laws that bend and of joints that are held") {
  Closures closures;
  closures.joints = {{"law", 0, 1, {0.1, 0.5, -0.3, 0.2, 0.1}}, {"held", -1, 2, {0.4, 0, 0, 0, 0}}};
  Loop loop(rods({0.3, 0.4, 0.2}).build({}), closures);
  loop.q = {0.3, 0.2315, 0.403};  // within the correction at 1 rad/s
  const auto errors = [&] {
    const double x = loop.q[0];
    return std::pair(loop.q[1] - (0.1 + x * (0.5 + x * (-0.3 + x * (0.2 + x * 0.1)))),
                     loop.q[2] - 0.4);
  };
  const auto [law, held] = errors();
  loop.step();
  // The correction by erp is exact for the linear equality, and exact up to the squared
  // displacement for the nonlinear one.
  CHECK(errors().second == doctest::Approx(0.8 * held).epsilon(1e-12));
  CHECK(errors().first == doctest::Approx(0.8 * law).epsilon(1e-3));
  for (int i = 0; i < 1000; ++i) loop.step();
  CHECK(std::abs(errors().first) < 1e-4);  // of the order of dt^2 rate^2
  CHECK(std::abs(errors().second) < 1e-13);
}

TEST_CASE("rows that others imply are left out, also where they contradict these") {
  // One rod whose end is constrained to two places.
  Closures closures;
  closures.frames = {point(0, shifted(0.5, 0, 3), 1, shifted(0.4, 0, 0)),
                     point(0, shifted(0, 0, 3.2), 1, shifted(0.4, 0, 0))};
  Loop loop(rods({0.4}).build({}), closures);
  loop.q = {0.5};
  loop.step();
  // The second closure is redundant, as there is one degree of freedom.
  CHECK(loop.report.status == StepStatus::solved);
  CHECK(loop.report.rows == 1);
  // A free body at two points that are farther apart than its own points. Six rows act on its six
  // degrees of freedom, but the rows along the line contradict each other.
  Closures stretched;
  stretched.frames = {point(0, shifted(0, 0, 3), 1, SE3d()),
                      point(0, shifted(1, 0, 3), 1, shifted(0.5, 0, 0))};
  Loop body(free_bodies({free_ball(1, 0.1)}), stretched);
  body.q = {0.25, 0, 3, 0, 0, 0, 1};
  body.step();
  CHECK(body.report.rows == 5);
  CHECK(body.report.status == StepStatus::solved);
}

TEST_CASE("closures that contradict what touches are relaxed and told") {
  FrameClosure weld = point(0, shifted(0, 0, 0.09), 1, SE3d());
  weld.is_weld = true;
  for (const double apart : {0.0, 1e-3}) {  // a ball in the floor, held there or a bit off
    Loop ball(free_bodies({free_ball(1, 0.1)}), {{weld}, {}});
    ball.q = {apart, 0, 0.09, 0, 0, 0, 1};
    ball.step();
    CHECK(ball.report.status == StepStatus::relaxed);
    CHECK(largest_difference(ball.v, Numbers(6, 0.0)) < 1e-12);
  }
}

TEST_CASE("closures that cannot be are named") {
  const auto refused = [](Closures closures, const char* why) {
    CAPTURE(std::string(why));
    CHECK_THROWS_WITH_AS(Loop(rods({0.3, 0.4}).build({}), std::move(closures)),
                         doctest::Contains(why), InputError);
  };
  refused({{point(1, SE3d(), 1, SE3d())}, {}}, "one body twice");
  refused({{point(0, SE3d(), 7, SE3d())}, {}}, "is of body 7");
  refused({{point(0, shifted(NAN, 0, 0), 1, SE3d())}, {}}, "not finite");
  FrameClosure loose = point(0, SE3d(), 1, SE3d());
  for (bool& x : loose.is_held) x = false;
  refused({{loose}, {}}, "holds nothing");
  refused({{}, {{"law", 0, 0, {}}}}, "one joint twice");
  refused({{}, {{"law", 0, 5, {}}}}, "v[5]");
  refused({{}, {{"law", 0, 1, {INFINITY, 0, 0, 0, 0}}}}, "coefficient");
}

TEST_CASE(
    "only contacts may have channels that do not turn: gradients of others would miss where their "
    "points go") {
  StepIsland island;
  StepIsland::Block block;
  block.a = 0;
  block.b = 1;
  block.turns = false;
  CHECK_THROWS_AS(RowAssembly::add_block<ClosureOfFrames>(island, block, block.width()),
                  std::logic_error);
  RowAssembly::add_block<Contact>(island, block, block.width());
  CHECK(island.problem.channels == 3);
}

// Gradients of random steps of robots, loops and boxes equal differences.
#include "step_differences.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

Model robot(Random& random, bool floating_base) {
  ModelBuilder builder = random_tree(
      "robot", random, {"revolute", "prismatic", "planar", "floating"}, 5, false, floating_base);
  const Shape shapes[] = {Shape::box({0.1, 0.15, 0.1}),       Shape::sphere(0.15),
                          Shape::capsule(0.1, 0.2),           Shape::cylinder(0.1, 0.1),
                          Shape::ellipsoid({0.1, 0.15, 0.2}), Shape::box({0.05, 0.1, 0.2}, 0.05)};
  for (int i = 0; i <= 5; ++i) builder.add_collider(message("l", i), shapes[i], random.pose(), "c");
  return builder.build({});
}

// Lower the configuration until its lowest point is at most 1 cm below the floor.
void put_on_floor(const StepWorld& w, Point& p, Random& random) {
  p.q[2] = 5;
  SceneQuery query(*w.scene);
  query.place(p.q.data());
  double lowest = INFINITY;
  for (std::size_t i = 0; i < w.model.colliders.size(); ++i) {
    const int k = static_cast<int>(i);
    lowest = std::min(lowest, signed_distance(Shape::half_space(), SE3d(),
                                              w.scene->object(k).geometry.shape, query.X_WO(k))
                                  .distance);
  }
  p.q[2] -= lowest + random.uniform(-0.01, 0.01);
}

}  // namespace

TEST_CASE("gradients of random steps are those of differences, in every argument") {
  SolverId solver;
  BounceId bounce = BounceId("step");
  SUBCASE("of solved rows") { solver = SolverId("lcp"); }
  SUBCASE("of convex problems") { solver = SolverId("convex"); }
  SUBCASE("of sweeps") { solver = SolverId("pgs"); }
  SUBCASE("of solved rows, by time of impact") {
    solver = SolverId("lcp");
    bounce = BounceId("time_of_impact");
  }
  SUBCASE("of sweeps, by time of impact") {
    solver = SolverId("pgs");
    bounce = BounceId("time_of_impact");
  }
  Counts counts;
  const int trials = repeats(3, 8);
  for (unsigned seed = 0; seed < random_worlds; ++seed) {
    Random random(seed);
    Model model = robot(random, true);
    std::vector<Motor> drives(at(model.n_v));
    for (int i = 1; i < model.n_bodies(); ++i) {
      const Joint& joint = model.joints[i];
      if (joint.n_q != 1) continue;
      if (i % 2)
        drives[joint.v_index] = {random.uniform(5, 50), random.uniform(0.1, 5),
                                 i % 4 == 1 ? random.uniform(0.1, 3) : INFINITY};
      model.limits.q_lower[joint.q_index] = -1;
      model.limits.q_upper[joint.q_index] = 1;
    }
    const bool gives = seed % 4 == 3;
    const PairMaterial material{random.uniform(0.1, 1), gives ? 0.0 : seed % 2 ? 0.1 : 0.5,
                                seed % 3 ? 0.0 : 0.02,  seed % 4 ? 0.0 : 0.01,
                                gives ? 1e-3 : 0.0,     gives ? 0.02 : 0.0};
    const StepWorld w(std::move(model), material, true, drives);
    const Model& m = w.model;
    StepOptions options;
    options.dt = 0.01;
    options.margin = 0.02;
    options.limit_margin = 0.05;
    options.solver = solver;
    options.solver_options.sweeps = 8;
    options.bounce = bounce;
    options.integrator = IntegratorId::all()[seed % IntegratorId::size];
    for (int trial = 0; trial < trials; ++trial) {
      Point p{random.configuration(m), random.numbers(m.n_v), random.numbers(m.n_v, 5),
              random.configuration(m), random.numbers(m.n_v)};
      put_on_floor(w, p, random);
      check_gradients(w, options, p, random, counts);
    }
  }
  MESSAGE(counts.compared, " compared, ", counts.switched, " with switches, ", counts.one_sided,
          " one-sided; ", counts.contacts, " contacts, ", counts.sliding, " sliding, ",
          counts.sticking, " sticking, ", counts.impacts, " impacts, ", counts.bounces,
          " coupled; worst ", counts.worst);
  CHECK(counts.compared > 50 * trials / 3 * static_cast<int>(random_worlds));
  CHECK((counts.impacts > repeats(0, 5)) == (bounce == BounceId("time_of_impact")));
  CHECK(counts.sliding > repeats(2, 10));
  CHECK(counts.sticking > repeats(0, 5));
}

TEST_CASE("gradients of closed loops are those of differences, in every argument") {
  StepOptions options;
  options.dt = 0.01;
  options.margin = 0.02;
  options.limit_margin = 0.05;
  options.solver_options.sweeps = 8;
  SUBCASE("of solved rows") { options.solver = SolverId("lcp"); }
  SUBCASE("of convex problems, by time of impact") {
    options.solver = SolverId("convex");
    options.bounce = BounceId("time_of_impact");
  }
  SUBCASE("of sweeps") {
    options.solver = SolverId("pgs");
    options.bounce = BounceId("step");
  }
  const PairMaterial material{0.6, 0.3, 0.02, 0};
  Counts counts;
  for (unsigned seed = 0; seed < random_worlds / 4; ++seed) {
    Random random(seed);
    const Model model = robot(random, true);
    const StepWorld open(model, material);
    Point p{random.configuration(model), random.numbers(model.n_v), random.numbers(model.n_v, 5),
            random.configuration(model), random.numbers(model.n_v)};
    put_on_floor(open, p, random);
    Data<double> data(model);
    forward_kinematics(model, data, p.q.data());
    // Closures of frames that are slightly apart, one of them with the world, and two equalities of
    // joints.
    Closures closures;
    const auto hold = [&](int a, int b, bool is_weld) {
      FrameClosure c;
      c.name = message("closure", closures.frames.size());
      c.a = a;
      c.b = b;
      c.is_weld = is_weld;
      c.X_AF = random.pose();
      const double twist[] = {random.uniform(-0.01, 0.01), random.uniform(-0.01, 0.01),
                              random.uniform(-0.01, 0.01), 0.03,
                              random.uniform(-0.05, 0.05), -0.01};
      c.X_BG = moved_along(data.X_WB[b].inverse() * data.X_WB[a] * c.X_AF, twist);
      closures.frames.push_back(c);
    };
    const int last = model.n_bodies() - 1;
    hold(1, last, seed % 2);
    hold(last - 1, 0, false);
    closures.frames.back().is_held[seed % 3] = false;
    std::vector<const Joint*> single;
    for (const Joint& joint : model.joints)
      if (joint.n_q == 1) single.push_back(&joint);
    const auto position = [&](int i) { return p.q[single[i]->q_index]; };
    JointEquality law{"law", single[0]->v_index, single[1]->v_index, {0, 0.7, -0.2, 0.1, 0.05}};
    law.coefficients[0] = position(1) - law.at(position(0)).value + 0.02;
    closures.joints = {law, {"held", -1, single[2]->v_index, {position(2) - 0.03, 0, 0, 0, 0}}};
    const StepWorld w(model, material, true, {}, Shape::half_space(), closures);
    for (int trial = 0; trial < 3; ++trial) {
      check_gradients(w, options, p, random, counts);
      p.v = random.numbers(model.n_v);
    }
  }
  MESSAGE(counts.compared, " compared, ", counts.switched, " with switches, ", counts.one_sided,
          " one-sided; ", counts.contacts, " contacts; worst ", counts.worst);
  CHECK(counts.compared > 15 * static_cast<int>(random_worlds));
}

TEST_CASE("gradients of joints that follow others are those of differences") {
  StepOptions options;
  options.dt = 0.01;
  options.margin = 0.02;
  options.limit_margin = 0.05;
  options.solver_options.sweeps = 8;
  SUBCASE("of solved rows") { options.solver = SolverId("lcp"); }
  SUBCASE("of sweeps") { options.solver = SolverId("pgs"); }
  Counts counts;
  for (unsigned seed = 0; seed < random_worlds / 2; ++seed) {
    Random random(200 + seed);
    // Mimic joints below their source, and in another branch.
    struct Row {
      const char *name, *parent, *kind, *source;
      double ratio;
    };
    const Row rows[] = {{"a", "l0", "revolute", "", 0},
                        {"b", "a", "revolute", "ja", -0.7},
                        {"c", "l0", "prismatic", "ja", 0.3},
                        {"d", "b", "revolute", "", 0}};
    ModelBuilder builder("followers", true);
    builder.add_link("l0", random.inertia());
    builder.add_collider("l0", Shape::box({0.1, 0.15, 0.1}), random.pose(), "c");
    for (const Row& row : rows) {
      builder.add_link(row.name, random.inertia());
      JointSpec joint;
      joint.name = message("j", row.name);
      joint.kind = row.kind;
      joint.parent = row.parent;
      joint.child = row.name;
      joint.X_PJ = random.pose();
      joint.axis = random.vec3();
      joint.damping = random.uniform(0, 1);
      joint.friction = random.uniform(0, 0.5);
      joint.armature = 0.05;
      if (*row.source) joint.mimic = MimicSpec{row.source, row.ratio, 0.1};
      builder.add_joint(joint);
      builder.add_collider(row.name, Shape::capsule(0.1, 0.2), random.pose(), "c");
    }
    Model model = builder.build({});
    const int driven = 6;  // behind the floating base
    REQUIRE(model.joints[2].v_index == driven);
    std::vector<Motor> motors(at(model.n_v));
    motors[driven] = {20, 1};
    const StepWorld w(std::move(model), {0.5, 0.3}, true, motors);
    const Model& m = w.model;
    for (int trial = 0; trial < 6; ++trial) {
      Point p{random.configuration(m), random.numbers(m.n_v), random.numbers(m.n_v, 5),
              random.configuration(m), random.numbers(m.n_v)};
      put_on_floor(w, p, random);
      check_gradients(w, options, p, random, counts);
    }
  }
  MESSAGE(counts.compared, " compared, ", counts.switched, " with switches, ", counts.one_sided,
          " one-sided; ", counts.contacts, " contacts, ", counts.sliding, " sliding, ",
          counts.sticking, " sticking; worst ", counts.worst);
  CHECK(counts.compared > 20 * static_cast<int>(random_worlds));
}

TEST_CASE(
    "gradients of boxes that rest, slide, spin and stand on each other are those of differences") {
  SolverId solver;
  SUBCASE("of solved rows") { solver = SolverId("lcp"); }
  SUBCASE("of convex problems") { solver = SolverId("convex"); }
  SUBCASE("of sweeps") { solver = SolverId("pgs"); }
  Counts counts;
  const FreeBody box = free_box(2, {0.2, 0.3, 0.1}), small = free_box(0.5, {0.1, 0.1, 0.1});
  const Numbers still(12, 0.0);
  const int seeds = repeats(2, 8);
  struct Scenario {
    const char* name;
    Numbers v;
    double erp;
    Vec3d gravity;
  };
  const Scenario scenarios[] = {
      {"at rest", still, 0.2, {0, 0, -9.8}},
      {"pushed together", {0, 0, -0.1, 0.1, 0.2, 0, 0, 0, -0.2, 0, 0, 0}, 0.2, {0, 0, -9.8}},
      {"on an incline", still, 0.2, {1, 0.5, -9.8}},
      {"sliding", {1, 0.4, 0, 0, 0, 0, 1.5, 0.3, 0, 0, 0, 0}, 0.2, {0, 0, -9.8}},
      {"sliding and spinning", {1, 0.4, 0, 0, 0, 2, 1.2, 0.3, 0, 0, 0, -3}, 0.2, {0, 0, -9.8}}};
  for (const Scenario& scenario : scenarios) {
    for (int seed = 0; seed < seeds; ++seed) {
      Random random(static_cast<unsigned>(100 + seed));
      Model model = free_bodies({box, small});
      model.gravity = scenario.gravity;
      const PairMaterial material{0.5, 0.1};
      const StepWorld w(std::move(model), material);
      StepOptions options;
      options.dt = 0.005;
      options.erp = scenario.erp;
      options.solver = solver;
      // The small box is on the other one, rotated and off center, so that no corner touches an
      // edge. Half of the pairs are slightly separated or overlapping.
      const double turn = random.uniform(0.2, 0.6), off = seed % 2 ? 1e-4 : 0;
      Point p{{0.1, 0.2, 0.1 + random.uniform(-off, off), 0, 0, 0, 1, 0.15, 0.22,
               0.3 + random.uniform(-off, off), 0, 0, std::sin(turn), std::cos(turn)},
              scenario.v,
              Numbers(12, 0.0),
              Numbers(14, 0.0),
              Numbers(12, 0.0)};
      check_gradients(w, options, p, random, counts);
    }
  }
  MESSAGE(counts.compared, " compared, ", counts.switched, " with switches, ", counts.one_sided,
          " one-sided; ", counts.contacts, " contacts, ", counts.sliding, " sliding, ",
          counts.sticking, " sticking; worst ", counts.worst);
  CHECK(counts.contacts == 5 * seeds * 8);
  CHECK(counts.compared > 150 * seeds / 8);
}

// Gradients of steps of bodies with many shapes, on triangles, and with respect to vertices of
// meshes, equal differences.
#include "count_allocations.h"
#include "step_differences.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

// Hull of points on an ellipsoid, in general position: all its faces are triangles.
Shape gem(Random& random, int vertices, double rounding) {
  std::vector<Vec3d> points(at(vertices));
  for (Vec3d& p : points) {
    do p = random.vec3();
    while (norm(p) < 0.1);
    p *= 1 / norm(p);
    p = {0.15 * p.x, 0.2 * p.y, 0.12 * p.z};
  }
  return Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(points)), rounding);
}

// A square of 0.9 m with a corner at the origin, with a roughness of 3 cm, over a point far below.
std::shared_ptr<const TriangleSurface> rough_ground(Random& random) {
  constexpr int n = 7;
  std::vector<Vec3d> vertices;
  std::vector<std::array<int, 3>> faces;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      vertices.push_back({0.15 * i, 0.15 * j, random.uniform(-0.03, 0.03)});
  vertices.push_back({0.45, 0.45, -1});
  const auto place = [](int i, int j) { return n * i + j; };
  for (int i = 0; i + 1 < n; ++i)
    for (int j = 0; j + 1 < n; ++j) {
      faces.push_back({place(i, j), place(i + 1, j), place(i + 1, j + 1)});
      faces.push_back({place(i, j), place(i + 1, j + 1), place(i, j + 1)});
    }
  for (int i = 0; i + 1 < n; ++i) {
    const int along[][2] = {{place(i, 0), place(i + 1, 0)},
                            {place(n - 1, i), place(n - 1, i + 1)},
                            {place(i + 1, n - 1), place(i, n - 1)},
                            {place(0, i + 1), place(0, i)}};
    for (const auto& [a, b] : along) faces.push_back({b, a, n * n});
  }
  return std::make_shared<TriangleMesh>(vertices, faces);
}

// Lower each free body until it is within 5 mm of its first contact: the floor or an earlier body.
void put_on_each_other(const StepWorld& w, Point& p, Random& random) {
  SceneQuery query(*w.scene);
  const int n = static_cast<int>(w.model.colliders.size());
  for (int i = 0; i < n; ++i) {
    p.q[7 * i] = random.uniform(-0.05, 0.05);
    p.q[7 * i + 1] = random.uniform(-0.05, 0.05);
    double& height = p.q[7 * i + 2];
    height = 5 + i;
    const auto gap = [&] {
      query.place(p.q.data());
      const Shape& shape = w.scene->object(i).geometry.shape;
      const double above_floor =
          signed_distance(Shape::half_space(), SE3d(), shape, query.X_WO(i)).distance;
      if (i == 0) return above_floor;
      return std::min(above_floor, signed_distance(w.scene->object(i - 1).geometry.shape,
                                                   query.X_WO(i - 1), shape, query.X_WO(i))
                                       .distance);
    };
    // Convex, so that it never goes too far.
    for (int k = 0; k < 200 && gap() > 1e-6; ++k) height -= gap();
    height -= random.uniform(-0.005, 0.005);
  }
}

// Rotate each free mesh until one of its faces points down, up to a hundredth.
void turn_faces_down(const StepWorld& w, Point& p, Random& random) {
  for (std::size_t i = 0; i < w.model.colliders.size(); ++i) {
    const ConvexMesh& mesh = *w.model.colliders[i].geometry.shape.mesh;
    const std::vector<Vec3d>& x = mesh.vertices;
    const auto& [a, b, c] = mesh.faces[0];
    const Vec3d outward = cross(x[b] - x[a], x[c] - x[a]), down{0, 0, -1};
    const Vec3d axis = cross(outward, down),
                tilt{random.uniform(-0.01, 0.01), random.uniform(-0.01, 0.01), 0};
    const double angle = std::atan2(norm(axis), dot(outward, down));
    const Quaternion<double> turn =
        exp_quaternion(tilt) * exp_quaternion(angle / norm(axis) * axis);
    const double quaternion[] = {turn.vec.x, turn.vec.y, turn.vec.z, turn.w};
    std::copy(std::begin(quaternion), std::end(quaternion), &p.q[7 * i + 3]);
  }
}

}  // namespace

TEST_CASE(
    "gradients of bodies that touch by many shapes, on many triangles, are those of differences") {
  SolverId solver;
  BounceId bounce = BounceId("step");
  SUBCASE("of solved rows") { solver = SolverId("lcp"); }
  SUBCASE("of convex problems") { solver = SolverId("convex"); }
  SUBCASE("of sweeps") { solver = SolverId("pgs"); }
  SUBCASE("of solved rows, by time of impact") { bounce = BounceId("time_of_impact"); }
  Counts counts;
  int most_manifolds = 0;
  for (unsigned seed = 0; seed < random_worlds / 2; ++seed) {
    Random random(500 + seed);
    const CollisionGeometry ground(std::make_shared<const Compound>(rough_ground(random)));
    // Two bodies of three shapes each.
    ModelBuilder builder("bodies", false);
    builder.add_link("base", Inertia());
    const Shape shapes[] = {Shape::sphere(0.08),
                            Shape::capsule(0.05, 0.08),
                            Shape::box({0.05, 0.08, 0.06}),
                            Shape::ellipsoid({0.06, 0.08, 0.1}),
                            Shape::box({0.05, 0.04, 0.06}, 0.03),
                            Shape::cylinder(0.07, 0.05)};
    for (int i = 0; i < 2; ++i) {
      const std::string name = message("body", i);
      builder.add_link(name, random.inertia());
      JointSpec joint;
      joint.name = message("free", i);
      joint.kind = "floating";
      joint.parent = "base";
      joint.child = name;
      builder.add_joint(joint);
      for (int k = 0; k < 3; ++k)
        builder.add_collider(name, shapes[(3 * i + k) % 6], SE3d(random.pose().R, random.vec3(0.1)),
                             message("shape", k));
    }
    const PairMaterial material{random.uniform(0.1, 1), seed % 2 ? 0.0 : 0.4, seed % 3 ? 0.0 : 0.02,
                                seed % 4 ? 0.0 : 0.01};
    const StepWorld w(builder.build({}), material, true, {}, ground);
    const Model& m = w.model;
    StepOptions options;
    options.dt = 0.01;
    options.margin = 0.02;
    options.solver = solver;
    options.solver_options.sweeps = 8;
    options.bounce = bounce;
    for (int trial = 0; trial < 4; ++trial) {
      Point p{random.configuration(m), random.numbers(m.n_v), random.numbers(m.n_v, 5),
              random.configuration(m), random.numbers(m.n_v)};
      SceneQuery query(*w.scene);
      for (const std::size_t body : {0u, 1u}) {  // lowered until they touch
        const double x[] = {random.uniform(0.3, 0.6), random.uniform(0.3, 0.6),
                            1.0 + static_cast<double>(body)};
        std::copy(std::begin(x), std::end(x), &p.q[7 * body]);
        if (body == 0) p.q[7 + 2] = 5;
        for (int k = 0; k < 200; ++k) {
          query.place(p.q.data());
          const double apart = query.closest().witness.distance;
          if (!(apart > 1e-6)) break;
          p.q[7 * body + 2] -= apart;
        }
        p.q[7 * body + 2] -= body == 0 ? 0.003 : 0.002;
        if (body == 0) p.q[2] += 0.0015;  // so that its contact does not limit the other's
      }
      check_gradients(w, options, p, random, counts);
      std::vector<SceneQuery::PairManifold> found;
      query.place(p.q.data());
      query.manifolds(options.margin, found);
      int count[3] = {};  // between the bodies, and of each with the ground
      for (const auto& pair : found) {
        const int a = w.scene->object(pair.a).body, b = w.scene->object(pair.b).body;
        ++count[std::min(a, b) > 0 ? 0 : std::max(a, b)];
      }
      most_manifolds = std::max({most_manifolds, count[0], count[1], count[2]});
    }
  }
  MESSAGE(counts.compared, " compared, ", counts.switched, " with switches, ", counts.one_sided,
          " one-sided; ", counts.contacts, " contacts, ", counts.sliding, " sliding, ",
          counts.sticking, " sticking, ", counts.impacts, " impacts, up to ", most_manifolds,
          " manifolds of two bodies; worst ", counts.worst);
  CHECK(counts.compared > 20 * static_cast<int>(random_worlds));
  CHECK(counts.contacts > 4 * static_cast<int>(random_worlds));
  CHECK(most_manifolds >= 3);
}

TEST_CASE("gradients by the vertices of convex meshes are those of differences") {
  SolverId solver;
  BounceId bounce = BounceId("step");
  SUBCASE("of solved rows") { solver = SolverId("lcp"); }
  SUBCASE("of convex problems") { solver = SolverId("convex"); }
  SUBCASE("of sweeps") { solver = SolverId("pgs"); }
  SUBCASE("of convex problems, by time of impact") {
    solver = SolverId("convex");
    bounce = BounceId("time_of_impact");
  }
  SUBCASE("of sweeps, by time of impact") {
    solver = SolverId("pgs");
    bounce = BounceId("time_of_impact");
  }
  Counts counts;
  for (unsigned seed = 0; seed < random_worlds / 2; ++seed) {
    // Tetrahedra and gems, sharp and rounded, next to each other and on each other.
    Random random(300 + seed);
    std::vector<FreeBody> bodies;
    for (int i = 0; i < 3; ++i)
      bodies.push_back(
          {gem(random, i == 0 ? 4 : 12, (seed + at(i)) % 2 ? 0.01 : 0.0), random.inertia()});
    const PairMaterial material{random.uniform(0.1, 1), seed % 2 ? 0.0 : 0.4, seed % 3 ? 0.0 : 0.02,
                                0};
    const StepWorld w(free_bodies(bodies), material);
    const Model& m = w.model;
    StepOptions options;
    options.dt = 0.01;
    options.margin = 0.02;
    options.solver = solver;
    options.solver_options.sweeps = 8;
    options.bounce = bounce;
    for (int trial = 0; trial < 4; ++trial) {
      Point p{random.configuration(m), random.numbers(m.n_v), random.numbers(m.n_v, 5),
              random.configuration(m), random.numbers(m.n_v)};
      if (trial % 2) turn_faces_down(w, p, random);
      put_on_each_other(w, p, random);
      check_gradients(w, options, p, random, counts);
    }
  }
  MESSAGE(counts.compared, " compared, ", counts.switched, " with switches, ", counts.one_sided,
          " one-sided; ", counts.contacts, " contacts, ", counts.on_faces, " on faces, ",
          counts.edges, " of edges, ", counts.sliding, " sliding, ", counts.sticking, " sticking, ",
          counts.impacts, " impacts; worst ", counts.worst);
  CHECK(counts.compared > 40 * static_cast<int>(random_worlds));
  CHECK(counts.on_faces >= static_cast<int>(random_worlds) / 2);
  CHECK(counts.edges >= static_cast<int>(random_worlds) / 2);
  CHECK((counts.impacts > 0) == (bounce == BounceId("time_of_impact")));
}

TEST_CASE("gradients by vertices take no memory after the first one") {
  Random random(7);
  const StepWorld w(free_bodies({{gem(random, 12, 0), random.inertia()},
                                 {gem(random, 12, 0.01), random.inertia()}}),
                    {0.5, 0.2});
  const Model& m = w.model;
  Point p{random.configuration(m), random.numbers(m.n_v), Numbers(at(m.n_v), 0.0),
          random.configuration(m), Numbers(at(m.n_v), 0.0)};
  put_on_each_other(w, p, random);
  for (const SolverId solver : SolverId::all()) {
    StepOptions options;
    options.dt = 0.01;
    options.margin = 0.02;
    options.solver = solver;
    options.solver_options.sweeps = 8;
    Stepper stepper(*w.world, options);
    Numbers q_next(p.q), v_next(p.v), q_rate(p.v), v_rate(p.v);
    const Numbers bar = random.numbers(m.n_v);
    StepGradient g;
    StepJacobians J;
    const auto all = [&] {
      stepper.step({p.q.data(), p.v.data()}, p.control(), {q_next.data(), v_next.data()});
      stepper.vjp({p.q.data(), p.v.data()}, p.control(), {bar.data(), bar.data()}, g);
      stepper.jacobians({p.q.data(), p.v.data()}, p.control(), J.resize(stepper.world().model()));
      stepper.jvp({p.q.data(), p.v.data()}, p.control(), g, {q_rate.data(), v_rate.data()});
    };
    all();  // buffers are exchanged
    CHECK(allocations_when_repeated(all) == 0);
    CHECK(g.parameters.vertices.rows().size() >= 4);
  }
}

TEST_CASE("steps on rough ground take no memory after the first one, nor do their gradients") {
  Random random(5);
  const CollisionGeometry ground(std::make_shared<const Compound>(rough_ground(random)));
  const StepWorld w(free_bodies({free_box(2, {0.2, 0.15, 0.1})}), {0.5}, true, {}, ground);
  for (const SolverId solver : SolverId::all()) {
    StepOptions options;
    options.dt = 0.01;
    options.margin = 0.05;
    options.solver = solver;
    options.solver_options.sweeps = 8;
    Stepper stepper(*w.world, options);
    const Numbers q{0.45, 0.45, 0.13, 0, 0, 0, 1}, v(6, 0.0), bar(6, 1.0);
    Numbers q_next(q), v_next(v);
    StepGradient g;
    StepReport report;
    const auto all = [&] {
      report = stepper.step({q.data(), v.data()}, {}, {q_next.data(), v_next.data()});
      stepper.vjp({q.data(), v.data()}, {}, {bar.data(), bar.data()}, g);
    };
    all();
    all();
    CHECK(allocations_when_repeated(all) == 0);
    CHECK(report.manifolds >= 4);
  }
}

TEST_CASE(
    "gradients after Jacobians, which know nothing of shapes and of what stands still, are the "
    "same to the bit, and so are Jacobians after gradients") {
  Random random(9);
  for (const Shape& ground : {Shape::half_space(), Shape::box({2, 2, 1})}) {
    const StepWorld w(free_bodies({{gem(random, 12, 0.01), random.inertia()},
                                   {Shape::capsule(0.1, 0.2), random.inertia()}}),
                      {0.5, 0.2}, true, {}, ground);
    const Model& m = w.model;
    for (const SolverId solver : SolverId::all()) {
      StepOptions options;
      options.dt = 0.01;
      options.margin = 0.5;
      options.solver = solver;
      options.solver_options.sweeps = 8;
      options.bounce = BounceId("step");
      int different = 0, of_the_ground = 0;
      for (int trial = 0; trial < 8; ++trial) {
        Point p{random.configuration(m), random.numbers(m.n_v), random.numbers(m.n_v),
                random.configuration(m), Numbers(at(m.n_v), 0.0)};
        put_on_each_other(w, p, random);
        const Numbers bar = random.numbers(m.n_v);
        const auto derived = [&](bool jacobians_first, StepGradient& g, StepJacobians& J) {
          Stepper stepper(*w.world, options);
          Numbers q_next(p.q), v_next(p.v);
          stepper.step({p.q.data(), p.v.data()}, p.control(), {q_next.data(), v_next.data()});
          const auto jacobians = [&] {
            stepper.jacobians({p.q.data(), p.v.data()}, p.control(), J.resize(m));
          };
          if (jacobians_first) jacobians();
          stepper.vjp({p.q.data(), p.v.data()}, p.control(), {bar.data(), bar.data()}, g);
          if (!jacobians_first) jacobians();
        };
        StepGradient g[2];
        StepJacobians J[2];
        derived(true, g[0], J[0]);
        derived(false, g[1], J[1]);
        for_each_number(
            [&](double a, double b) { different += !(a == b || (std::isnan(a) && std::isnan(b))); },
            g[0], g[1]);
        different += J[0].q != J[1].q || J[0].v != J[1].v || J[0].tau != J[1].tau;
        for (std::size_t i = 0; i < at(w.world->parameters().owners("pose")); ++i)
          of_the_ground += w.world->scene().object(static_cast<int>(i)).body == 0 &&
                           g[0].parameters.of("pose", static_cast<int>(i))[2] != 0;
      }
      CHECK(different == 0);
      CHECK(of_the_ground > 0);
    }
  }
}

TEST_CASE("gradients by the vertices of pieces are those of the same shapes by themselves") {
  Random random(11);
  const Shape shapes[] = {gem(random, 9, 0), Shape::box({0.1, 0.1, 0.05}), gem(random, 9, 0.01)};
  const SE3d places[] = {random.pose(), SE3d{random.pose().R, {2, 0, 0}},
                         SE3d{random.pose().R, {-2, 0, 0}}};
  for (const int part : {0, 2}) {
    // As a part of the ground, and alone with the ground's frame at its own.
    std::vector<Compound::Part> parts;
    for (const int i : {0, 1, 2})
      parts.push_back({shapes[i], places[part].inverse() * places[i], 0});
    const Model model = free_bodies({{gem(random, 9, 0), random.inertia()}});
    const StepWorld together(model, {0.5, 0.2}, true, {}, std::make_shared<const Compound>(parts)),
        alone(model, {0.5, 0.2}, true, {}, shapes[part]);
    REQUIRE(together.world->vertices().size() == 27);
    const int row = together.world->vertices().first(1, part);
    REQUIRE(row == (part ? 18 : 9));
    CHECK(together.world->vertices().first(1, 1) == -1);
    StepOptions options;
    options.dt = 0.01;
    options.margin = 0.02;
    Point p{random.configuration(model), random.numbers(6), Numbers(6, 0.0),
            random.configuration(model), Numbers(6, 0.0)};
    p.q[0] = p.q[1] = 0;
    p.q[2] = 0.3;
    for (double gap = 1; gap > 1e-3;) {
      SceneQuery query(*alone.scene);
      query.place(p.q.data());
      gap = signed_distance(shapes[part], SE3d(), model.colliders[0].geometry.shape, query.X_WO(0))
                .distance;
      p.q[2] -= gap - 1e-4;
    }
    const Numbers bar = random.numbers(6);
    StepGradient g[2];
    for (const bool is_alone : {false, true}) {
      Stepper stepper(*(is_alone ? alone : together).world, options);
      Numbers q_next(p.q), v_next(p.v);
      stepper.step({p.q.data(), p.v.data()}, p.control(), {q_next.data(), v_next.data()});
      stepper.vjp({p.q.data(), p.v.data()}, p.control(), {bar.data(), bar.data()}, g[is_alone]);
    }
    REQUIRE(g[1].parameters.vertices.rows().size() >= 2);
    CHECK(g[0].parameters.vertices.rows().size() == g[1].parameters.vertices.rows().size());
    for (int i = 0; i < 18; ++i) {
      const Vec3d found = g[0].parameters.vertices.of(i < 9 ? i : row + i - 9),
                  expected = g[1].parameters.vertices.of(i);
      CHECK(norm(found - expected) <= 1e-9 * (1 + norm(expected)));
    }
  }
}

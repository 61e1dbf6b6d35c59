// Gradients of steps against differences of the steps themselves, wherever classes and features are the same at all points of the
// stencil.
#include <doctest/doctest.h>

#include <functional>

#include "checks.h"
#include "count_allocations.h"
#include "ridders.h"
#include "step/contact_axes.h"
#include "step/step_signature.h"
#include "step_worlds.h"
#include "varied_shapes.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

#ifdef ROBOSIM_SANITIZED
constexpr unsigned random_worlds = 4;  // with sanitizers 16 take five minutes
#else
constexpr unsigned random_worlds = 16;
#endif

// What a step is made from.
struct Point {
  Numbers q, v, tau, q_target, v_target;
  StepControl control() const { return {tau.data(), q_target.data(), v_target.data()}; }
};

std::vector<int> signature(const Stepper& stepper, const StepReport& report) { return step_signature(stepper, report.islands, report.status); }

// Moved by a twist [linear; angular] in its own frame.
SE3d moved_along(const SE3d& X, const double* twist) {
  return X * exp_motion(Motion<double>{{twist[3], twist[4], twist[5]}, {twist[0], twist[1], twist[2]}});
}

struct Counts {
  int compared = 0, switched = 0, one_sided = 0, contacts = 0, sliding = 0, sticking = 0, impacts = 0, bounces = 0, on_faces = 0, edges = 0;
  double worst = 0;
};

// What the world is made of, to be changed: numbers by which each kind of its parameters goes along a direction of its own.
struct Change {
  double materials = 0, motors = 0;
  Model model;
  Closures closures;
};

// The matrices' products with a loss are its gradient, but for rounding: of forces that hold each other in balance a part of 1e-10 or less is left.
void check_jacobians(Stepper& stepper, const Point& point, const Numbers& q_bar, const Numbers& v_bar, const StepGradient& g) {
  StepJacobians J;
  CHECK(stepper.jacobians(point.q.data(), point.v.data(), point.control(), J.resize(stepper.world().model())) == g.is_one_sided);
  Numbers bars(q_bar);
  bars.insert(bars.end(), v_bar.begin(), v_bar.end());
  const auto compare = [&](const char* what, const Numbers& matrix, const Numbers& expected, double usual) {
    INFO(std::string(what));
    double size = usual;
    for (const double x : matrix) size = std::max(size, std::abs(x));
    for (std::size_t c = 0; c < expected.size(); ++c) {
      double sum = 0;
      for (std::size_t r = 0; r < bars.size(); ++r) sum += bars[r] * matrix[r * expected.size() + c];
      CHECK(std::abs(sum - expected[c]) <= 1e-10 * size * static_cast<double>(bars.size()));
    }
  };
  const double dt = stepper.options().dt;
  compare("Jacobian in q", J.q, g.q, 1 / dt);
  compare("Jacobian in v", J.v, g.v, 1);
  compare("Jacobian in tau", J.tau, g.tau, dt);
  compare("Jacobian in q_target", J.q_target, g.q_target, 1);
  compare("Jacobian in v_target", J.v_target, g.v_target, 1);
}

// The product with a direction of every number at once, and of one kind of them at a time, is that of the gradient, for every loss: to rounding.
void check_jvp(Stepper& stepper, const Point& point, const Numbers& q_bar, const Numbers& v_bar, const StepGradient& g) {
  const Model& m = stepper.world().model();
  Random random(static_cast<unsigned>(m.n_v));  // its own: the states that are looked at do not depend on what is checked
  Numbers q_next(at(m.n_v)), v_next(at(m.n_v));
  StepGradient zero = g, all = g;
  for_each_number([](double& x) { x = 0; }, zero);
  for_each_number([&](double& x, double by) { x = std::isfinite(by) ? random.numbers(1)[0] : 0.0; }, all, g);
  all.vertices.clear();
  for (int row = 0; row < stepper.world().vertices().size(); ++row) all.vertices.add(row, random.vec3());  // those that touch nothing, too
  // Of sweeps both see the rows' admittances themselves, which cancel in what they come to.
  const double rounding = stepper.options().solver == RowSolver::pgs ? 1e-9 : 1e-10;
  const auto compare = [&](const char* what, const StepGradient& direction) {
    const bool is_one_sided = stepper.jvp(point.q.data(), point.v.data(), point.control(), direction, q_next.data(), v_next.data());
    CHECK(is_one_sided == g.is_one_sided);
    double expected = 0, size = 1, sum = 0;
    for_each_number([&](double by, double step) { expected += step != 0 ? by * step : 0, size += step != 0 ? std::abs(by * step) : 0; }, g, direction);
    for (std::size_t k = 0; k < q_next.size(); ++k) sum += q_bar[k] * q_next[k] + v_bar[k] * v_next[k];
    INFO(std::string(what));
    CHECK(std::abs(sum - expected) <= rounding * size);
  };
  compare("all", all);
  const auto only = [&](const char* what, auto part_of) {
    StepGradient direction = zero;
    part_of(direction) = part_of(all);
    compare(what, direction);
  };
  only("q", [](auto& x) -> auto& { return x.q; }), only("v", [](auto& x) -> auto& { return x.v; }), only("tau", [](auto& x) -> auto& { return x.tau; });
  only("q_target", [](auto& x) -> auto& { return x.q_target; }), only("v_target", [](auto& x) -> auto& { return x.v_target; });
  only("materials", [](auto& x) -> auto& { return x.materials; }), only("motors", [](auto& x) -> auto& { return x.motors; });
  only("objects", [](auto& x) -> auto& { return x.objects; }), only("vertices", [](auto& x) -> auto& { return x.vertices; });
  only("closures", [](auto& x) -> auto& { return x.closures; }), only("equalities", [](auto& x) -> auto& { return x.equalities; });
  only("mass", [](auto& x) -> auto& { return x.model.mass; }), only("com", [](auto& x) -> auto& { return x.model.com; });
  only("inertia", [](auto& x) -> auto& { return x.model.inertia; }), only("placement", [](auto& x) -> auto& { return x.model.placement; });
  only("armature", [](auto& x) -> auto& { return x.model.armature; }), only("damping", [](auto& x) -> auto& { return x.model.damping; });
  only("dry friction", [](auto& x) -> auto& { return x.model.friction; }), only("stiffness", [](auto& x) -> auto& { return x.model.stiffness; });
  only("spring reference", [](auto& x) -> auto& { return x.model.spring_reference; });
  only("lower limits", [](auto& x) -> auto& { return x.model.q_lower; }), only("upper limits", [](auto& x) -> auto& { return x.model.q_upper; });
  only("gravity", [](auto& x) -> auto& { return x.model.gravity; }), only("dt", [](auto& x) -> auto& { return x.dt; });
}

// Vertices that move together, as a shape does that is moved or grows, are that shape.
void check_vertices_together(const World& world, const StepGradient& g) {
  for (const VertexRows::Mesh& mesh : world.vertices().meshes()) {
    const CollisionGeometry& geometry = world.scene().object(mesh.object).geometry;
    if (geometry.compound) continue;
    const ObjectGradient& object = g.objects[at(mesh.object)];
    Vec3d linear, angular;
    double scale = geometry.shape.rounding * object.size[0], size = 1;
    for (int i = 0; i < mesh.count; ++i) {
      const Vec3d p = geometry.shape.mesh->vertices[at(i)], by = g.vertices.of(mesh.first + i);
      linear += by, angular += cross(p, by), scale += dot(p, by);
      size += norm(by);
    }
    for (int k = 0; k < 3; ++k) {
      CHECK(std::abs(linear[k] - object.pose[k]) <= 1e-11 * size);
      CHECK(std::abs(angular[k] - object.pose[3 + k]) <= 1e-11 * size);
    }
    CHECK(std::abs(scale - object.scale) <= 1e-11 * size);
  }
}

// The same shape with the hull of other vertices, of which all stay its corners.
Shape rebuilt(const Shape& shape, const std::vector<Vec3d>& vertices) {
  const Shape moved = Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(vertices)), shape.rounding);
  REQUIRE(moved.mesh->vertices.size() == vertices.size());
  return moved;
}

// One loss, and its gradient along directions of every argument.
void check_gradients(const StepWorld& w, const StepOptions& options, const Point& point, Random& random, Counts& counts,
                     const std::function<std::unique_ptr<StepWorld>(Change)>& varied) {
  const Model& m = w.model;
  const Numbers q_bar = random.numbers(m.n_v), v_bar = random.numbers(m.n_v);
  Stepper stepper(*w.world, options);
  Numbers q_next(at(m.n_q)), v_next(at(m.n_v));
  const StepReport report = stepper.step(point.q.data(), point.v.data(), point.control(), q_next.data(), v_next.data());
  if (report.status == StepStatus::inconsistent) return;
  counts.contacts += report.contacts;
  for (const SceneQuery::PairManifold& pair : stepper.manifolds()) {
    counts.on_faces += pair.manifold.reference >= 0 && pair.manifold.n_points > 2;
    for (int i = 0; i < pair.manifold.n_points; ++i) {
      const FeatureId(&feature)[2] = pair.manifold.points[i].feature;
      counts.edges += feature[0].kind == FeatureKind::edge && feature[1].kind == FeatureKind::edge;
    }
  }
  for (int i = 0; i < report.islands; ++i) {
    const StepIsland& island = stepper.islands()[i];
    for (std::size_t r = 0; r < island.rows.size(); ++r) {
      counts.impacts += island.rows[r].source == RowSource::normal && island.rows[r].law == NormalLaw::impact && island.solution.f[r] > 0;
      if (island.rows[r].source != RowSource::friction_1) continue;
      counts.sliding += island.solution.classes[r] == RowClass::lower || island.solution.classes[r] == RowClass::upper;
      counts.sticking += island.solution.classes[r] == RowClass::clamping;
    }
  }
  const std::vector<int> here = signature(stepper, report);
  StepGradient g;
  stepper.vjp(point.q.data(), point.v.data(), point.control(), q_bar.data(), v_bar.data(), g);
  counts.bounces += report.coupled_bounces;
  check_jacobians(stepper, point, q_bar, v_bar, g);
  check_jvp(stepper, point, q_bar, v_bar, g);
  check_vertices_together(*w.world, g);
  if (g.is_one_sided && report.coupled_bounces == 0) {  // coupled ones are flagged whatever their derivative
    ++counts.one_sided;
    return;
  }

  Numbers loss_scale(1, 0.0);
  bool same = true;
  const auto loss_in = [&](const World& world, const Point& p, const StepOptions& with) {
    Stepper fresh(world, with);
    Numbers q1(at(m.n_q)), v1(at(m.n_v)), moved(at(m.n_v));
    const StepReport r = fresh.step(p.q.data(), p.v.data(), p.control(), q1.data(), v1.data());
    same &= signature(fresh, r) == here;
    difference(m, q_next.data(), q1.data(), moved.data());
    double sum = 0;
    for (int k = 0; k < m.n_v; ++k) sum += q_bar[at(k)] * moved[at(k)] + v_bar[at(k)] * v1[at(k)];
    return Numbers{sum};
  };
  const auto loss = [&](const World& world, const Point& p) { return loss_in(world, p, options); };
  const auto compare = [&](const char* what, double expected, double size, const std::function<Numbers(double)>& along) {
    // As far as everything goes on as it does: the shorter, the more of a difference is rounding, by 1e-7 where sweeps have gone on for long.
    double difference_ = 0;
    for (const double length : {1e-3, 2e-4, 4e-5}) {
      same = true, difference_ = ridders(along, length)[0];
      if (same) break;
    }
    if (!same) {
      ++counts.switched;
      return;
    }
    ++counts.compared;
    const double scale = std::max({1.0, std::abs(expected), size});
    counts.worst = std::max(counts.worst, std::abs(difference_ - expected) / scale);
    INFO(std::string(what), ": ", expected, " and by differences ", difference_, ", size ", size);
    CHECK(std::abs(difference_ - expected) <= 5e-8 * scale);
  };
  const auto product = [](const Numbers& x, const Numbers& y, double& size) {
    double sum = 0;
    size = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k], size = std::max(size, std::abs(x[k]));
    return sum;
  };
  double size;
  const Numbers dq = random.numbers(m.n_v), dv = random.numbers(m.n_v);
  double expected = product(g.q, dq, size);
  compare("q", expected, size, [&](double h) {
    Point p = point;
    Numbers way(dq);
    for (double& x : way) x *= h;
    integrate(m, point.q.data(), way.data(), p.q.data());
    return loss(*w.world, p);
  });
  const auto moved = [&](const char* what, const Numbers& gradient, Numbers Point::* of) {
    const Numbers d = random.numbers(static_cast<int>(gradient.size()));
    const double sum = product(gradient, d, size);
    compare(what, sum, size, [&](double h) {
      Point p = point;
      for (std::size_t k = 0; k < d.size(); ++k) (p.*of)[k] += h * d[k];
      return loss(*w.world, p);
    });
  };
  moved("v", g.v, &Point::v);
  moved("tau", g.tau, &Point::tau);
  moved("q_target", g.q_target, &Point::q_target);
  moved("v_target", g.v_target, &Point::v_target);
  // All materials together, each of their numbers by its own factor; and all motors.
  const auto [first_a, first_b] = w.world->scene().pairs().front();
  const double bouncing = w.world->material(first_a, first_b).restitution > 0 ? 0.5 : 0;  // zero is where the law begins
  const auto total = [=](const PairMaterial& x) { return x.friction + bouncing * x.restitution + 0.1 * x.torsional_friction + 0.05 * x.rolling_friction; };
  expected = size = 0;
  for (const PairMaterial& x : g.materials) expected += total(x), size = std::max(size, std::abs(total(x)));
  compare("materials", expected, size, [&](double h) { return loss(*varied({h, 0, m, w.world->closures()})->world, point); });
  expected = size = 0;
  for (int k = 0; k < m.n_v; ++k) {
    const Motor& motor = w.world->motor(k);
    if (!motor.is_there()) continue;
    const double x = g.motors[at(k)].position_gain + 0.3 * g.motors[at(k)].velocity_gain + (std::isfinite(motor.limit) ? 0.2 * g.motors[at(k)].limit : 0);
    expected += x, size = std::max(size, std::abs(x));
  }
  compare("motors", expected, size, [&](double h) { return loss(*varied({0, h, m, w.world->closures()})->world, point); });

  // The model's numbers, each kind along a direction.
  const auto model_moves = [&](const char* what, const std::vector<double>& gradient, double step, const std::function<void(Model&, const Numbers&)>& move) {
    const Numbers d = random.numbers(static_cast<int>(gradient.size()));
    const double sum = step * product(gradient, d, size);
    compare(what, sum, step * size, [&](double h) {
      Change change{0, 0, m, w.world->closures()};
      Numbers way(d);
      for (double& x : way) x *= step * h;
      move(change.model, way);
      return loss(*varied(std::move(change))->world, point);
    });
  };
  const auto per_v = [&](const char* what, const std::vector<double>& gradient, std::vector<double> Model::* of, double step) {
    Numbers of_those(gradient);  // what is not there stays so
    for (std::size_t k = 0; k < of_those.size(); ++k)
      if ((m.*of)[k] == 0) of_those[k] = 0;
    model_moves(what, of_those, step, [&](Model& x, const Numbers& d) {
      for (std::size_t k = 0; k < d.size(); ++k)
        if ((x.*of)[k] != 0) (x.*of)[k] += d[k];
    });
  };
  model_moves("mass", g.model.mass, 0.1, [&](Model& x, const Numbers& d) {
    for (std::size_t k = 0; k < d.size(); ++k) x.inertias[k + 1].mass += d[k];
  });
  model_moves("com", g.model.com, 0.1, [&](Model& x, const Numbers& d) {
    for (std::size_t k = 0; k < d.size(); ++k) x.inertias[k / 3 + 1].com[static_cast<int>(k % 3)] += d[k];
  });
  model_moves("inertia", g.model.inertia, 0.1, [&](Model& x, const Numbers& d) {
    for (std::size_t b = 0; 6 * b < d.size(); ++b) {
      const double* t = &d[6 * b];
      x.inertias[b + 1].I_com += Mat3d{{t[0], t[1], t[3]}, {t[1], t[2], t[4]}, {t[3], t[4], t[5]}};
    }
  });
  model_moves("placement", g.model.placement, 1, [&](Model& x, const Numbers& d) {
    for (std::size_t b = 0; 6 * b < d.size(); ++b) {
      x.joints[b + 1].X_PJ = moved_along(x.joints[b + 1].X_PJ, &d[6 * b]);
      x.joints[b + 1].prepare();
    }
  });
  per_v("armature", g.model.armature, &Model::armature, 0.1);
  per_v("damping", g.model.damping, &Model::damping, 1);
  per_v("dry friction", g.model.friction, &Model::friction, 0.1);
  per_v("stiffness", g.model.stiffness, &Model::stiffness, 1);
  per_v("spring reference", g.model.spring_reference, &Model::spring_reference, 1);
  model_moves("lower limits", g.model.q_lower, 1, [&](Model& x, const Numbers& d) {
    for (std::size_t k = 0; k < d.size(); ++k) x.limits.q_lower[k] += d[k];
  });
  model_moves("upper limits", g.model.q_upper, 1, [&](Model& x, const Numbers& d) {
    for (std::size_t k = 0; k < d.size(); ++k) x.limits.q_upper[k] += d[k];
  });
  model_moves("gravity", {g.model.gravity.x, g.model.gravity.y, g.model.gravity.z}, 1,
              [&](Model& x, const Numbers& d) { x.gravity += Vec3d{d[0], d[1], d[2]}; });
  Numbers poses;
  for (std::size_t k = 0; k < m.colliders.size(); ++k) poses.insert(poses.end(), g.objects[k].pose, g.objects[k].pose + 6);
  model_moves("colliders", poses, 1, [&](Model& x, const Numbers& d) {
    for (std::size_t k = 0; 6 * k < d.size(); ++k) x.colliders[k].X_BC = moved_along(x.colliders[k].X_BC, &d[6 * k]);
  });
  // A size of each collider, and all together.
  Numbers sizes, scales;
  const auto is_sharp = [&](std::size_t k) { return m.colliders[k].geometry.shape.mesh && m.colliders[k].geometry.shape.rounding == 0; };
  for (std::size_t k = 0; k < m.colliders.size(); ++k) sizes.push_back(is_sharp(k) ? 0.0 : g.objects[k].size[0]), scales.push_back(g.objects[k].scale);
  model_moves("sizes", sizes, 0.1, [&](Model& x, const Numbers& d) {
    for (std::size_t k = 0; k < d.size(); ++k)
      if (!is_sharp(k)) x.colliders[k].geometry.shape = with_size(x.colliders[k].geometry.shape, 0, d[k]);
  });
  model_moves("scales", scales, 0.1, [&](Model& x, const Numbers& d) {
    for (std::size_t k = 0; k < d.size(); ++k) x.colliders[k].geometry.shape = with_scale(x.colliders[k].geometry.shape, 1 + d[k]);
  });
  // All vertices of the colliders.
  const auto vertices_move = [&](const char* what, const Numbers& gradient) {
    model_moves(what, gradient, 0.1, [&](Model& x, const Numbers& d) {
      for (const VertexRows::Mesh& mesh : w.world->vertices().meshes()) {
        if (at(mesh.object) >= x.colliders.size()) continue;
        Shape& shape = x.colliders[at(mesh.object)].geometry.shape;
        std::vector<Vec3d> vertices = shape.mesh->vertices;
        for (std::size_t i = 0; i < vertices.size(); ++i)
          for (int k = 0; k < 3; ++k) vertices[i][k] += d[3 * (at(mesh.first) + i) + at(k)];
        shape = rebuilt(shape, vertices);
      }
    });
  };
  if (const int rows = w.world->vertices().size(); rows > 0) {
    Numbers vertices;
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < 3; ++k) vertices.push_back(g.vertices.of(row)[k]);
    vertices_move("vertices", vertices);
  }
  // Closures: all frames along a twist each, and all coefficients.
  Numbers frames, coefficients;
  for (const ClosureGradient& c : g.closures) frames.insert(frames.end(), c.F, c.F + 6), frames.insert(frames.end(), c.G, c.G + 6);
  for (const JointEqualityGradient& c : g.equalities) coefficients.insert(coefficients.end(), std::begin(c.coefficients), std::end(c.coefficients));
  const auto closures_move = [&](const char* what, const Numbers& gradient, const std::function<void(Closures&, const Numbers&)>& move) {
    if (gradient.empty()) return;
    const Numbers d = random.numbers(static_cast<int>(gradient.size()));
    const double sum = product(gradient, d, size);
    compare(what, sum, size, [&](double h) {
      Change change{0, 0, m, w.world->closures()};
      Numbers way(d);
      for (double& x : way) x *= h;
      move(change.closures, way);
      return loss(*varied(std::move(change))->world, point);
    });
  };
  closures_move("frames of closures", frames, [](Closures& x, const Numbers& d) {
    for (std::size_t c = 0; c < x.frames.size(); ++c)
      x.frames[c].X_AF = moved_along(x.frames[c].X_AF, &d[12 * c]), x.frames[c].X_BG = moved_along(x.frames[c].X_BG, &d[12 * c + 6]);
  });
  closures_move("coefficients of closures", coefficients, [](Closures& x, const Numbers& d) {
    for (std::size_t k = 0; k < d.size(); ++k) x.joints[k / JointEquality::terms].coefficients[k % JointEquality::terms] += d[k];
  });
  compare("dt", options.dt * g.dt, std::abs(options.dt * g.dt), [&](double h) {
    StepOptions longer = options;
    longer.dt *= 1 + h;
    return loss_in(*w.world, point, longer);
  });
}

// The hull of points on an ellipsoid, in general position: all its faces are triangles.
Shape gem(Random& random, int vertices, double rounding) {
  std::vector<Vec3d> points(at(vertices));
  for (Vec3d& p : points) {
    do p = random.vec3();
    while (norm(p) < 0.1);
    p *= 1 / norm(p), p = {0.15 * p.x, 0.2 * p.y, 0.12 * p.z};
  }
  return Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(points)), rounding);
}

// A square of 0.9 m with a corner at the origin, uneven by 3 cm, on a point far below.
std::shared_ptr<const TriangleSurface> rough_ground(Random& random) {
  constexpr int n = 7;
  std::vector<Vec3d> vertices;
  std::vector<std::array<int, 3>> faces;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) vertices.push_back({0.15 * i, 0.15 * j, random.uniform(-0.03, 0.03)});
  vertices.push_back({0.45, 0.45, -1});
  const auto place = [](int i, int j) { return n * i + j; };
  for (int i = 0; i + 1 < n; ++i)
    for (int j = 0; j + 1 < n; ++j) {
      faces.push_back({place(i, j), place(i + 1, j), place(i + 1, j + 1)});
      faces.push_back({place(i, j), place(i + 1, j + 1), place(i, j + 1)});
    }
  for (int i = 0; i + 1 < n; ++i) {
    const int along[][2] = {{place(i, 0), place(i + 1, 0)}, {place(n - 1, i), place(n - 1, i + 1)}, {place(i + 1, n - 1), place(i, n - 1)}, {place(0, i + 1), place(0, i)}};
    for (const auto& [a, b] : along) faces.push_back({b, a, n * n});
  }
  return std::make_shared<TriangleMesh>(vertices, faces);
}

Model robot(Random& random, bool floating_base) {
  ModelBuilder builder = random_tree("robot", random, {"revolute", "prismatic", "planar", "floating"}, 5, false, floating_base);
  const Shape shapes[] = {Shape::box({0.1, 0.15, 0.1}), Shape::sphere(0.15), Shape::capsule(0.1, 0.2), Shape::cylinder(0.1, 0.1),
                          Shape::ellipsoid({0.1, 0.15, 0.2}), Shape::box({0.05, 0.1, 0.2}, 0.05)};
  for (int i = 0; i <= 5; ++i) builder.add_collider(message("l", i), shapes[i], random.pose(), "c");
  return builder.build({});
}

// Down until the lowest point is at most 1 cm under the floor.
void put_on_floor(const StepWorld& w, Point& p, Random& random) {
  p.q[2] = 5;
  SceneQuery query(*w.scene);
  query.place(p.q.data());
  double lowest = INFINITY;
  for (std::size_t i = 0; i < w.model.colliders.size(); ++i) {
    const int k = static_cast<int>(i);
    lowest = std::min(lowest, signed_distance(Shape::half_space(), SE3d(), w.scene->object(k).geometry.shape, query.X_WO(k)).distance);
  }
  p.q[2] -= lowest + random.uniform(-0.01, 0.01);
}

// Free bodies, each down until it is at most 5 mm in or over what it meets first: the floor or the body before.
void put_on_each_other(const StepWorld& w, Point& p, Random& random) {
  SceneQuery query(*w.scene);
  const int n = static_cast<int>(w.model.colliders.size());
  for (int i = 0; i < n; ++i) {
    p.q[at(7 * i)] = random.uniform(-0.05, 0.05), p.q[at(7 * i + 1)] = random.uniform(-0.05, 0.05);
    double& height = p.q[at(7 * i + 2)];
    height = 5 + i;
    const auto gap = [&] {
      query.place(p.q.data());
      const Shape& shape = w.scene->object(i).geometry.shape;
      const double above_floor = signed_distance(Shape::half_space(), SE3d(), shape, query.X_WO(i)).distance;
      if (i == 0) return above_floor;
      return std::min(above_floor, signed_distance(w.scene->object(i - 1).geometry.shape, query.X_WO(i - 1), shape, query.X_WO(i)).distance);
    };
    // Convex, so that it never goes too far.
    for (int k = 0; k < 200 && gap() > 1e-6; ++k) height -= gap();
    height -= random.uniform(-0.005, 0.005);
  }
}

// Free meshes, each turned until a face of it looks down, but for a hundredth.
void turn_faces_down(const StepWorld& w, Point& p, Random& random) {
  for (std::size_t i = 0; i < w.model.colliders.size(); ++i) {
    const ConvexMesh& mesh = *w.model.colliders[i].geometry.shape.mesh;
    const std::vector<Vec3d>& x = mesh.vertices;
    const auto& [a, b, c] = mesh.faces[0];
    const Vec3d outward = cross(x[at(b)] - x[at(a)], x[at(c)] - x[at(a)]), down{0, 0, -1};
    const Vec3d axis = cross(outward, down), tilt{random.uniform(-0.01, 0.01), random.uniform(-0.01, 0.01), 0};
    const double angle = std::atan2(norm(axis), dot(outward, down));
    const Quaternion<double> turn = exp_quaternion(tilt) * exp_quaternion(angle / norm(axis) * axis);
    const double quaternion[] = {turn.vec.x, turn.vec.y, turn.vec.z, turn.w};
    std::copy(std::begin(quaternion), std::end(quaternion), &p.q[7 * i + 3]);
  }
}

}  // namespace

TEST_CASE("gradients of random steps are those of differences, in every argument") {
  RowSolver solver{};
  Bounce bounce = Bounce::step;
  SUBCASE("of solved rows") { solver = RowSolver::lcp; }
  SUBCASE("of solved rows with discs") { solver = RowSolver::cone; }
  SUBCASE("of sweeps") { solver = RowSolver::pgs; }
  SUBCASE("of solved rows, by time of impact") { solver = RowSolver::lcp, bounce = Bounce::time_of_impact; }
  SUBCASE("of sweeps, by time of impact") { solver = RowSolver::pgs, bounce = Bounce::time_of_impact; }
  Counts counts;
  for (unsigned seed = 0; seed < random_worlds; ++seed) {
    Random random(seed);
    Model model = robot(random, true);
    std::vector<Motor> drives(at(model.n_v));
    for (int i = 1; i < model.n_bodies(); ++i) {
      const Joint& joint = model.joints[at(i)];
      if (joint.n_q != 1) continue;
      if (i % 2) drives[at(joint.v_index)] = {random.uniform(5, 50), random.uniform(0.1, 5), i % 4 == 1 ? random.uniform(0.1, 3) : INFINITY};
      model.limits.q_lower[at(joint.q_index)] = -1, model.limits.q_upper[at(joint.q_index)] = 1;
    }
    const PairMaterial material{random.uniform(0.1, 1), seed % 4 == 3 ? 0.0 : seed % 2 ? 0.1 : 0.5, seed % 3 ? 0.0 : 0.02, seed % 4 ? 0.0 : 0.01};
    const StepWorld w(std::move(model), material, true, drives);
    const Model& m = w.model;
    const auto varied = [&](Change change) {
      const double h = change.materials, k = change.motors;
      PairMaterial x = material;
      x.friction += h;
      if (x.restitution > 0) x.restitution += 0.5 * h;
      if (x.torsional_friction > 0) x.torsional_friction += 0.1 * h;
      if (x.rolling_friction > 0) x.rolling_friction += 0.05 * h;
      std::vector<Motor> motors = drives;
      for (Motor& motor : motors) {
        if (!motor.is_there()) continue;
        motor.position_gain += k, motor.velocity_gain += 0.3 * k;
        if (std::isfinite(motor.limit)) motor.limit += 0.2 * k;
      }
      return std::make_unique<StepWorld>(std::move(change.model), x, true, motors);
    };
    StepOptions options;
    options.dt = 0.01, options.margin = 0.02, options.limit_margin = 0.05;
    options.solver = solver, options.sweeps = 8, options.bounce = bounce;
    for (int trial = 0; trial < 12; ++trial) {
      Point p{random.configuration(m), random.numbers(m.n_v), random.numbers(m.n_v, 5), random.configuration(m), random.numbers(m.n_v)};
      put_on_floor(w, p, random);
      check_gradients(w, options, p, random, counts, varied);
    }
  }
  MESSAGE(counts.compared, " compared, ", counts.switched, " with switches, ", counts.one_sided, " one-sided; ", counts.contacts, " contacts, ",
          counts.sliding, " sliding, ", counts.sticking, " sticking, ", counts.impacts, " impacts, ", counts.bounces, " coupled; worst ", counts.worst);
  CHECK(counts.compared > 200 * static_cast<int>(random_worlds));
  CHECK((counts.impacts > 5) == (bounce == Bounce::time_of_impact));
  CHECK(counts.sliding > 10);
  CHECK(counts.sticking > 5);
}

TEST_CASE("gradients of closed loops are those of differences, in every argument") {
  StepOptions options;
  options.dt = 0.01, options.margin = 0.02, options.limit_margin = 0.05, options.sweeps = 8;
  SUBCASE("of solved rows") { options.solver = RowSolver::lcp; }
  SUBCASE("of solved rows with discs, by time of impact") { options.solver = RowSolver::cone, options.bounce = Bounce::time_of_impact; }
  SUBCASE("of sweeps") { options.solver = RowSolver::pgs; }
  const PairMaterial material{0.6, 0.3, 0.02, 0};
  Counts counts;
  for (unsigned seed = 0; seed < random_worlds / 4; ++seed) {
    Random random(seed);
    const Model model = robot(random, true);
    const StepWorld open(model, material);
    Point p{random.configuration(model), random.numbers(model.n_v), random.numbers(model.n_v, 5), random.configuration(model), random.numbers(model.n_v)};
    put_on_floor(open, p, random);
    Data<double> data(model);
    forward_kinematics(model, data, p.q.data());
    // Frames that are a little apart, one of them of the world; and two laws of coordinates.
    Closures closures;
    const auto hold = [&](int a, int b, bool is_weld) {
      FrameClosure c;
      c.name = message("closure", closures.frames.size()), c.a = a, c.b = b, c.is_weld = is_weld;
      c.X_AF = random.pose();
      const double twist[] = {random.uniform(-0.01, 0.01), random.uniform(-0.01, 0.01), random.uniform(-0.01, 0.01), 0.03, random.uniform(-0.05, 0.05), -0.01};
      c.X_BG = moved_along(data.X_WB[at(b)].inverse() * data.X_WB[at(a)] * c.X_AF, twist);
      closures.frames.push_back(c);
    };
    const int last = model.n_bodies() - 1;
    hold(1, last, seed % 2);
    hold(last - 1, 0, false);
    closures.frames.back().is_held[seed % 3] = false;
    std::vector<const Joint*> single;
    for (const Joint& joint : model.joints)
      if (joint.n_q == 1) single.push_back(&joint);
    const auto position = [&](int i) { return p.q[at(single[at(i)]->q_index)]; };
    JointEquality law{"law", single[0]->v_index, single[1]->v_index, {0, 0.7, -0.2, 0.1, 0.05}};
    law.coefficients[0] = position(1) - law.at(position(0)).value + 0.02;
    closures.joints = {law, {"held", -1, single[2]->v_index, {position(2) - 0.03, 0, 0, 0, 0}}};
    const auto world_of = [&](Change change) {
      PairMaterial x = material;
      x.friction += change.materials, x.restitution += 0.5 * change.materials, x.torsional_friction += 0.1 * change.materials;
      return std::make_unique<StepWorld>(std::move(change.model), x, true, std::vector<Motor>(), Shape::half_space(), std::move(change.closures));
    };
    const auto w = world_of({0, 0, model, closures});
    for (int trial = 0; trial < 3; ++trial) {
      check_gradients(*w, options, p, random, counts, world_of);
      p.v = random.numbers(model.n_v);
    }
  }
  MESSAGE(counts.compared, " compared, ", counts.switched, " with switches, ", counts.one_sided, " one-sided; ", counts.contacts, " contacts; worst ", counts.worst);
  CHECK(counts.compared > 15 * static_cast<int>(random_worlds));
}

TEST_CASE("gradients of joints that follow others are those of differences") {
  StepOptions options;
  options.dt = 0.01, options.margin = 0.02, options.limit_margin = 0.05, options.sweeps = 8;
  SUBCASE("of solved rows") { options.solver = RowSolver::lcp; }
  SUBCASE("of sweeps") { options.solver = RowSolver::pgs; }
  Counts counts;
  for (unsigned seed = 0; seed < random_worlds / 2; ++seed) {
    Random random(200 + seed);
    // Behind the joint that they follow, and beside it.
    struct Row {
      const char *name, *parent, *kind, *source;
      double ratio;
    };
    const Row rows[] = {{"a", "l0", "revolute", "", 0}, {"b", "a", "revolute", "ja", -0.7}, {"c", "l0", "prismatic", "ja", 0.3}, {"d", "b", "revolute", "", 0}};
    ModelBuilder builder("followers", true);
    builder.add_link("l0", random.inertia()), builder.add_collider("l0", Shape::box({0.1, 0.15, 0.1}), random.pose(), "c");
    for (const Row& row : rows) {
      builder.add_link(row.name, random.inertia());
      JointSpec joint;
      joint.name = message("j", row.name), joint.kind = row.kind, joint.parent = row.parent, joint.child = row.name;
      joint.X_PJ = random.pose(), joint.axis = random.vec3();
      joint.damping = random.uniform(0, 1), joint.friction = random.uniform(0, 0.5), joint.armature = 0.05;
      if (*row.source) joint.mimic = MimicSpec{row.source, row.ratio, 0.1};
      builder.add_joint(joint);
      builder.add_collider(row.name, Shape::capsule(0.1, 0.2), random.pose(), "c");
    }
    Model model = builder.build({});
    const int driven = 6;  // behind the floating base
    REQUIRE(model.joints[2].v_index == driven);
    std::vector<Motor> motors(at(model.n_v));
    motors[at(driven)] = {20, 1};
    const StepWorld w(std::move(model), {0.5, 0.3}, true, motors);
    const auto varied = [&](Change change) {
      std::vector<Motor> drives(motors);
      drives[at(driven)].position_gain += change.motors, drives[at(driven)].velocity_gain += 0.3 * change.motors;
      return std::make_unique<StepWorld>(std::move(change.model), PairMaterial{0.5 + change.materials, 0.3 + 0.5 * change.materials}, true, drives);
    };
    const Model& m = w.model;
    for (int trial = 0; trial < 6; ++trial) {
      Point p{random.configuration(m), random.numbers(m.n_v), random.numbers(m.n_v, 5), random.configuration(m), random.numbers(m.n_v)};
      put_on_floor(w, p, random);
      check_gradients(w, options, p, random, counts, varied);
    }
  }
  MESSAGE(counts.compared, " compared, ", counts.switched, " with switches, ", counts.one_sided, " one-sided; ", counts.contacts, " contacts, ",
          counts.sliding, " sliding, ", counts.sticking, " sticking; worst ", counts.worst);
  CHECK(counts.compared > 20 * static_cast<int>(random_worlds));
}

TEST_CASE("gradients of boxes that rest, slide, spin and stand on each other are those of differences") {
  RowSolver solver{};
  SUBCASE("of solved rows") { solver = RowSolver::lcp; }
  SUBCASE("of solved rows with discs") { solver = RowSolver::cone; }
  SUBCASE("of sweeps") { solver = RowSolver::pgs; }
  Counts counts;
  const FreeBody box = free_box(2, {0.2, 0.3, 0.1}), small = free_box(0.5, {0.1, 0.1, 0.1});
  const Numbers still(12, 0.0);
  struct Scenario {
    const char* name;
    Numbers v;
    double erp;
    Vec3d gravity;
  };
  const Scenario scenarios[] = {{"at rest", still, 0.2, {0, 0, -9.8}},
                                {"pushed together", {0, 0, -0.1, 0.1, 0.2, 0, 0, 0, -0.2, 0, 0, 0}, 0.2, {0, 0, -9.8}},
                                {"on an incline", still, 0.2, {1, 0.5, -9.8}},
                                {"sliding", {1, 0.4, 0, 0, 0, 0, 1.5, 0.3, 0, 0, 0, 0}, 0.2, {0, 0, -9.8}},
                                {"sliding and spinning", {1, 0.4, 0, 0, 0, 2, 1.2, 0.3, 0, 0, 0, -3}, 0.2, {0, 0, -9.8}}};
  for (const Scenario& scenario : scenarios) {
    for (unsigned seed = 0; seed < 8; ++seed) {
      Random random(100 + seed);
      Model model = free_bodies({box, small});
      model.gravity = scenario.gravity;
      const PairMaterial material{0.5, 0.1};
      const StepWorld w(std::move(model), material);
      const auto varied = [&](Change change) {
        const double h = change.materials;
        return std::make_unique<StepWorld>(std::move(change.model), PairMaterial{0.5 + h, 0.1 + 0.5 * h});
      };
      StepOptions options;
      options.dt = 0.005, options.erp = scenario.erp, options.solver = solver;
      // The small one on the other, turned and off its middle, so that no corner meets an edge; half of them a little apart or overlapping.
      const double turn = random.uniform(0.2, 0.6), off = seed % 2 ? 1e-4 : 0;
      Point p{{0.1, 0.2, 0.1 + random.uniform(-off, off), 0, 0, 0, 1, 0.15, 0.22, 0.3 + random.uniform(-off, off), 0, 0, std::sin(turn), std::cos(turn)},
              scenario.v, Numbers(12, 0.0), Numbers(14, 0.0), Numbers(12, 0.0)};
      check_gradients(w, options, p, random, counts, varied);
    }
  }
  MESSAGE(counts.compared, " compared, ", counts.switched, " with switches, ", counts.one_sided, " one-sided; ", counts.contacts, " contacts, ",
          counts.sliding, " sliding, ", counts.sticking, " sticking; worst ", counts.worst);
  CHECK(counts.contacts == 5 * 8 * 8);
  CHECK(counts.compared > 150);
}

TEST_CASE("gradients of bodies that touch by many shapes, on many triangles, are those of differences") {
  RowSolver solver{};
  Bounce bounce = Bounce::step;
  SUBCASE("of solved rows") { solver = RowSolver::lcp; }
  SUBCASE("of solved rows with discs") { solver = RowSolver::cone; }
  SUBCASE("of sweeps") { solver = RowSolver::pgs; }
  SUBCASE("of solved rows, by time of impact") { bounce = Bounce::time_of_impact; }
  Counts counts;
  int most_manifolds = 0;
  for (unsigned seed = 0; seed < random_worlds / 2; ++seed) {
    Random random(500 + seed);
    const CollisionGeometry ground(std::make_shared<const Compound>(rough_ground(random)));
    // Two bodies of three shapes each.
    ModelBuilder builder("bodies", false);
    builder.add_link("base", Inertia());
    const Shape shapes[] = {Shape::sphere(0.08), Shape::capsule(0.05, 0.08), Shape::box({0.05, 0.08, 0.06}), Shape::ellipsoid({0.06, 0.08, 0.1}),
                            Shape::box({0.05, 0.04, 0.06}, 0.03), Shape::cylinder(0.07, 0.05)};
    for (int i = 0; i < 2; ++i) {
      const std::string name = message("body", i);
      builder.add_link(name, random.inertia());
      JointSpec joint;
      joint.name = message("free", i), joint.kind = "floating", joint.parent = "base", joint.child = name;
      builder.add_joint(joint);
      for (int k = 0; k < 3; ++k) builder.add_collider(name, shapes[(3 * i + k) % 6], SE3d(random.pose().R, random.vec3(0.1)), message("shape", k));
    }
    const PairMaterial material{random.uniform(0.1, 1), seed % 2 ? 0.0 : 0.4, seed % 3 ? 0.0 : 0.02, seed % 4 ? 0.0 : 0.01};
    const StepWorld w(builder.build({}), material, true, {}, ground);
    const auto varied = [&](Change change) {
      PairMaterial x = material;
      x.friction += change.materials;
      if (x.restitution > 0) x.restitution += 0.5 * change.materials;
      if (x.torsional_friction > 0) x.torsional_friction += 0.1 * change.materials;
      if (x.rolling_friction > 0) x.rolling_friction += 0.05 * change.materials;
      return std::make_unique<StepWorld>(std::move(change.model), x, true, std::vector<Motor>(), ground);
    };
    const Model& m = w.model;
    StepOptions options;
    options.dt = 0.01, options.margin = 0.02, options.solver = solver, options.sweeps = 8, options.bounce = bounce;
    for (int trial = 0; trial < 4; ++trial) {
      Point p{random.configuration(m), random.numbers(m.n_v), random.numbers(m.n_v, 5), random.configuration(m), random.numbers(m.n_v)};
      SceneQuery query(*w.scene);
      for (const std::size_t body : {0u, 1u}) {  // down until they touch
        const double x[] = {random.uniform(0.3, 0.6), random.uniform(0.3, 0.6), 1.0 + static_cast<double>(body)};
        std::copy(std::begin(x), std::end(x), &p.q[7 * body]);
        if (body == 0) p.q[7 + 2] = 5;
        for (int k = 0; k < 200; ++k) {
          query.place(p.q.data());
          const double apart = query.closest().witness.distance;
          if (!(apart > 1e-6)) break;
          p.q[7 * body + 2] -= apart;
        }
        p.q[7 * body + 2] -= body == 0 ? 0.003 : 0.002;
        if (body == 0) p.q[2] += 0.0015;  // so that it does not hide how far the other is
      }
      check_gradients(w, options, p, random, counts, varied);
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
  MESSAGE(counts.compared, " compared, ", counts.switched, " with switches, ", counts.one_sided, " one-sided; ", counts.contacts, " contacts, ",
          counts.sliding, " sliding, ", counts.sticking, " sticking, ", counts.impacts, " impacts, up to ", most_manifolds, " manifolds of two bodies; worst ", counts.worst);
  CHECK(counts.compared > 20 * static_cast<int>(random_worlds));
  CHECK(counts.contacts > 4 * static_cast<int>(random_worlds));
  CHECK(most_manifolds >= 3);
}

TEST_CASE("gradients by the vertices of convex meshes are those of differences") {
  RowSolver solver{};
  Bounce bounce = Bounce::step;
  SUBCASE("of solved rows") { solver = RowSolver::lcp; }
  SUBCASE("of solved rows with discs") { solver = RowSolver::cone; }
  SUBCASE("of sweeps") { solver = RowSolver::pgs; }
  SUBCASE("of solved rows with discs, by time of impact") { solver = RowSolver::cone, bounce = Bounce::time_of_impact; }
  SUBCASE("of sweeps, by time of impact") { solver = RowSolver::pgs, bounce = Bounce::time_of_impact; }
  Counts counts;
  for (unsigned seed = 0; seed < random_worlds / 2; ++seed) {
    // Tetrahedra and gems, sharp and round, beside each other and each in the next one.
    Random random(300 + seed);
    std::vector<FreeBody> bodies;
    for (int i = 0; i < 3; ++i) bodies.push_back({gem(random, i == 0 ? 4 : 12, (seed + at(i)) % 2 ? 0.01 : 0.0), random.inertia()});
    const PairMaterial material{random.uniform(0.1, 1), seed % 2 ? 0.0 : 0.4, seed % 3 ? 0.0 : 0.02, 0};
    const StepWorld w(free_bodies(bodies), material);
    const auto varied = [&](Change change) {
      PairMaterial x = material;
      x.friction += change.materials;
      if (x.restitution > 0) x.restitution += 0.5 * change.materials;
      if (x.torsional_friction > 0) x.torsional_friction += 0.1 * change.materials;
      return std::make_unique<StepWorld>(std::move(change.model), x);
    };
    const Model& m = w.model;
    StepOptions options;
    options.dt = 0.01, options.margin = 0.02, options.solver = solver, options.sweeps = 8, options.bounce = bounce;
    for (int trial = 0; trial < 4; ++trial) {
      Point p{random.configuration(m), random.numbers(m.n_v), random.numbers(m.n_v, 5), random.configuration(m), random.numbers(m.n_v)};
      if (trial % 2) turn_faces_down(w, p, random);
      put_on_each_other(w, p, random);
      check_gradients(w, options, p, random, counts, varied);
    }
  }
  MESSAGE(counts.compared, " compared, ", counts.switched, " with switches, ", counts.one_sided, " one-sided; ", counts.contacts, " contacts, ",
          counts.on_faces, " on faces, ", counts.edges, " of edges, ", counts.sliding, " sliding, ", counts.sticking, " sticking, ", counts.impacts,
          " impacts; worst ", counts.worst);
  CHECK(counts.compared > 40 * static_cast<int>(random_worlds));
  CHECK(counts.on_faces >= static_cast<int>(random_worlds) / 2);
  CHECK(counts.edges >= static_cast<int>(random_worlds) / 2);
  CHECK((counts.impacts > 0) == (bounce == Bounce::time_of_impact));
}

TEST_CASE("gradients by vertices take no memory after the first one") {
  Random random(7);
  const StepWorld w(free_bodies({{gem(random, 12, 0), random.inertia()}, {gem(random, 12, 0.01), random.inertia()}}), {0.5, 0.2});
  const Model& m = w.model;
  Point p{random.configuration(m), random.numbers(m.n_v), Numbers(at(m.n_v), 0.0), random.configuration(m), Numbers(at(m.n_v), 0.0)};
  put_on_each_other(w, p, random);
  for (const RowSolver solver : {RowSolver::lcp, RowSolver::cone, RowSolver::pgs}) {
    StepOptions options;
    options.dt = 0.01, options.margin = 0.02, options.solver = solver, options.sweeps = 8;
    Stepper stepper(*w.world, options);
    Numbers q_next(p.q), v_next(p.v), q_rate(p.v), v_rate(p.v);
    const Numbers bar = random.numbers(m.n_v);
    StepGradient g;
    StepJacobians J;
    const auto all = [&] {
      stepper.step(p.q.data(), p.v.data(), p.control(), q_next.data(), v_next.data());
      stepper.vjp(p.q.data(), p.v.data(), p.control(), bar.data(), bar.data(), g);
      stepper.jacobians(p.q.data(), p.v.data(), p.control(), J.resize(stepper.world().model()));
      stepper.jvp(p.q.data(), p.v.data(), p.control(), g, q_rate.data(), v_rate.data());
    };
    all();  // buffers change places
    CHECK(allocations_when_repeated(all) == 0);
    CHECK(g.vertices.rows().size() >= 4);
  }
}

TEST_CASE("steps on rough ground take no memory after the first one, nor do their gradients") {
  Random random(5);
  const CollisionGeometry ground(std::make_shared<const Compound>(rough_ground(random)));
  const StepWorld w(free_bodies({free_box(2, {0.2, 0.15, 0.1})}), {0.5}, true, {}, ground);
  for (const RowSolver solver : {RowSolver::lcp, RowSolver::cone, RowSolver::pgs}) {
    StepOptions options;
    options.dt = 0.01, options.margin = 0.05, options.solver = solver, options.sweeps = 8;
    Stepper stepper(*w.world, options);
    const Numbers q{0.45, 0.45, 0.13, 0, 0, 0, 1}, v(6, 0.0), bar(6, 1.0);
    Numbers q_next(q), v_next(v);
    StepGradient g;
    StepReport report;
    const auto all = [&] {
      report = stepper.step(q.data(), v.data(), {}, q_next.data(), v_next.data());
      stepper.vjp(q.data(), v.data(), {}, bar.data(), bar.data(), g);
    };
    all(), all();
    CHECK(allocations_when_repeated(all) == 0);
    CHECK(report.manifolds >= 4);
  }
}

TEST_CASE("gradients by the vertices of pieces are those of the same shapes by themselves") {
  Random random(11);
  const Shape shapes[] = {gem(random, 9, 0), Shape::box({0.1, 0.1, 0.05}), gem(random, 9, 0.01)};
  const SE3d places[] = {random.pose(), SE3d{random.pose().R, {2, 0, 0}}, SE3d{random.pose().R, {-2, 0, 0}}};
  for (const int part : {0, 2}) {
    // As a part of the ground, and with the ground's frame at its own.
    std::vector<Compound::Part> parts;
    for (const int i : {0, 1, 2}) parts.push_back({shapes[i], places[part].inverse() * places[i], 0});
    const Model model = free_bodies({{gem(random, 9, 0), random.inertia()}});
    const StepWorld together(model, {0.5, 0.2}, true, {}, std::make_shared<const Compound>(parts)), alone(model, {0.5, 0.2}, true, {}, shapes[part]);
    REQUIRE(together.world->vertices().size() == 27);
    const int row = together.world->vertices().first(1, part);
    REQUIRE(row == (part ? 18 : 9));
    CHECK(together.world->vertices().first(1, 1) == -1);
    StepOptions options;
    options.dt = 0.01, options.margin = 0.02;
    Point p{random.configuration(model), random.numbers(6), Numbers(6, 0.0), random.configuration(model), Numbers(6, 0.0)};
    p.q[0] = p.q[1] = 0, p.q[2] = 0.3;
    for (double gap = 1; gap > 1e-3;) {
      SceneQuery query(*alone.scene);
      query.place(p.q.data());
      gap = signed_distance(shapes[part], SE3d(), model.colliders[0].geometry.shape, query.X_WO(0)).distance;
      p.q[2] -= gap - 1e-4;
    }
    const Numbers bar = random.numbers(6);
    StepGradient g[2];
    for (const bool is_alone : {false, true}) {
      Stepper stepper(*(is_alone ? alone : together).world, options);
      Numbers q_next(p.q), v_next(p.v);
      stepper.step(p.q.data(), p.v.data(), p.control(), q_next.data(), v_next.data());
      stepper.vjp(p.q.data(), p.v.data(), p.control(), bar.data(), bar.data(), g[is_alone]);
    }
    REQUIRE(g[1].vertices.rows().size() >= 2);
    CHECK(g[0].vertices.rows().size() == g[1].vertices.rows().size());
    for (int i = 0; i < 18; ++i) {
      const Vec3d found = g[0].vertices.of(i < 9 ? i : row + i - 9), expected = g[1].vertices.of(i);
      CHECK(norm(found - expected) <= 1e-9 * (1 + norm(expected)));
    }
  }
}

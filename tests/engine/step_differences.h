// Gradients of steps against differences of the steps themselves, wherever classes and features are the same at all points of the stencil: of one
// loss, in every argument.
#pragma once

#include <doctest/doctest.h>

#include <functional>

#include "checks.h"
#include "ridders.h"
#include "scale.h"
#include "step/contact_axes.h"
#include "step/step_signature.h"
#include "step_worlds.h"
#include "varied_shapes.h"

namespace robosim::testing {

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

inline const unsigned random_worlds = static_cast<unsigned>(repeats(4, 16));

// What a step is made from.
struct Point {
  Numbers q, v, tau, q_target, v_target;
  StepControl control() const { return {tau.data(), q_target.data(), v_target.data()}; }
};

inline std::vector<int> signature(const Stepper& stepper, const StepReport& report) { return step_signature(stepper, report.islands, report.status); }

// Moved by a twist [linear; angular] in its own frame.
inline SE3d moved_along(const SE3d& X, const double* twist) {
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

  // Each number of a material by its own factor, but those that are zero, where their laws begin.
  PairMaterial of(PairMaterial x) const {
    x.friction += materials;
    if (x.restitution > 0) x.restitution += 0.5 * materials;
    if (x.torsional_friction > 0) x.torsional_friction += 0.1 * materials;
    if (x.rolling_friction > 0) x.rolling_friction += 0.05 * materials;
    if (x.compliance > 0) x.compliance += 1e-3 * materials, x.relaxation_time += 0.02 * materials;
    return x;
  }
};

// The matrices' products with a loss are its gradient, but for rounding: of forces that hold each other in balance a part of 1e-10 or less is left.
inline void check_jacobians(Stepper& stepper, const Point& point, const Numbers& q_bar, const Numbers& v_bar, const StepGradient& g) {
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
inline void check_jvp(Stepper& stepper, const Point& point, const Numbers& q_bar, const Numbers& v_bar, const StepGradient& g) {
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
inline void check_vertices_together(const World& world, const StepGradient& g) {
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
inline Shape rebuilt(const Shape& shape, const std::vector<Vec3d>& vertices) {
  const Shape moved = Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(vertices)), shape.rounding);
  REQUIRE(moved.mesh->vertices.size() == vertices.size());
  return moved;
}

// One loss, and its gradient along directions of every argument.
inline void check_gradients(const StepWorld& w, const StepOptions& options, const Point& point, Random& random, Counts& counts,
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
  const double giving = w.world->material(first_a, first_b).compliance > 0 ? 1 : 0;
  const auto total = [=](const PairMaterial& x) {
    return x.friction + bouncing * x.restitution + 0.1 * x.torsional_friction + 0.05 * x.rolling_friction + giving * (1e-3 * x.compliance + 0.02 * x.relaxation_time);
  };
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

}  // namespace robosim::testing

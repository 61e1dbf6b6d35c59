// Gradients of steps against differences of the steps themselves: one loss, with respect to every
// argument. The comparison requires equal modes and features at all points of the stencil.
#pragma once

#include <doctest/doctest.h>

#include <functional>

#include "checks.h"
#include "ridders.h"
#include "scale.h"
#include "step/constraints/constraint_kinds.h"
#include "step/contact_axes.h"
#include "step/parameters.h"
#include "step/step_signature.h"
#include "step_worlds.h"
#include "varied_shapes.h"

namespace robosim::testing {

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

inline const unsigned random_worlds = static_cast<unsigned>(repeats(4, 16));

// Arguments of a step.
struct Point {
  Numbers q, v, tau, q_target, v_target;
  ControlView control() const { return {tau.data(), q_target.data(), v_target.data()}; }
};

inline std::vector<int> signature(const Stepper& stepper, const StepReport& report) {
  return step_signature(stepper, report.islands, report.status);
}

// Pose displaced by a twist [linear; angular] in its own frame.
inline SE3d moved_along(const SE3d& X, const double* twist) {
  return X *
         exp_motion(Motion<double>{{twist[3], twist[4], twist[5]}, {twist[0], twist[1], twist[2]}});
}

struct Counts {
  int compared = 0, switched = 0, one_sided = 0, contacts = 0, sliding = 0, sticking = 0,
      impacts = 0, bounces = 0, on_faces = 0, edges = 0;
  double worst = 0;
};

// Check that the Jacobians' products with a loss are its gradient. Rounding is up to 1e-10 where
// forces cancel.
inline void check_jacobians(Stepper& stepper, const Point& point, const Numbers& q_bar,
                            const Numbers& v_bar, const StepGradient& g) {
  StepJacobians J;
  JacobianBlocks blocks = J.resize(stepper.world().model());
  const ParameterSelection selection = all_parameters(stepper.world());
  const Numbers by_parameters = numbers_of(selection, g);
  Numbers parameters(2 * at(stepper.world().model().n_v) * by_parameters.size());
  blocks.parameters = parameters.data();
  blocks.selection = &selection;
  CHECK(stepper.jacobians({point.q.data(), point.v.data()}, point.control(), blocks) ==
        g.one_sided);
  Numbers bars(q_bar);
  bars.insert(bars.end(), v_bar.begin(), v_bar.end());
  const auto compare = [&](const char* what, const Numbers& matrix, const Numbers& expected,
                           double usual) {
    INFO(std::string(what));
    double size = usual;
    for (const double x : matrix) size = std::max(size, std::abs(x));
    for (std::size_t c = 0; c < expected.size(); ++c) {
      double sum = 0;
      for (std::size_t r = 0; r < bars.size(); ++r)
        sum += bars[r] * matrix[r * expected.size() + c];
      CHECK(std::abs(sum - expected[c]) <= 1e-10 * size * static_cast<double>(bars.size()));
    }
  };
  const double dt = stepper.options().dt;
  compare("Jacobian in q", J.q, g.q, 1 / dt);
  compare("Jacobian in v", J.v, g.v, 1);
  compare("Jacobian in tau", J.tau, g.tau, dt);
  compare("Jacobian in q_target", J.q_target, g.q_target, 1);
  compare("Jacobian in v_target", J.v_target, g.v_target, 1);
  compare("Jacobian in parameters", parameters, by_parameters, 1 / dt);
}

// Check that the JVP is the gradient's product with the direction, to rounding: along all numbers
// at once, and along one kind of numbers at a time.
inline void check_jvp(Stepper& stepper, const Point& point, const Numbers& q_bar,
                      const Numbers& v_bar, const StepGradient& g) {
  const Model& m = stepper.world().model();
  // A generator of its own, so that the states do not depend on the checks.
  Random random(static_cast<unsigned>(m.n_v));
  Numbers q_next(at(m.n_v)), v_next(at(m.n_v));
  StepGradient zero = g, all = g;
  for_each_number([](double& x) { x = 0; }, zero);
  for_each_number([&](double& x, double by) { x = std::isfinite(by) ? random.numbers(1)[0] : 0.0; },
                  all, g);
  all.parameters.vertices.clear();
  // Includes vertices that touch nothing.
  for (int row = 0; row < stepper.world().vertices().size(); ++row)
    all.parameters.vertices.add(row, random.vec3());
  // For sweeps both depend on the rows' admittances, which cancel in the result. Linearly dependent
  // rows of `convex` have adjoints of 1e6, which cancel.
  const bool is_exact = stepper.options().solver == SolverId("lcp");
  const double rounding = is_exact ? 1e-10 : 1e-9;
  const auto compare = [&](const char* what, const StepGradient& direction) {
    const OneSided one_sided = stepper.jvp({point.q.data(), point.v.data()}, point.control(),
                                           direction, {q_next.data(), v_next.data()});
    CHECK(one_sided == g.one_sided);
    double expected = 0, size = 1, sum = 0;
    for_each_number(
        [&](double by, double step) {
          expected += step != 0 ? by * step : 0;
          size += step != 0 ? std::abs(by * step) : 0;
        },
        g, direction);
    for (std::size_t k = 0; k < q_next.size(); ++k)
      sum += q_bar[k] * q_next[k] + v_bar[k] * v_next[k];
    INFO(std::string(what));
    CHECK(std::abs(sum - expected) <= rounding * size);
  };
  compare("all", all);
  const auto only = [&](const char* what, auto part_of) {
    StepGradient direction = zero;
    part_of(direction) = part_of(all);
    compare(what, direction);
  };
  only(
      "q", [](auto& x) -> auto& { return x.q; });
  only(
      "v", [](auto& x) -> auto& { return x.v; });
  only(
      "tau", [](auto& x) -> auto& { return x.tau; });
  only(
      "q_target", [](auto& x) -> auto& { return x.q_target; });
  only(
      "v_target", [](auto& x) -> auto& { return x.v_target; });
  for (int k = 0; k < n_parameter_kinds; ++k) {
    StepGradient direction = zero;
    if (parameter_kinds[k].owner == ParameterOwner::vertex)
      direction.parameters.vertices = all.parameters.vertices;
    const ParameterId id(k);
    for (int i = 0; i < all.parameters.layout().owners(id) &&
                    parameter_kinds[k].owner != ParameterOwner::vertex;
         ++i)
      std::copy_n(all.parameters.of(id, i), parameter_kinds[k].width(),
                  direction.parameters.of(id, i));
    compare(std::string(parameter_kinds[k].name).c_str(), direction);
  }
}

// Check that vertices moved together, like a shape that moves or is scaled, have the gradients of
// that shape.
inline void check_vertices_together(const World& world, const StepGradient& g) {
  for (const VertexRows::Mesh& mesh : world.vertices().meshes()) {
    const CollisionGeometry& geometry = world.scene().object(mesh.object).geometry;
    if (geometry.compound) continue;
    const double* const pose = g.parameters.of("pose", mesh.object);
    Vec3d linear, angular;
    double scale = geometry.shape.rounding * *g.parameters.of("sizes", mesh.object), size = 1;
    for (int i = 0; i < mesh.count; ++i) {
      const Vec3d p = geometry.shape.mesh->vertices[i],
                  by = g.parameters.vertices.of(mesh.first + i);
      linear += by;
      angular += cross(p, by);
      scale += dot(p, by);
      size += norm(by);
    }
    for (int k = 0; k < 3; ++k) {
      CHECK(std::abs(linear[k] - pose[k]) <= 1e-11 * size);
      CHECK(std::abs(angular[k] - pose[3 + k]) <= 1e-11 * size);
    }
    CHECK(std::abs(scale - *g.parameters.of("scale", mesh.object)) <= 1e-11 * size);
  }
}

// Unit of a parameter kind that corresponds to a meter or radian of a configuration. Zero if the
// value is at the begin of its range, or infinite.
inline double unit_of(const ParameterKind& kind, double value, double dt) {
  const bool begins = kind.owner == ParameterOwner::pair || kind.owner == ParameterOwner::motor ||
                      kind.owner == ParameterOwner::coordinate || kind.name == "sizes";
  if (!std::isfinite(value) || (begins && value == 0 && kind.name != "spring_reference")) return 0;
  const std::pair<std::string_view, double> units[] = {{"restitution", 0.5},
                                                       {"torsional_friction", 0.1},
                                                       {"rolling_friction", 0.05},
                                                       {"compliance", 1e-3},
                                                       {"relaxation_time", 0.02},
                                                       {"mass", 0.1},
                                                       {"com", 0.1},
                                                       {"inertia", 0.1},
                                                       {"armature", 0.1},
                                                       {"joint_friction", 0.1},
                                                       {"sizes", 0.1},
                                                       {"scale", 0.1},
                                                       {"vertices", 0.1},
                                                       {"dt", dt}};
  for (const auto& [name, unit] : units)
    if (kind.name == name) return unit;
  return 1;
}

// Check the gradient of one loss along directions of every argument.
inline void check_gradients(const StepWorld& w, const StepOptions& options, const Point& point,
                            Random& random, Counts& counts) {
  const Model& m = w.model;
  const Numbers q_bar = random.numbers(m.n_v), v_bar = random.numbers(m.n_v);
  Stepper stepper(*w.world, options);
  Numbers q_next(at(m.n_q)), v_next(at(m.n_v));
  const StepReport report = stepper.step({point.q.data(), point.v.data()}, point.control(),
                                         {q_next.data(), v_next.data()});
  if (report.status == StepStatus::inconsistent) return;
  counts.contacts += report.contacts;
  for (const SceneQuery::PairManifold& pair : stepper.manifolds()) {
    counts.on_faces += pair.manifold.reference >= 0 && pair.manifold.n_points > 2;
    for (int i = 0; i < pair.manifold.n_points; ++i) {
      const FeatureId(&feature)[2] = pair.manifold.points[i].feature;
      counts.edges += feature[0].kind == FeatureKind::edge && feature[1].kind == FeatureKind::edge;
    }
  }
  const auto count = [&](const StepIsland& island) {
    for (std::size_t r = 0; r < island.rows.size(); ++r) {
      counts.impacts += is_of<Contact>(island.rows[r], Contact::normal) &&
                        island.rows[r].law == NormalLaw::impact && island.solution.f[r] > 0;
      if (!is_of<Contact>(island.rows[r], Contact::friction_1)) continue;
      counts.sliding += island.solution.classes[r] == RowClass::lower ||
                        island.solution.classes[r] == RowClass::upper;
      counts.sticking += island.solution.classes[r] == RowClass::clamping;
    }
  };
  for (int i = 0; i < report.islands; ++i) {
    count(stepper.islands()[i]);
    for (int n = 0; n < stepper.data().impacts[i].n; ++n) count(stepper.data().impacts[i].each[n]);
  }
  const std::vector<int> here = signature(stepper, report);
  StepGradient g;
  stepper.vjp({point.q.data(), point.v.data()}, point.control(), {q_bar.data(), v_bar.data()}, g);
  counts.bounces += report.coupled_bounces;
  check_jacobians(stepper, point, q_bar, v_bar, g);
  check_jvp(stepper, point, q_bar, v_bar, g);
  check_vertices_together(*w.world, g);
  if (g.one_sided != OneSided::no) {
    ++counts.one_sided;
    return;
  }

  Numbers loss_scale(1, 0.0);
  bool same = true;
  const auto loss_in = [&](const World& world, const Point& p, const StepOptions& with) {
    Stepper fresh(world, with);
    Numbers q1(at(m.n_q)), v1(at(m.n_v)), moved(at(m.n_v));
    const StepReport r = fresh.step({p.q.data(), p.v.data()}, p.control(), {q1.data(), v1.data()});
    same &= signature(fresh, r) == here;
    difference(m, q_next.data(), q1.data(), moved.data());
    double sum = 0;
    for (int k = 0; k < m.n_v; ++k) sum += q_bar[k] * moved[k] + v_bar[k] * v1[k];
    return Numbers{sum};
  };
  const auto loss = [&](const World& world, const Point& p) { return loss_in(world, p, options); };
  const auto compare = [&](const char* what, double expected, double size,
                           const std::function<Numbers(double)>& along) {
    // Try several lengths at which modes and features stay the same. Shorter ones have more
    // rounding, up to 1e-7 after many sweeps; longer ones have more curvature.
    const double scale = std::max({1.0, std::abs(expected), size});
    double difference_ = 0, least_off = std::numeric_limits<double>::infinity();
    for (const double length : {1e-3, 2e-4, 4e-5}) {
      double off;
      same = true;
      const double here_ = ridders(along, length, false, &off)[0];
      if (same && off < least_off) {
        least_off = off;
        difference_ = here_;
      }
      if (least_off <= 1e-9 * scale) break;
    }
    if (!std::isfinite(least_off)) {
      ++counts.switched;
      return;
    }
    ++counts.compared;
    counts.worst = std::max(counts.worst, std::abs(difference_ - expected) / scale);
    INFO(std::string(what), ": ", expected, " and by differences ", difference_, ", size ", size);
    CHECK(std::abs(difference_ - expected) <= 5e-8 * scale);
  };
  const auto product = [](const Numbers& x, const Numbers& y, double& size) {
    double sum = 0;
    size = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      sum += x[k] * y[k];
      size = std::max(size, std::abs(x[k]));
    }
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
  const auto moved = [&](const char* what, const Numbers& gradient, Numbers Point::*of) {
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
  // All numbers of each kind of parameter, along a direction of their own.
  const WorldParts parts(*w.world, options.dt);
  for (int kind_index = 0; kind_index < n_parameter_kinds; ++kind_index) {
    const ParameterKind& kind = parameter_kinds[kind_index];
    const ParameterId id(kind_index);
    const int owners = w.world->parameters().owners(id), width = kind.width();
    if (owners == 0) continue;
    Numbers values(at(owners * width)), gradient(values.size()), d = random.numbers(owners * width);
    kind.access.read(parts, owners, values.data());
    for (int i = 0; i < owners; ++i) {
      const Vec3d by = kind.owner == ParameterOwner::vertex ? g.parameters.vertices.of(i) : Vec3d();
      for (int k = 0; k < width; ++k)
        gradient[i * width + k] =
            kind.owner == ParameterOwner::vertex ? by[k] : g.parameters.of(id, i)[k];
    }
    size = expected = 0;
    for (std::size_t k = 0; k < d.size(); ++k) {
      d[k] *= unit_of(kind, values[k], options.dt);
      if (d[k] == 0) continue;
      expected += d[k] * gradient[k];
      size = std::max(size, std::abs(d[k] * gradient[k]));
    }
    compare(std::string(kind.name).c_str(), expected, size, [&](double h) {
      WorldParts changed(parts);
      Numbers numbers(values);
      for (std::size_t k = 0; k < d.size(); ++k)
        if (d[k] != 0) numbers[k] += h * d[k];
      kind.access.write(changed, owners, numbers.data());
      StepOptions with = options;
      with.dt = changed.dt;
      return loss_in(*StepWorld(std::move(changed)).world, point, with);
    });
  }
}

}  // namespace robosim::testing

#include "bindings/step_gradients.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace robosim {
namespace {

Array vector_of(const std::vector<double>& x, const Shape2& shape) {
  Array out(shape);
  std::copy(x.begin(), x.end(), out.mutable_data());
  return out;
}

Array materials_array(const std::vector<PairMaterial>& materials) {
  Array out(Shape2{static_cast<py::ssize_t>(materials.size()), 6});
  double* to = out.mutable_data();
  for (const PairMaterial& x : materials)
    for (const double number : {x.friction, x.restitution, x.torsional_friction, x.rolling_friction, x.compliance, x.relaxation_time}) *to++ = number;
  return out;
}
Array motors_array(const std::vector<Motor>& motors) {
  Array out(Shape2{static_cast<py::ssize_t>(motors.size()), 3});
  double* to = out.mutable_data();
  for (const Motor& x : motors) *to++ = x.position_gain, *to++ = x.velocity_gain, *to++ = x.limit;
  return out;
}

ModelTuple model_tuple(const Model& model, const ModelGradient& g) {
  const py::ssize_t bodies = model.n_bodies() - 1;
  const Shape2 n_v{model.n_v}, n_q{model.n_q};
  return {vector_of(g.mass, {bodies}),   vector_of(g.com, {bodies, 3}), vector_of(g.inertia, {bodies, 6}), vector_of(g.placement, {bodies, 6}),
          vector_of(g.armature, n_v),    vector_of(g.damping, n_v),     vector_of(g.friction, n_v),        vector_of(g.stiffness, n_v),
          vector_of(g.spring_reference, n_v), vector_of(g.q_lower, n_q), vector_of(g.q_upper, n_q),        vec3_array(g.gravity)};
}

// (n, 3) of all rows. Large meshes have hardly anything but zeros, and zeros from calloc take no memory until somebody writes there.
Array vertices_array(const World& world, const VertexGradient& vertices) {
  const int rows = world.vertices().size();
  auto* const to = static_cast<double*>(std::calloc(static_cast<std::size_t>(3 * std::max(rows, 1)), sizeof(double)));
  if (!to) throw std::bad_alloc();
  const Array out(Shape2{rows, 3}, to, py::capsule(to, &std::free));
  for (const VertexGradient::Row& x : vertices.rows())
    for (int k = 0; k < 3; ++k) to[3 * x.row + k] = x.by[k];
  return out;
}

ObjectsTuple objects_tuple(const World& world, const StepGradient& g) {
  const std::vector<ObjectGradient>& objects = g.objects;
  const auto n = static_cast<py::ssize_t>(objects.size());
  constexpr int sizes = WitnessDerivatives::max_sizes;
  Array pose(Shape2{n, 6}), size(Shape2{n, sizes}), scale(Shape2{n});
  double *to_pose = pose.mutable_data(), *to_size = size.mutable_data(), *to_scale = scale.mutable_data();
  for (const ObjectGradient& object : objects) {
    to_pose = std::copy_n(object.pose, 6, to_pose), to_size = std::copy_n(object.size, sizes, to_size);
    *to_scale++ = object.scale;
  }
  return {pose, size, scale, vertices_array(world, g.vertices)};
}

ClosuresTuple closures_tuple(const StepGradient& g) {
  Array frames(Shape2{static_cast<py::ssize_t>(g.closures.size()), 2, 6}), coefficients(Shape2{static_cast<py::ssize_t>(g.equalities.size()), JointEquality::terms});
  double *to_frames = frames.mutable_data(), *to = coefficients.mutable_data();
  for (const ClosureGradient& c : g.closures) to_frames = std::copy_n(c.G, 6, std::copy_n(c.F, 6, to_frames));
  for (const JointEqualityGradient& c : g.equalities) to = std::copy_n(c.coefficients, JointEquality::terms, to);
  return {frames, coefficients};
}

}  // namespace

GradientTuple gradient_tuple(const World& world, const StepGradient& g, Array tau, Array q_target, Array v_target) {
  const Model& model = world.model();
  const Shape2 n_v{model.n_v};
  return {vector_of(g.q, n_v),          vector_of(g.v, n_v),     std::move(tau),              std::move(q_target),      std::move(v_target),
          materials_array(g.materials), motors_array(g.motors), model_tuple(model, g.model), objects_tuple(world, g), closures_tuple(g),
          g.dt,                         g.is_one_sided};
}

GradientTuple gradient_tuple(const World& world, const StepGradient& g) {
  const Model& model = world.model();
  return gradient_tuple(world, g, vector_of(g.tau, {model.n_v}), vector_of(g.q_target, {model.n_q}), vector_of(g.v_target, {model.n_v}));
}

StepGradient direction_of(const World& world, const py::dict& given) {
  const Model& m = world.model();
  StepGradient d;
  d.set_zero(world);
  for (ObjectGradient& object : d.objects) {
    for (double& x : object.size) x = 0;
    object.scale = 0;
  }
  const auto fill = [&](const char* name, const Shape2& shape, const auto& each) {
    if (!given.contains(name)) return;
    const Array array = real_array(given[name], shape, name);
    const double* from = array.data();
    each([&] { return *from++; });
  };
  const auto vector = [&](const char* name, std::vector<double>& to, py::ssize_t columns = 1) {
    const auto n = static_cast<py::ssize_t>(to.size());
    fill(name, columns == 1 ? Shape2{n} : Shape2{n / columns, columns}, [&](auto next) {
      for (double& x : to) x = next();
    });
  };
  vector("q", d.q), vector("v", d.v), vector("tau", d.tau), vector("q_target", d.q_target), vector("v_target", d.v_target);
  fill("materials", {static_cast<py::ssize_t>(d.materials.size()), 6}, [&](auto next) {
    for (PairMaterial& x : d.materials)
      for (double* const number : {&x.friction, &x.restitution, &x.torsional_friction, &x.rolling_friction, &x.compliance, &x.relaxation_time}) *number = next();
  });
  fill("motors", {m.n_v, 3}, [&](auto next) {
    for (Motor& x : d.motors) x.position_gain = next(), x.velocity_gain = next(), x.limit = next();
  });
  ModelGradient& of = d.model;
  vector("mass", of.mass), vector("com", of.com, 3), vector("inertia", of.inertia, 6), vector("placement", of.placement, 6);
  vector("armature", of.armature), vector("damping", of.damping), vector("friction", of.friction), vector("stiffness", of.stiffness);
  vector("spring_reference", of.spring_reference), vector("q_lower", of.q_lower), vector("q_upper", of.q_upper);
  fill("gravity", {3}, [&](auto next) {
    for (int k = 0; k < 3; ++k) of.gravity[k] = next();
  });
  const auto objects = static_cast<py::ssize_t>(d.objects.size());
  fill("pose", {objects, 6}, [&](auto next) {
    for (ObjectGradient& x : d.objects)
      for (double& y : x.pose) y = next();
  });
  fill("size", {objects, WitnessDerivatives::max_sizes}, [&](auto next) {
    for (ObjectGradient& x : d.objects)
      for (double& y : x.size) y = next();
  });
  fill("scale", {objects}, [&](auto next) {
    for (ObjectGradient& x : d.objects) x.scale = next();
  });
  fill("vertices", {world.vertices().size(), 3}, [&](auto next) {
    for (int row = 0; row < world.vertices().size(); ++row) {
      Vec3d by;
      for (int k = 0; k < 3; ++k) by[k] = next();
      if (squared_norm(by) > 0) d.vertices.add(row, by);
    }
  });
  fill("frames", {static_cast<py::ssize_t>(d.closures.size()), 2, 6}, [&](auto next) {
    for (ClosureGradient& x : d.closures) {
      for (double& y : x.F) y = next();
      for (double& y : x.G) y = next();
    }
  });
  fill("coefficients", {static_cast<py::ssize_t>(d.equalities.size()), JointEquality::terms}, [&](auto next) {
    for (JointEqualityGradient& x : d.equalities)
      for (double& y : x.coefficients) y = next();
  });
  fill("dt", {}, [&](auto next) { d.dt = next(); });
  return d;
}

}  // namespace robosim

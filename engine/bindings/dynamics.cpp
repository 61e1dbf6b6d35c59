// Algorithms over a Model and its Data: the same functions, under the same names, as in engine/dynamics.
#include <pybind11/stl.h>

#include "bindings/arrays.h"
#include "bindings/module.h"
#include "dynamics/configuration.h"
#include "dynamics/energy.h"
#include "dynamics/forward_dynamics.h"
#include "dynamics/jacobian.h"
#include "dynamics/joint_forces.h"

namespace py = pybind11;

namespace robosim {

namespace {

using Workspace = Data<double>;
using Wrench = std::pair<std::size_t, py::object>;  // frame, (6,) linear and angular part at its origin in world axes

Array q_array(const Model& model, const py::handle& q, const char* name = "q") { return real_array(q, {model.n_q}, name); }
Array v_array(const Model& model, const py::handle& v, const char* name) { return real_array(v, {model.n_v}, name); }

void update_positions(const Model& model, Workspace& data, const py::handle& q) {
  forward_kinematics(model, data, q_array(model, q).data());
  motion_subspaces(model, data);
}

void update_velocities(const Model& model, Workspace& data, const py::handle& q, const Array& v) {
  update_positions(model, data, q);
  forward_velocities(model, data, v.data());
}

// Public 6-vectors are (linear; angular): here and in frame_jacobian is where the engine's order meets them.
Array motion_array(const Motion<double>& V) {
  Array out(Shape2{6});
  for (int i = 0; i < 3; ++i) out.mutable_data()[i] = V.linear[i], out.mutable_data()[3 + i] = V.angular[i];
  return out;
}

Force<double> read_force(const py::handle& value) {
  const Array array = real_array(value, {6}, "wrench");
  const double* f = array.data();
  return {{f[3], f[4], f[5]}, {f[0], f[1], f[2]}};
}

std::vector<AppliedWrench<double>> applied(const Model& model, const std::vector<Wrench>& wrenches) {
  std::vector<AppliedWrench<double>> out;
  for (const auto& [frame, wrench] : wrenches) {
    (void)model.frames.at(frame);
    out.push_back({static_cast<int>(frame), read_force(wrench)});
  }
  return out;
}

Axes axes_of(bool local) { return local ? Axes::local : Axes::world; }

Array bound_neutral(const Model& model) {
  Array q(Shape2{model.n_q});
  neutral(model, q.mutable_data());
  return q;
}

Array bound_sample(const Model& model, const py::object& u) {
  const Array uniform = q_array(model, u, "u");
  Array q(Shape2{model.n_q});
  sample_configuration(model, uniform.data(), q.mutable_data());
  return q;
}

Array bound_integrate(const Model& model, const py::object& q, const py::object& v, const py::object& out) {
  const Array from = q_array(model, q), along = v_array(model, v, "v");
  Array to = result_array(out, {model.n_q});
  integrate(model, from.data(), along.data(), to.mutable_data());
  return to;
}

Array bound_difference(const Model& model, const py::object& q0, const py::object& q1, const py::object& out) {
  const Array from = q_array(model, q0, "q0"), to = q_array(model, q1, "q1");
  Array v = result_array(out, {model.n_v});
  difference(model, from.data(), to.data(), v.mutable_data());
  return v;
}

Array frame_pose(const Model& model, Workspace& data, const py::object& q, std::size_t frame, const py::object& out) {
  update_positions(model, data, q);
  Array X = result_array(out, {4, 4});
  write_pose(frame_placement(model, data, model.frames.at(frame)), X.mutable_data());
  return X;
}

Array frame_poses(const Model& model, Workspace& data, const py::object& q) {
  update_positions(model, data, q);
  Array X(Shape2{static_cast<py::ssize_t>(model.frames.size()), 4, 4});
  double* to = X.mutable_data();
  for (const Frame& frame : model.frames) {
    write_pose(frame_placement(model, data, frame), to);
    to += 16;
  }
  return X;
}

Array bound_jacobian(const Model& model, Workspace& data, const py::object& q, std::size_t frame, bool local,
                     const py::object& out) {
  update_positions(model, data, q);
  Array J = result_array(out, {6, model.n_v});
  frame_jacobian(model, data, model.frames.at(frame), axes_of(local), J.mutable_data());
  return J;
}

Array bound_frame_velocity(const Model& model, Workspace& data, const py::object& q, const py::object& v, std::size_t frame,
                           bool local) {
  update_velocities(model, data, q, v_array(model, v, "v"));
  return motion_array(frame_velocity(model, data, model.frames.at(frame), axes_of(local)));
}

Array bound_frame_acceleration(const Model& model, Workspace& data, const py::object& q, const py::object& v,
                               const py::object& a, std::size_t frame, bool local) {
  const Array velocity = v_array(model, v, "v"), acceleration = v_array(model, a, "a");
  update_velocities(model, data, q, velocity);
  forward_accelerations(model, data, velocity.data(), acceleration.data());
  return motion_array(frame_acceleration(model, data, model.frames.at(frame), axes_of(local)));
}

// Results go to fresh memory first: `out` may be one of the arguments.
Array bound_rnea(const Model& model, Workspace& data, const py::object& q, const py::object& v, const py::object& a,
                 const std::vector<Wrench>& wrenches, const py::object& out) {
  const Array position = q_array(model, q), velocity = v_array(model, v, "v"), acceleration = v_array(model, a, "a");
  Array tau = result_array(out, {model.n_v});
  const auto external = applied(model, wrenches);
  rnea(model, data, position.data(), velocity.data(), acceleration.data(), data.bias.data(), external);
  std::copy(data.bias.begin(), data.bias.end(), tau.mutable_data());
  return tau;
}

Array bound_nonlinear_effects(const Model& model, Workspace& data, const py::object& q, const py::object& v,
                              const py::object& out) {
  const Array position = q_array(model, q), velocity = v_array(model, v, "v");
  Array h = result_array(out, {model.n_v});
  nonlinear_effects(model, data, position.data(), velocity.data(), data.bias.data());
  std::copy(data.bias.begin(), data.bias.end(), h.mutable_data());
  return h;
}

Array bound_gravity_forces(const Model& model, Workspace& data, const py::object& q, const py::object& out) {
  const Array position = q_array(model, q);
  Array g = result_array(out, {model.n_v});
  gravity_forces(model, data, position.data(), data.bias.data());
  std::copy(data.bias.begin(), data.bias.end(), g.mutable_data());
  return g;
}

Array bound_joint_forces(const Model& model, const py::object& q, const py::object& v, const py::object& out) {
  const Array position = q_array(model, q), velocity = v_array(model, v, "v");
  Array tau(Shape2{model.n_v});
  joint_forces(model, position.data(), velocity.data(), tau.mutable_data());
  if (out.is_none()) return tau;
  Array result = result_array(out, {model.n_v});
  std::copy(tau.data(), tau.data() + model.n_v, result.mutable_data());
  return result;
}

// The diagonals of the derivatives by what they are taken in.
py::dict bound_joint_force_derivatives(const Model& model, const py::object& q, const py::object& v) {
  const Array position = q_array(model, q), velocity = v_array(model, v, "v");
  const char* const names[] = {"q", "v", "damping", "friction", "friction_width", "stiffness", "spring_reference"};
  py::dict out;
  double* to[7];
  for (int i = 0; i < 7; ++i) {
    Array diagonal(Shape2{model.n_v});
    to[i] = diagonal.mutable_data();
    out[names[i]] = diagonal;
  }
  joint_force_slopes(model, velocity.data(), to[0], to[1]);
  joint_force_parameter_derivatives(model, position.data(), velocity.data(),
                                    JointForceParameters<double>{to[2], to[3], to[4], to[5], to[6]});
  return out;
}

Array bound_crba(const Model& model, Workspace& data, const py::object& q, const py::object& out) {
  const Array position = q_array(model, q);
  Array M = result_array(out, {model.n_v, model.n_v});
  crba(model, data, position.data(), M.mutable_data());
  return M;
}

Array bound_forward_dynamics(const Model& model, Workspace& data, const py::object& q, const py::object& v,
                             const py::object& tau, const std::vector<Wrench>& wrenches, const py::object& out) {
  const Array position = q_array(model, q), velocity = v_array(model, v, "v"), force = v_array(model, tau, "tau");
  const auto external = applied(model, wrenches);
  Array a(Shape2{model.n_v});
  forward_dynamics(model, data, position.data(), velocity.data(), force.data(), a.mutable_data(), external);
  for (int k = 0; k < model.n_v; ++k)
    if (!std::isfinite(a.data()[k]))
      throw InputError(
          message("the mass matrix of model '", model.name, "' is singular at this q: forward dynamics is undefined"));
  if (out.is_none()) return a;
  Array result = result_array(out, {model.n_v});
  std::copy(a.data(), a.data() + model.n_v, result.mutable_data());
  return result;
}

double bound_kinetic_energy(const Model& model, Workspace& data, const py::object& q, const py::object& v) {
  const Array velocity = v_array(model, v, "v");
  update_velocities(model, data, q, velocity);
  return kinetic_energy(model, data, velocity.data());
}

double bound_potential_energy(const Model& model, Workspace& data, const py::object& q) {
  const Array position = q_array(model, q);
  update_positions(model, data, position);
  return potential_energy(model, data) + spring_energy(model, position.data());
}

Array bound_mass_moment(const Model& model, Workspace& data, const py::object& q) {
  update_positions(model, data, q);
  return vec3_array(mass_moment(model, data));
}

}  // namespace

void bind_dynamics(py::module_& m) {
  const py::arg model("model"), data("data"), q("q"), v("v"), a("a"), tau("tau"), frame("frame"), local("local");
  const py::arg wrenches("wrenches"), out("out");
  py::class_<Workspace>(m, "Data", "Workspace of the algorithms over one Model; not state. One per thread.")
      .def(py::init<const Model&>(), model);
  m.def("neutral", &bound_neutral, model);
  m.def("sample_configuration", &bound_sample, model, py::arg("u"));
  m.def("integrate", &bound_integrate, model, q, v, out);
  m.def("difference", &bound_difference, model, py::arg("q0"), py::arg("q1"), out);
  m.def("frame_pose", &frame_pose, model, data, q, frame, out);
  m.def("frame_poses", &frame_poses, model, data, q);
  m.def("frame_jacobian", &bound_jacobian, model, data, q, frame, local, out);
  m.def("frame_velocity", &bound_frame_velocity, model, data, q, v, frame, local);
  m.def("frame_acceleration", &bound_frame_acceleration, model, data, q, v, a, frame, local);
  m.def("rnea", &bound_rnea, model, data, q, v, a, wrenches, out);
  m.def("nonlinear_effects", &bound_nonlinear_effects, model, data, q, v, out);
  m.def("gravity_forces", &bound_gravity_forces, model, data, q, out);
  m.def("joint_forces", &bound_joint_forces, model, q, v, out);
  m.def("joint_force_derivatives", &bound_joint_force_derivatives, model, q, v);
  m.def("crba", &bound_crba, model, data, q, out);
  m.def("forward_dynamics", &bound_forward_dynamics, model, data, q, v, tau, wrenches, out);
  m.def("total_mass", &total_mass, model);
  m.def("kinetic_energy", &bound_kinetic_energy, model, data, q, v);
  m.def("potential_energy", &bound_potential_energy, model, data, q);
  m.def("mass_moment", &bound_mass_moment, model, data, q);
}

}  // namespace robosim

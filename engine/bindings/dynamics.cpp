// Bindings that need no kernel of their own: sampling of configurations, and the list of bodies.
#include "bindings/configurations.h"
#include "bindings/module.h"
#include "dynamics/configuration.h"
#include "dynamics/center_of_mass.h"
#include "dynamics/regressor.h"

namespace py = pybind11;

namespace robosim {

namespace {

Array bound_neutral(const Model& model) {
  Array q(Shape2{model.n_q});
  neutral(model, q.mutable_data());
  return q;
}

// u has shape (n_q,), or (n, n_q) for n configurations.
Array bound_sample(const Model& model, const py::object& u) {
  const py::array any = py::array::ensure(u);
  const bool many = any && any.ndim() == 2;
  const Array uniform =
      real_array(u, many ? Shape2{any.shape(0), model.n_q} : Shape2{model.n_q}, "u");
  Array q(Shape2(uniform.shape(), uniform.shape() + uniform.ndim()));
  const py::ssize_t n = many ? uniform.shape(0) : 1;
  for (py::ssize_t i = 0; i < n; ++i)
    sample_configuration(model, uniform.data() + i * model.n_q, q.mutable_data() + i * model.n_q);
  return q;
}

Array bound_inertial_parameters(const Model& model) {
  Array pi(Shape2{n_inertial * (model.n_bodies() - 1)});
  inertial_parameters(model, pi.mutable_data());
  return pi;
}

void bound_check_configuration(const Model& model, const py::object& q) {
  configuration_array(q, model, {model.n_q}, "q");
}

}  // namespace

void bind_dynamics(py::module_& m) {
  const py::arg model("model");
  m.def("neutral", &bound_neutral, model);
  m.def("sample_configuration", &bound_sample, model, py::arg("u"));
  m.def("inertial_parameters", &bound_inertial_parameters, model);
  m.def("total_mass", &total_mass, model);
  m.def("check_configuration", &bound_check_configuration, model, py::arg("q"),
        "ModelError where q is not (n_q,) finite numbers, or a quaternion in it has no length that "
        "can be scaled to 1.");
}

}  // namespace robosim

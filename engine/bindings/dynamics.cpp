// Algorithms over a Model and its Data: the same functions, under the same names, as in engine/dynamics.
#include "bindings/arrays.h"
#include "bindings/module.h"
#include "dynamics/kinematics.h"

namespace py = pybind11;

namespace robosim {

namespace {

using Workspace = Data<double>;

Array neutral_array(const Model& model) {
  Array q(Shape2{model.n_q});
  neutral(model, q.mutable_data());
  return q;
}

void update_positions(const Model& model, Workspace& data, const py::object& q) {
  forward_kinematics(model, data, real_array(q, {model.n_q}, "q").data());
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

}  // namespace

void bind_dynamics(py::module_& m) {
  py::class_<Workspace>(m, "Data", "Workspace of the algorithms over one Model; not state. One per thread.")
      .def(py::init<const Model&>(), py::arg("model"));
  m.def("neutral", &neutral_array, py::arg("model"));
  m.def("frame_pose", &frame_pose, py::arg("model"), py::arg("data"), py::arg("q"), py::arg("frame"), py::arg("out") = py::none());
  m.def("frame_poses", &frame_poses, py::arg("model"), py::arg("data"), py::arg("q"));
}

}  // namespace robosim

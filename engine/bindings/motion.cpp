// Inverse kinematics and time parametrisation.
#include <pybind11/stl.h>

#include <chrono>
#include <optional>

#include "bindings/arrays.h"
#include "bindings/module.h"
#include "planning/timing.h"

namespace py = pybind11;

namespace robosim {

namespace {

std::size_t at(py::ssize_t i) { return static_cast<std::size_t>(i); }

std::vector<double> values(const py::handle& value, py::ssize_t n, const char* name, bool finite = true) {
  const Array array = real_array(value, {n}, name, finite);
  return {array.data(), array.data() + n};
}

std::vector<double> optional_values(const py::object& value, py::ssize_t n, const char* name, bool finite = true) {
  return value.is_none() ? std::vector<double>() : values(value, n, name, finite);
}

std::vector<double> limit_values(const py::object& value, py::ssize_t n, const char* name) {
  std::vector<double> limits = optional_values(value, n, name, false);
  for (const double limit : limits)
    if (!(limit >= 0)) throw InputError(message(name, " holds ", limit, "; limits are at least 0, infinite for none"));
  return limits;
}

// Columns must be entries of q of joints in which v has as many entries: all but floating ones.
std::vector<int> checked_columns(const Model& model, const std::vector<int>& columns) {
  std::vector<char> seen(at(model.n_q), 0);
  for (const int column : columns) {
    if (column < 0 || column >= model.n_q) throw InputError(message("column ", column, " is not an entry of q, which has ", model.n_q));
    if (seen[at(column)]++) throw InputError(message("column ", column, " is given twice"));
    for (const Joint& joint : model.joints)
      if (joint.type == JointType::floating && column >= joint.q_index && column < joint.q_index + joint.n_q)
        throw InputError(message("column ", column, " belongs to the floating joint '", joint.name, "', which has to stay where it is"));
  }
  return columns;
}

Array coefficient_array(const PolynomialMotion& motion) {
  Array out(Shape2{static_cast<py::ssize_t>(motion.breaks.empty() ? 0 : motion.pieces()), 6, motion.n});
  std::copy(motion.coefficients.begin(), motion.coefficients.end(), out.mutable_data());
  return out;
}

struct Timed {
  TimingResult result;
  double seconds = 0;
};

Timed time_path_bound(const py::object& breaks, const py::object& coefficients, const py::object& velocity,
                      const py::object& acceleration, const py::object& jerk, const py::object& start_velocity,
                      const py::object& end_velocity, const Model* model, const std::optional<std::vector<int>>& columns,
                      const py::object& q_rest, const py::object& effort, const std::vector<std::string>& names) {
  const py::array given = py::array::ensure(coefficients);
  if (!given || given.ndim() != 3 || given.shape(0) < 1 || given.shape(1) != 3 || given.shape(2) < 1)
    throw InputError("coefficients must have shape (k, 3, n) with at least one piece and one column");
  const py::ssize_t k = given.shape(0), n = given.shape(2);
  QuadraticPath path;
  path.n = static_cast<int>(n);
  path.breaks = values(breaks, k + 1, "breaks");
  for (py::ssize_t i = 0; i < k; ++i)
    if (!(path.breaks[at(i)] < path.breaks[at(i) + 1]))
      throw InputError(message("breaks must increase, but entry ", i + 1, " is ", path.breaks[at(i) + 1], " after ", path.breaks[at(i)]));
  const Array c = real_array(given, {k, 3, n}, "coefficients");
  path.coefficients.assign(c.data(), c.data() + c.size());

  TimingOptions options;
  options.velocity = limit_values(velocity, n, "velocity");
  options.acceleration = limit_values(acceleration, n, "acceleration");
  options.jerk = limit_values(jerk, n, "jerk");
  options.start_velocity = optional_values(start_velocity, n, "start_velocity");
  options.end_velocity = optional_values(end_velocity, n, "end_velocity");
  if (!names.empty() && static_cast<py::ssize_t>(names.size()) != n)
    throw InputError(message("names has ", names.size(), " entries; expected ", n));
  options.names = names;

  std::optional<PathTorque> torque;
  if (model != nullptr) {
    std::vector<int> moving;
    if (columns) moving = checked_columns(*model, *columns);
    if (!columns)
      for (int i = 0; i < model->n_q; ++i) moving.push_back(i);
    checked_columns(*model, moving);
    if (static_cast<py::ssize_t>(moving.size()) != n)
      throw InputError(message("the path has ", n, " columns, but ", moving.size(), " columns of q are named"));
    std::vector<double> rest(at(model->n_q), 0);
    if (!q_rest.is_none())
      rest = values(q_rest, model->n_q, "q_rest");
    else if (n != model->n_q)
      throw InputError("q_rest is needed where only some columns of q move");
    torque.emplace(*model, moving, rest, effort.is_none() ? model->limits.effort : limit_values(effort, model->n_v, "effort"));
  } else if (!effort.is_none()) {
    throw InputError("effort limits need a model");
  }
  py::gil_scoped_release release;
  const auto start = std::chrono::steady_clock::now();
  Timed timed;
  timed.result = time_path(path, options, torque ? &*torque : nullptr);
  timed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return timed;
}

py::tuple brake_bound(const py::object& q, const py::object& velocity, const py::object& acceleration, const py::object& jerk,
                      double fraction) {
  const py::array given = py::array::ensure(q);
  if (!given || given.ndim() != 1 || given.size() == 0) throw InputError("q must be a vector");
  const py::ssize_t n = given.size();
  if (!(fraction > 0 && fraction <= 1)) throw InputError(message("fraction is ", fraction, "; expected 0 < fraction <= 1"));
  const std::vector<double> v0 = values(velocity, n, "velocity"), a = limit_values(acceleration, n, "acceleration"),
                            j = limit_values(jerk, n, "jerk");
  for (std::size_t i = 0; i < v0.size(); ++i)
    if (v0[i] != 0 && (a[i] == 0 || (!j.empty() && j[i] == 0)))
      throw InputError(message("entry ", i, " moves at ", v0[i], ", but its acceleration or jerk limit is zero"));
  const PolynomialMotion motion = brake(values(q, n, "q"), v0, a, j, fraction);
  return py::make_tuple(vector_array(motion.breaks), coefficient_array(motion));
}

}  // namespace

void bind_motion(py::module_& m) {
  py::class_<Timed>(m, "TimingResult", "A timed path, or why there is none.")
      .def_property_readonly("status", [](const Timed& t) { return to_string(t.result.status); },
                             "'solved', 'zero_limit', 'static_torque', 'start_velocity', 'end_velocity', 'torque_limit' or "
                             "'jerk_start_velocity'.")
      .def_property_readonly("reason", [](const Timed& t) { return t.result.reason; }, "In words; empty when solved.")
      .def_property_readonly("breaks", [](const Timed& t) { return vector_array(t.result.motion.breaks); }, "(k + 1) [s], from 0.")
      .def_property_readonly("coefficients", [](const Timed& t) { return coefficient_array(t.result.motion); },
                             "(k, 6, n) in powers of (t - breaks[i]).")
      .def_property_readonly("duration", [](const Timed& t) { return t.result.motion.breaks.empty() ? 0.0 : t.result.motion.breaks.back(); })
      .def_property_readonly("column", [](const Timed& t) { return t.result.column; },
                             "What the reason is about: a column, for 'static_torque' an entry of v; -1 for none.")
      .def_property_readonly("s", [](const Timed& t) { return t.result.s; }, "Where on the path the reason is about.")
      .def_property_readonly("intervals", [](const Timed& t) { return t.result.intervals; }, "Of the grid.")
      .def_property_readonly("torque_limited", [](const Timed& t) { return t.result.torque_limited; },
                             "Whether torque limits shape the motion.")
      .def_property_readonly("slowdown", [](const Timed& t) { return t.result.slowdown; },
                             "Factor of a last uniform slowing down for torque limits; 1 when the optimisation kept them.")
      .def_property_readonly("window", [](const Timed& t) { return t.result.window; }, "Of the moving average for jerk limits [s].")
      .def_property_readonly("deviation", [](const Timed& t) { return t.result.deviation; },
                             "Bound of how far the moving average leaves the path, over columns [rad, m].")
      .def_readonly("seconds", &Timed::seconds, "Time it took.");
  m.def("time_path", &time_path_bound, py::arg("breaks"), py::arg("coefficients"), py::arg("velocity"), py::arg("acceleration"),
        py::kw_only(), py::arg("jerk") = py::none(), py::arg("start_velocity") = py::none(), py::arg("end_velocity") = py::none(),
        py::arg("model") = nullptr, py::arg("columns") = py::none(), py::arg("q_rest") = py::none(), py::arg("effort") = py::none(),
        py::arg("names") = std::vector<std::string>(),
        "The fastest motion along a piecewise quadratic path q(s), breaks (k + 1) and coefficients (k, 3, n), within limits per\n"
        "column (infinite for none). With a model, torques are limited too, by effort (n_v; the model's by default): the path's\n"
        "columns are then these entries of q, the others stay as in q_rest. Velocities at the ends have to be along the path. The\n"
        "motion stops where the path has a corner. A jerk limit lets the motion leave the path by `deviation`: check it again.");
  m.def("brake", &brake_bound, py::arg("q"), py::arg("velocity"), py::arg("acceleration"), py::arg("jerk") = py::none(),
        py::arg("fraction") = 1.0,
        "From q with this velocity straight to rest within fraction * acceleration and jerk: (breaks, coefficients (k, 6, n)).");
}

}  // namespace robosim

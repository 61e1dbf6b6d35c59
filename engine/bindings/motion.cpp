// Inverse kinematics and time parameterization.
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>

#include "bindings/configurations.h"
#include "bindings/ik_batch.h"
#include "bindings/module.h"
#include "model/joint_layout.h"
#include "planning/ik.h"
#include "planning/timing.h"

namespace py = pybind11;

namespace robosim {

namespace {

std::size_t at(py::ssize_t i) { return static_cast<std::size_t>(i); }

std::vector<double> values(const py::handle& value, py::ssize_t n, const char* name,
                           bool finite = true) {
  const Array array = real_array(value, {n}, name, finite);
  return {array.data(), array.data() + n};
}

std::vector<double> configuration(const py::handle& value, const Model& model, const char* name) {
  const Array array = configuration_array(value, model, {model.n_q}, name);
  return {array.data(), array.data() + array.size()};
}

std::vector<double> optional_values(const py::object& value, py::ssize_t n, const char* name,
                                    bool finite = true) {
  return value.is_none() ? std::vector<double>() : values(value, n, name, finite);
}

std::vector<double> limit_values(const py::object& value, py::ssize_t n, const char* name) {
  std::vector<double> limits = values(value, n, name, false);
  for (const double limit : limits)
    if (!(limit >= 0))
      throw InputError(
          message(name, " holds ", limit, "; limits must be at least 0, infinite for none"));
  return limits;
}

std::vector<double> optional_limits(const py::object& value, py::ssize_t n, const char* name) {
  return value.is_none() ? std::vector<double>() : limit_values(value, n, name);
}

// Check that each column is an entry of q whose joint has as many entries in v as in q.
std::vector<int> checked_columns(const Model& model, const std::vector<int>& columns) {
  std::vector<char> seen(at(model.n_q), 0);
  for (const int column : columns) {
    if (column < 0 || column >= model.n_q)
      throw InputError(message("column ", column, " is not an entry of q, which has ", model.n_q));
    if (seen[column]++) throw InputError(message("column ", column, " is given twice"));
    const Joint& joint = joint_of_position(model, column);
    if (joint.n_q != joint.n_v)
      throw InputError(message("column ", column, " belongs to the ", joint_layout(joint.type).name,
                               " joint '", joint.name, "', which has to stay where it is"));
  }
  return columns;
}

Array coefficient_array(const PolynomialMotion& motion) {
  Array out(
      Shape2{static_cast<py::ssize_t>(motion.breaks.empty() ? 0 : motion.pieces()), 6, motion.n});
  std::copy(motion.coefficients.begin(), motion.coefficients.end(), out.mutable_data());
  return out;
}

struct Timed {
  TimingResult result;
  double seconds = 0;
};

Timed time_path_bound(const py::object& breaks, const py::object& coefficients,
                      const py::object& velocity, const py::object& acceleration,
                      const py::object& jerk, const py::object& start_velocity,
                      const py::object& end_velocity, const Model* model,
                      const std::optional<std::vector<int>>& columns, const py::object& q_rest,
                      const py::object& effort, const std::vector<std::string>& names,
                      const std::map<std::string, double>& tool_speed) {
  const py::array given = py::array::ensure(coefficients);
  if (!given || given.ndim() != 3 || given.shape(0) < 1 || given.shape(1) != 3 ||
      given.shape(2) < 1)
    throw InputError(
        "coefficients must have shape (k, 3, n) with at least one piece and one column");
  const py::ssize_t k = given.shape(0), n = given.shape(2);
  QuadraticPath path;
  path.n = static_cast<int>(n);
  path.breaks = values(breaks, k + 1, "breaks");
  for (py::ssize_t i = 0; i < k; ++i)
    if (!(path.breaks[i] < path.breaks[at(i) + 1]))
      throw InputError(message("breaks must increase, but entry ", i + 1, " is ",
                               path.breaks[at(i) + 1], " after ", path.breaks[i]));
  const Array c = real_array(given, {k, 3, n}, "coefficients");
  path.coefficients.assign(c.data(), c.data() + c.size());

  TimingOptions options;
  options.velocity = limit_values(velocity, n, "velocity");
  options.acceleration = limit_values(acceleration, n, "acceleration");
  options.jerk = optional_limits(jerk, n, "jerk");
  options.start_velocity = optional_values(start_velocity, n, "start_velocity");
  options.end_velocity = optional_values(end_velocity, n, "end_velocity");
  if (!names.empty() && static_cast<py::ssize_t>(names.size()) != n)
    throw InputError(message("names has ", names.size(), " entries; expected ", n));
  options.names = names;

  std::optional<PathTorque> torque;
  std::optional<PathSpeed> speed;
  if (!tool_speed.empty() && model == nullptr) throw InputError("tool_speed needs a model");
  if (model != nullptr) {
    std::vector<int> moving;
    if (columns) moving = checked_columns(*model, *columns);
    if (!columns)
      for (int i = 0; i < model->n_q; ++i) moving.push_back(i);
    checked_columns(*model, moving);
    if (static_cast<py::ssize_t>(moving.size()) != n)
      throw InputError(
          message("the path has ", n, " columns, but ", moving.size(), " columns of q are named"));
    std::vector<double> rest(at(model->n_q), 0);
    if (!q_rest.is_none())
      rest = configuration(q_rest, *model, "q_rest");
    else if (n != model->n_q)
      throw InputError("q_rest is needed where only some columns of q move");
    torque.emplace(
        *model, moving, rest,
        effort.is_none() ? model->limits.effort : limit_values(effort, model->n_v, "effort"));
    std::vector<PathSpeed::Cap> caps;
    for (const auto& [link, most] : tool_speed) {
      const auto frame = std::find_if(model->frames.begin(), model->frames.end(),
                                      [&](const Frame& f) { return f.name == link; });
      if (frame == model->frames.end())
        throw InputError(message("tool_speed: there is no link '", link, "'"));
      if (!(most > 0 && std::isfinite(most)))
        throw InputError(message("tool_speed of '", link, "' is ", most, "; it must be positive"));
      caps.push_back({static_cast<int>(frame - model->frames.begin()), most});
    }
    if (!caps.empty()) speed.emplace(*model, moving, rest, caps);
  } else if (!effort.is_none()) {
    throw InputError("effort limits need a model");
  }
  py::gil_scoped_release release;
  const auto start = std::chrono::steady_clock::now();
  Timed timed;
  timed.result = time_path(path, options, torque ? &*torque : nullptr, speed ? &*speed : nullptr);
  timed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return timed;
}

py::tuple brake_bound(const py::object& q, const py::object& velocity,
                      const py::object& acceleration, const py::object& jerk, double fraction) {
  const py::array given = py::array::ensure(q);
  if (!given || given.ndim() != 1 || given.size() == 0) throw InputError("q must be a vector");
  const py::ssize_t n = given.size();
  if (!(fraction > 0 && fraction <= 1))
    throw InputError(message("fraction is ", fraction, "; expected 0 < fraction <= 1"));
  const std::vector<double> v0 = values(velocity, n, "velocity"),
                            a = limit_values(acceleration, n, "acceleration"),
                            j = optional_limits(jerk, n, "jerk");
  for (std::size_t i = 0; i < v0.size(); ++i)
    if (v0[i] != 0 && (a[i] == 0 || (!j.empty() && j[i] == 0)))
      throw InputError(message("entry ", i, " moves at ", v0[i],
                               ", but its acceleration or jerk limit is zero"));
  const PolynomialMotion motion = brake(values(q, n, "q"), v0, a, j, fraction);
  return py::make_tuple(vector_array(motion.breaks), coefficient_array(motion));
}

struct IkFound {
  IkResult result;
  int n_q;
  double seconds;
};

void read_box(const py::object& value, const char* name, double* box) {
  if (value.is_none()) return;
  const Array array = real_array(value, {6}, name, false);
  for (int i = 0; i < 6; ++i) {
    if (std::isnan(array.data()[i])) throw InputError(message(name, " holds NaN at index ", i));
    box[i] = array.data()[i];
  }
}

IkFound inverse_kinematics_bound(
    const Model& model, int frame, const py::object& X_WG, const py::object& box_lower,
    const py::object& box_upper, const py::object& X_FE,
    const std::optional<std::vector<int>>& columns, const py::object& lower,
    const py::object& upper, const py::object& seeds, const py::object& reference, int random_seeds,
    std::uint64_t seed, int max_iterations, int max_solutions, double position_tolerance,
    double rotation_tolerance, double distinct, double position_slack, double rotation_slack) {
  if (frame < 0 || frame >= static_cast<int>(model.frames.size()))
    throw InputError(message("frame ", frame, " is not one of the model's ", model.frames.size()));
  // Goal: a pose, and a box of tolerances around it.
  IkGoal goal;
  goal.frame = frame;
  goal.X_WG = read_pose(X_WG, "X_WG");
  if (!X_FE.is_none()) goal.X_FE = read_pose(X_FE, "X_FE");
  read_box(box_lower, "box_lower", goal.lower);
  read_box(box_upper, "box_upper", goal.upper);
  for (int i = 0; i < 6; ++i)
    if (!(goal.lower[i] <= goal.upper[i]))
      throw InputError(message("box_lower[", i, "] is ", goal.lower[i], ", above box_upper[", i,
                               "], ", goal.upper[i]));

  // Columns to solve for, and their limits.
  IkOptions options;
  if (columns) {
    options.columns = checked_columns(model, *columns);
  } else {
    for (const Joint& joint : model.joints)
      if (!joint.mimic && joint.n_q == joint.n_v)
        for (int k = 0; k < joint.n_q; ++k) options.columns.push_back(joint.q_index + k);
  }
  const py::ssize_t n = static_cast<py::ssize_t>(options.columns.size());
  options.lower = optional_values(lower, n, "lower", false);
  options.upper = optional_values(upper, n, "upper", false);
  for (const int column : options.columns) {
    if (lower.is_none()) options.lower.push_back(model.limits.q_lower[column]);
    if (upper.is_none()) options.upper.push_back(model.limits.q_upper[column]);
  }
  for (std::size_t j = 0; j < options.lower.size(); ++j)
    if (!(options.lower[j] <= options.upper[j]))
      throw InputError(message("the lower limit ", options.lower[j], " of column ",
                               options.columns[j], " is above the upper, ", options.upper[j]));
  // Reference, seeds and tolerances.
  options.reference = configuration(reference, model, "reference");
  if (!seeds.is_none()) {
    const py::array given = py::array::ensure(seeds);
    if (!given || given.ndim() != 2)
      throw InputError(message("seeds must have shape (k, ", model.n_q, ")"));
    const Array array = configuration_array(given, model, {given.shape(0), model.n_q}, "seeds");
    options.seeds.assign(array.data(), array.data() + array.size());
  }
  if (random_seeds < 0 || max_iterations < 1 || max_solutions < 1)
    throw InputError(
        "random_seeds must be at least 0, max_iterations and max_solutions at least 1");
  if (!(position_tolerance > 0 && rotation_tolerance > 0 && distinct > 0))
    throw InputError("tolerances must be positive");
  options.random_seeds = random_seeds;
  options.seed = seed;
  options.max_iterations = max_iterations;
  options.max_solutions = max_solutions;
  options.position_tolerance = position_tolerance;
  options.rotation_tolerance = rotation_tolerance;
  options.distinct = distinct;
  if (!(position_slack >= 0 && rotation_slack >= 0))
    throw InputError("slacks must not be negative");
  options.position_slack = position_slack;
  options.rotation_slack = rotation_slack;
  py::gil_scoped_release release;
  const auto start = std::chrono::steady_clock::now();
  IkFound found{inverse_kinematics(model, goal, options), model.n_q, 0};
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return found;
}

void bind_inverse_kinematics(py::module_& m) {
  py::class_<IkFound>(
      m, "IkResult", "Solutions of inverse kinematics, nearest first, or the closest that it came.")
      .def_property_readonly(
          "solutions",
          [](const IkFound& f) {
            Array out(Shape2{static_cast<py::ssize_t>(f.result.solutions.size()), f.n_q});
            double* to = out.mutable_data();
            for (const IkSolution& s : f.result.solutions)
              to = std::copy(s.q.begin(), s.q.end(), to);
            return out;
          },
          "(k, n_q), nearest to the reference first.")
      .def_property_readonly(
          "errors",
          [](const IkFound& f) {
            Array out(Shape2{static_cast<py::ssize_t>(f.result.solutions.size()), 2});
            double* to = out.mutable_data();
            for (const IkSolution& s : f.result.solutions)
              *to++ = s.position_error, *to++ = s.rotation_error;
            return out;
          },
          "(k, 2): what each lacks to the goal's box [m], [rad].")
      .def_property_readonly(
          "best", [](const IkFound& f) { return vector_array(f.result.best.q); },
          "Without solutions: (n_q) the closest that it came; else empty.")
      .def_property_readonly(
          "best_error",
          [](const IkFound& f) {
            return py::make_tuple(f.result.best.position_error, f.result.best.rotation_error);
          },
          "What that lacks to the goal's box: [m], [rad].")
      .def_property_readonly(
          "beyond",
          [](const IkFound& f) -> py::object {
            const auto& b = f.result.beyond;
            if (!b.is_proven) return py::none();
            return py::make_tuple(b.distance, b.least, b.most, b.first, b.last);
          },
          "Where the goal is proven out of reach (distance, least, most [m], first, last): the "
          "distance that points on the axes of\n"
          "these two joints would have, and between which it can be; else None.")
      .def_property_readonly("iterations", [](const IkFound& f) { return f.result.iterations; })
      .def_property_readonly(
          "seeds", [](const IkFound& f) { return f.result.seeds; }, "How many were tried.")
      .def_readonly("seconds", &IkFound::seconds, "Time it took.");
  m.def("inverse_kinematics", &inverse_kinematics_bound, py::arg("model"), py::arg("frame"),
        py::arg("X_WG"), py::kw_only(), py::arg("box_lower") = py::none(),
        py::arg("box_upper") = py::none(), py::arg("X_FE") = py::none(),
        py::arg("columns") = py::none(), py::arg("lower") = py::none(),
        py::arg("upper") = py::none(), py::arg("seeds") = py::none(), py::arg("reference"),
        py::arg("random_seeds") = 100, py::arg("seed") = 0, py::arg("max_iterations") = 60,
        py::arg("max_solutions") = 64, py::arg("position_tolerance") = 1e-6,
        py::arg("rotation_tolerance") = 1e-6, py::arg("distinct") = 1e-2,
        py::arg("position_slack") = 0.0, py::arg("rotation_slack") = 0.0,
        "Configurations with frame E (X_FE on the model's frame of this index) at the goal pose "
        "X_WG (4, 4), or within the box\n"
        "box_lower <= (x, y, z [m], rotation x, y, z [rad]) <= box_upper about it, in its axes; "
        "infinite bounds free an axis.\n"
        "Rotation: the twist about the axis with the widest range, then a rotation vector for the "
        "other two.\n"
        "columns: the entries of q that may move (all but floating joints'), within lower and "
        "upper (the model's limits); the\n"
        "others stay as in reference (n_q), which also decides what is near. seeds (k, n_q) are "
        "tried first, then random_seeds\n"
        "spread over the limits, shifted by seed, until max_solutions distinct ones are found. Of "
        "configurations 2 pi apart the\n"
        "nearest to the reference is given. What is proven out of reach by more than the slacks is "
        "tried from few seeds.");
}

}  // namespace

void bind_motion(py::module_& m) {
  bind_inverse_kinematics(m);
  bind_ik_batch(m);
  py::class_<Timed>(m, "TimingResult", "A timed path, or why there is none.")
      .def_property_readonly(
          "status", [](const Timed& t) { return to_string(t.result.status); },
          "'solved', 'zero_limit', 'static_torque', 'start_velocity', 'end_velocity', "
          "'torque_limit' or "
          "'jerk_start_velocity'.")
      .def_property_readonly(
          "reason", [](const Timed& t) { return t.result.reason; }, "In words; empty when solved.")
      .def_property_readonly(
          "breaks", [](const Timed& t) { return vector_array(t.result.motion.breaks); },
          "(k + 1) [s], from 0.")
      .def_property_readonly(
          "coefficients", [](const Timed& t) { return coefficient_array(t.result.motion); },
          "(k, 6, n) in powers of (t - breaks[i]).")
      .def_property_readonly(
          "duration",
          [](const Timed& t) {
            return t.result.motion.breaks.empty() ? 0.0 : t.result.motion.breaks.back();
          })
      .def_property_readonly(
          "column", [](const Timed& t) { return t.result.column; },
          "What the reason is about: a column, for 'static_torque' an entry of v; -1 for none.")
      .def_property_readonly(
          "s", [](const Timed& t) { return t.result.s; }, "Where on the path the reason is about.")
      .def_property_readonly(
          "intervals", [](const Timed& t) { return t.result.intervals; }, "Of the grid.")
      .def_property_readonly(
          "torque_limited", [](const Timed& t) { return t.result.torque_limited; },
          "Whether torque limits shape the motion.")
      .def_property_readonly(
          "slowdown", [](const Timed& t) { return t.result.slowdown; },
          "Factor of a last uniform slowing down for torque limits; 1 when the optimization kept "
          "them.")
      .def_property_readonly(
          "resisted", [](const Timed& t) { return t.result.resisted; },
          "Whether torque limits shape it, of joints with damping or dry friction: these may be "
          "anything up to what is stated.")
      .def_property_readonly(
          "sooner_as_stated", [](const Timed& t) { return t.result.sooner_as_stated; },
          "How much sooner the motion could end if damping and dry friction were surely as the "
          "model says [s].")
      .def_property_readonly(
          "sooner_without", [](const Timed& t) { return t.result.sooner_without; },
          "How much sooner it could end if there were surely none [s].")
      .def_property_readonly(
          "window", [](const Timed& t) { return t.result.window; },
          "Of the moving average for jerk limits [s].")
      .def_property_readonly(
          "deviation", [](const Timed& t) { return t.result.deviation; },
          "Bound of how far the moving average leaves the path, over columns [rad, m].")
      .def_readonly("seconds", &Timed::seconds, "Time it took.");
  m.def("time_path", &time_path_bound, py::arg("breaks"), py::arg("coefficients"),
        py::arg("velocity"), py::arg("acceleration"), py::kw_only(), py::arg("jerk") = py::none(),
        py::arg("start_velocity") = py::none(), py::arg("end_velocity") = py::none(),
        py::arg("model") = nullptr, py::arg("columns") = py::none(), py::arg("q_rest") = py::none(),
        py::arg("effort") = py::none(), py::arg("names") = std::vector<std::string>(),
        py::arg("tool_speed") = std::map<std::string, double>(),
        "The fastest motion along a piecewise quadratic path q(s), breaks (k + 1) and coefficients "
        "(k, 3, n), within limits per\n"
        "column (infinite for none). With a model, torques are limited too, by effort (n_v; the "
        "model's by default): the path's\n"
        "columns are then these entries of q, the others stay as in q_rest; tool_speed has the "
        "most that the origins of links may move,\n"
        "by name [m/s]. Velocities at the ends have to be along the path. The\n"
        "motion stops where the path has a corner. A jerk limit lets the motion leave the path by "
        "`deviation`: check it again.");
  m.def("brake", &brake_bound, py::arg("q"), py::arg("velocity"), py::arg("acceleration"),
        py::arg("jerk") = py::none(), py::arg("fraction") = 1.0,
        "From q with this velocity straight to rest within fraction * acceleration and jerk: "
        "(breaks, coefficients (k, 6, n)).");
}

}  // namespace robosim

#include "bindings/ik_batch.h"

#include <pybind11/stl.h>

#include <tuple>

#include "bindings/bound_scene.h"
#include "planning/ik_batch.h"

namespace py = pybind11;

namespace robosim {

namespace {

const char* name_of(IkStatus status) {
  switch (status) {
    case IkStatus::solved:
      return "solved";
    case IkStatus::out_of_reach:
      return "out_of_reach";
    case IkStatus::in_collision:
      return "in_collision";
    case IkStatus::not_found:
      break;
  }
  return "not_found";
}

// Read poses (n, 4, 4), each checked to be a rigid transform as far as the last row is concerned.
std::vector<SE3d> read_poses(const py::handle& value, const char* name) {
  const Array array = real_array(value, extents_of(value, {-1, 4, 4}), name);
  std::vector<SE3d> poses;
  for (py::ssize_t i = 0; i < array.shape(0); ++i) {
    const double* m = array.data() + 16 * i;
    if (m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] != 1)
      throw InputError(message(name, "[", i, "] is not a pose: its last row must be 0 0 0 1"));
    poses.push_back(
        {{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}, {m[3], m[7], m[11]}});
  }
  return poses;
}

void read_bounds(const py::handle& value, const char* name, double* box) {
  const Array array = real_array(value, {6}, name, false);
  for (int i = 0; i < 6; ++i) {
    if (std::isnan(array.data()[i])) throw InputError(message(name, " holds NaN at index ", i));
    box[i] = array.data()[i];
  }
}

py::dict inverse_kinematics_many_bound(const Model& model, int frame, const py::handle& X_WG,
                                       const py::handle& start, const std::vector<int>& columns,
                                       const py::handle& lower, const py::handle& upper,
                                       const py::handle& box_lower, const py::handle& box_upper,
                                       double position_tolerance, double rotation_tolerance,
                                       BoundScene* scene, std::uint64_t seed, int attempts,
                                       int threads, const py::object& progress) {
  if (frame < 0 || frame >= static_cast<int>(model.frames.size()))
    throw InputError(message("frame ", frame, " is not one of the model's ", model.frames.size()));
  // Poses, goal and columns.
  const std::vector<SE3d> poses = read_poses(X_WG, "poses");
  const py::ssize_t n = static_cast<py::ssize_t>(poses.size());
  IkGoal goal;
  goal.frame = frame;
  read_bounds(box_lower, "box_lower", goal.lower);
  read_bounds(box_upper, "box_upper", goal.upper);
  for (int i = 0; i < 6; ++i)
    if (!(goal.lower[i] <= goal.upper[i]))
      throw InputError(message("box_lower[", i, "] is ", goal.lower[i], ", above box_upper[", i,
                               "], ", goal.upper[i]));
  IkBatchOptions options;
  options.ik.columns = checked_columns(model, columns);
  std::tie(options.ik.lower, options.ik.upper) = limits_from(lower, upper, options.ik.columns);
  // First attempts, options and their checks.
  const py::array given = py::array::ensure(start);
  const bool is_shared = given && given.ndim() == 1;
  const Array starts = configuration_array(
      start, model, is_shared ? Shape2{model.n_q} : Shape2{n, model.n_q}, "start");
  if (!(position_tolerance > 0 && rotation_tolerance > 0))
    throw InputError("tolerances must be positive");
  if (attempts < 1) throw InputError(message("attempts is ", attempts, "; it must be at least 1"));
  if (threads < 0) throw InputError(message("threads is ", threads, "; it must not be negative"));
  if (scene && &scene->scene.model() != &model) throw InputError("scene is that of another model");
  options.ik.position_tolerance = position_tolerance;
  options.ik.rotation_tolerance = rotation_tolerance;
  options.position_aim = std::min(options.position_aim, position_tolerance);
  options.rotation_aim = std::min(options.rotation_aim, rotation_tolerance);
  options.ik.seed = seed;
  options.attempts = attempts;
  options.threads = threads;
  options.scene = scene ? &scene->batch : nullptr;
  // Progress, with Python's signals.
  bool raised = false;
  options.go_on = [&](int done) {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) return raised = true, false;
    if (progress.is_none()) return true;
    PyObject* answer = PyObject_CallFunction(progress.ptr(), "i", done);
    if (!answer) return raised = true, false;
    const bool stop = answer == Py_False;
    Py_DECREF(answer);
    return !stop;
  };
  IkBatchResult result;
  {
    const py::gil_scoped_release release;
    result = inverse_kinematics_many(model, goal, static_cast<int>(n), poses.data(), starts.data(),
                                     is_shared, options);
  }
  if (raised) throw py::error_already_set();
  // Results as arrays.
  Array q(Shape2{n, model.n_q});
  std::copy(result.q.begin(), result.q.end(), q.mutable_data());
  Array reach(Shape2{n, 3});
  py::array_t<int> status(n), tried(n);
  for (py::ssize_t i = 0; i < n; ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    status.mutable_data()[i] = static_cast<int>(result.status[k]);
    tried.mutable_data()[i] = result.attempts[k];
    double* to = reach.mutable_data() + 3 * i;
    to[0] = result.distance[k];
    to[1] = result.least[k];
    to[2] = result.most[k];
  }
  py::dict out;
  out["q"] = q;
  out["status"] = status;
  out["attempts"] = tried;
  out["reach"] = reach;
  out["position_error"] = vector_array(result.position_error);
  out["rotation_error"] = vector_array(result.rotation_error);
  out["joints"] = py::make_tuple(result.first, result.last);
  return out;
}

}  // namespace

void bind_ik_batch(py::module_& m) {
  std::vector<std::string> names;
  for (const IkStatus s :
       {IkStatus::solved, IkStatus::out_of_reach, IkStatus::in_collision, IkStatus::not_found})
    names.push_back(name_of(s));
  m.attr("ik_statuses") = py::tuple(py::cast(names));
  m.def("inverse_kinematics_many", &inverse_kinematics_many_bound, py::arg("model"),
        py::arg("frame"), py::arg("poses"), py::kw_only(), py::arg("start"), py::arg("columns"),
        py::arg("lower"), py::arg("upper"), py::arg("box_lower"), py::arg("box_upper"),
        py::arg("position_tolerance") = 1e-6, py::arg("rotation_tolerance") = 1e-6,
        py::arg("scene") = nullptr, py::arg("seed") = 0, py::arg("attempts") = 101,
        py::arg("threads") = 0, py::arg("progress") = py::none(),
        "A configuration for each of the poses (n, 4, 4) of a frame, or for the box about it as in "
        "inverse_kinematics:\n"
        "a dict of q (n, n_q), status (n) as an index into ik_statuses, attempts (n), "
        "position_error and rotation_error\n"
        "(n), and reach (n, 3): where out of reach the distance of points on the axes of two "
        "joints that the pose\n"
        "takes, and the least and most that it can be; joints: their names.\n"
        "start: (n_q) or (n, n_q), the first attempt. scene: of this model; answers are free of "
        "collisions.\n"
        "progress(done) is called now and then, and ends it by returning False.");
}

}  // namespace robosim

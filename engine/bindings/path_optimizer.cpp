// Optimization of paths by gradients of signed distances.
#include "planning/path_optimizer.h"

#include <limits>
#include <tuple>

#include <pybind11/stl.h>

#include "bindings/bound_scene.h"
#include "bindings/module.h"

namespace py = pybind11;

namespace robosim {
namespace {

struct BoundPath : OptimizedPath {
  int n_q = 0;
};

}  // namespace

void bind_path_optimizer(py::module_& m) {
  py::class_<BoundPath>(m, "OptimizedPath", "What an optimization made of a path.")
      .def_property_readonly(
          "path", [](const BoundPath& p) { return path_array(p.path, p.n_q); },
          "Waypoints (p, n_q).")
      .def_readonly("improved", &BoundPath::improved, "False: the path is the one given.")
      .def_readonly("cost_before", &BoundPath::cost_before,
                    "Of the path given, by the weights used last.")
      .def_readonly("cost_after", &BoundPath::cost_after, "Of the path found, by the same weights.")
      .def_readonly("iterations", &BoundPath::iterations);

  m.def(
      "optimize_path",
      [](BoundScene& s, const py::handle& path, const std::vector<int>& columns,
         const py::handle& lower, const py::handle& upper, double clearance, double smoothness,
         int iterations, double deadline_s, double resolution) {
        const Model& model = s.scene.model();
        PathOptimizerOptions options;
        options.columns = checked_columns(model, columns);
        std::tie(options.lower, options.upper) = limits_from(lower, upper, columns);
        if (!(clearance >= 0 && std::isfinite(clearance)))
          throw InputError(
              message("clearance is ", clearance, " m; it must be a finite number, not negative"));
        options.clearance = clearance;
        if (!(smoothness >= 0 && std::isfinite(smoothness)))
          throw InputError(
              message("smoothness is ", smoothness, "; it must be a finite number, not negative"));
        options.smoothness = smoothness;
        if (iterations < 0)
          throw InputError(message("iterations is ", iterations, "; it must not be negative"));
        options.iterations = iterations;
        options.deadline = checked_deadline(deadline_s);
        options.resolution = checked_resolution(resolution);
        const std::vector<double> waypoints = path_from(path, model);
        BoundPath out;
        out.n_q = model.n_q;
        const py::gil_scoped_release release;
        static_cast<OptimizedPath&>(out) = optimize_path(*BoundScene::Lease(s), waypoints, options);
        return out;
      },
      py::arg("scene"), py::arg("path"), py::arg("columns"), py::arg("lower"), py::arg("upper"),
      py::arg("clearance") = 0.0, py::arg("smoothness") = PathOptimizerOptions().smoothness,
      py::arg("iterations") = PathOptimizerOptions().iterations,
      py::arg("deadline_s") = std::numeric_limits<double>::infinity(),
      py::arg("resolution") = 0.005,
      "A path between the ends of the free polyline path (p, n_q), within lower and upper (n,) of "
      "the columns, that is shorter,\n"
      "rounder and farther from what it passes, up to `clearance` [m]; every edge is proven free. "
      "Or the path given, when\n"
      "nothing better was found. See robosim.planners.optimize.");
}

}  // namespace robosim

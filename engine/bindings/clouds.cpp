// Clouds of points, as cameras measure them.
#include "scene/near_points.h"

#include "base/thread_pool.h"
#include "bindings/bound_scene.h"
#include "bindings/module.h"
#include "bindings/shape_arguments.h"
#include "geometry/bodies/voxels.h"

namespace py = pybind11;

namespace robosim {

void bind_clouds(py::module_& m) {
  m.def(
      "merged_points",
      [](const py::object& points, double edge) {
        const std::vector<Vec3d> given = read_points(points, "points");
        const MergedPoints merged = merged_points(given, edge);
        return std::make_tuple(points_array(merged.points), merged.farthest);
      },
      py::arg("points"), py::arg("edge"),
      "See robosim.scene.clean_cloud: (points (k, 3), distance of the farthest point from the one "
      "that stands for it).");
  m.def(
      "near_robot",
      [](BoundScene& s, const py::handle& q, const py::object& points, double margin, int threads) {
        const Array p = s.configuration(q);
        const std::vector<Vec3d> given = read_points(points, "points");
        checked_margin(margin);
        if (threads < 0)
          throw InputError(message("threads is ", threads, "; it must not be negative"));
        threads = threads > 0 ? std::min(threads, thread_limit()) : thread_limit();
        const BoundScene::Lease checker(s);
        std::vector<char> near;
        {
          SceneQuery& query = checker.at(p);
          const py::gil_scoped_release release;
          near = near_robot(query, given, margin, threads);
        }
        py::array_t<bool> out(static_cast<py::ssize_t>(near.size()));
        std::copy(near.begin(), near.end(), out.mutable_data());
        return out;
      },
      py::arg("scene"), py::arg("q"), py::arg("points"), py::arg("margin"), py::arg("threads"),
      "Whether each of the points (n, 3) in W is within margin [m] of the robot at q (n_q,), or of "
      "what it holds: (n,).");
}

}  // namespace robosim

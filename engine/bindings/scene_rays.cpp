// Rays in scenes.
#include "scene/scene_rays.h"

#include <pybind11/stl.h>

#include "bindings/bound_scene.h"
#include "bindings/module.h"
#include "bindings/ray_arguments.h"

namespace py = pybind11;

namespace robosim {
namespace {

// Mark the objects that have one of these names or belong to a link of such a name.
std::vector<char> named(const CollisionScene& scene, const std::vector<std::string>& names) {
  std::vector<char> marked(scene.objects().size(), 0);
  const Model& model = scene.model();
  for (const std::string& name : names) {
    bool known = std::any_of(model.frames.begin(), model.frames.end(),
                             [&](const Frame& frame) { return frame.name == name; });
    for (std::size_t i = 0; i < marked.size(); ++i) {
      const bool is_link =
          i < model.colliders.size() && model.frames[model.colliders[i].frame].name == name;
      if (is_link || scene.objects()[i].name == name) {
        marked[i] = 1;
        known = true;
      }
    }
    if (!known)
      throw InputError(message(
          "'", name, "' is neither an object of the scene nor a link or collider of the robot"));
  }
  return marked;
}

}  // namespace

void bind_scene_rays(py::module_& m) {
  m.def(
      "scene_ray_cast",
      [](BoundScene& s, const py::handle& q, const py::object& origins,
         const py::object& directions, double max_t, const std::vector<std::string>& ignore,
         int threads) {
        const Array p = s.configuration(q);
        const std::vector<Ray> rays = checked_rays(origins, directions, max_t, threads);
        const BoundScene::Lease checker(s);
        const SceneRays::Placed placed = s.rays().at(checker.at(p), named(s.scene, ignore));
        return cast_all(rays, threads, [&](const Ray& ray) { return placed.cast(ray, max_t); });
      },
      py::arg("scene"), py::arg("q"), py::arg("origins"), py::arg("directions"), py::arg("max_t"),
      py::arg("ignore"), py::arg("threads"), "See robosim.scene.ray_cast.");
}

}  // namespace robosim

#include "scene/scene_rays.h"

#include <utility>

#include "geometry/bodies/compound_rays.h"
#include "geometry/bodies/ray_descent.h"

namespace robosim {
namespace {

std::size_t at_index(int i) { return static_cast<std::size_t>(i); }

// Tree over the objects that move, or over those that do not.
template <class Pose>
AabbTree tree_over(const CollisionScene& scene, bool moving, Pose&& pose) {
  std::vector<Aabb> boxes;
  std::vector<int> items;
  for (std::size_t i = 0; i < scene.objects().size(); ++i) {
    const SceneObject& object = scene.objects()[i];
    if ((object.body != 0) != moving) continue;
    boxes.push_back(bounding_box(object.geometry, pose(static_cast<int>(i))));
    items.push_back(static_cast<int>(i));
  }
  return AabbTree(boxes, 1, items);
}

RayHit cast_at(const CollisionGeometry& geometry, const SE3d& X, const Ray& ray, double max_t) {
  const Body body = geometry.exact_body();
  return body.compound() ? ray_cast(*body.compound(), X, ray, max_t).hit
                         : ray_cast(geometry.shape, X, ray, max_t);
}

}  // namespace

SceneRays::SceneRays(const CollisionScene& scene)
    : scene_(&scene),
      fixed_(tree_over(scene, false, [&](int i) { return scene.object(i).X_BO; })) {}

SceneRays::Placed SceneRays::at(SceneQuery& query, std::vector<char> passed) const {
  Placed placed;
  placed.rays_ = this;
  placed.passed_ = std::move(passed);
  for (std::size_t i = 0; i < scene_->objects().size(); ++i)
    placed.X_WO_.push_back(query.X_WO(static_cast<int>(i)));
  placed.moving_ = tree_over(*scene_, true, [&](int i) { return placed.X_WO_[at_index(i)]; });
  return placed;
}

SceneRayHit SceneRays::Placed::cast(const Ray& ray, double max_t) const {
  SceneRayHit best;
  if (!(squared_norm(ray.direction) > 0) || !(max_t >= 0)) return best;
  // Allow for rounding relative to t. A box entered after the best hit cannot have an earlier one.
  const auto limit = [&] { return best.object < 0 ? max_t : best.hit.t * (1 + 1e-14); };
  for (const AabbTree* tree : {&rays_->fixed_, &moving_}) {
    if (tree->nodes().empty()) continue;
    descend(*tree, ray, ray_slack(tree->node(0).box, ray.origin), limit,
            [&](const AabbTree::Node& leaf) {
              const int object = tree->item(leaf.first);
              if (passed_[at_index(object)]) return;
              const RayHit hit = cast_at(rays_->scene_->object(object).geometry,
                                         X_WO_[at_index(object)], ray, max_t);
              if (hit.hit && (best.object < 0 || hit.t < best.hit.t ||
                              (hit.t == best.hit.t && object < best.object)))
                best = {hit, object};
            });
  }
  return best;
}

}  // namespace robosim

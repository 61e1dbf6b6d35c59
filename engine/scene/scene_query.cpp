#include "scene/scene_query.h"

#include <algorithm>

namespace robosim {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

SceneQuery::SceneQuery(const CollisionScene& scene)
    : scene_(&scene),
      data_(scene.model()),
      centres_(scene.objects().size()),
      body_centres_(static_cast<std::size_t>(scene.model().n_bodies())),
      X_WO_(scene.objects().size()),
      stamp_(scene.objects().size(), 0),
      caches_(scene.single_pairs().size()) {
  for (std::size_t i = 0; i < scene.objects().size(); ++i) {
    const SceneObject& object = scene.objects()[i];
    if (object.body != 0) continue;
    X_WO_[i] = object.X_BO;
    centres_[i] = object.p_BC;
  }
}

void SceneQuery::place(const double* q) {
  forward_kinematics(scene_->model(), data_, q);
  for (std::size_t i = 0; i < centres_.size(); ++i) {
    const SceneObject& object = scene_->objects()[i];
    if (object.body != 0) centres_[i] = data_.X_WB[static_cast<std::size_t>(object.body)] * object.p_BC;
  }
  for (std::size_t i = 1; i < body_centres_.size(); ++i) body_centres_[i] = data_.X_WB[i] * scene_->body_ball(static_cast<int>(i)).centre;
  // After 2^32 - 1 calls the counter starts again, and no old stamp may look new.
  if (++now_ == 0) {
    std::fill(stamp_.begin(), stamp_.end(), 0);
    now_ = 1;
  }
}

template <class Margin, class Visit>
bool SceneQuery::visit_near(Margin&& margin, Visit&& visit) {
  const auto& single = scene_->single_pairs();
  for (const CollisionScene::Cluster& cluster : scene_->clusters()) {
    if (cluster_distance(cluster) > margin()) continue;
    for (int k = cluster.first; k < cluster.first + cluster.count; ++k) {
      const auto [a, b, index] = single[static_cast<std::size_t>(k)];
      if (coarse_distance(a, b) <= margin() && finer_distance(a, b) <= margin() && visit(a, b, k)) return true;
    }
  }
  for (const CollisionScene::Group& group : scene_->groups()) {
    const Aabb box = bounding_box(scene_->object(group.object).shape, X_WO(group.object));
    if (scene_->bvh(group.bvh).visit_near(box, margin(), [&](int b) {
          return coarse_distance(group.object, b) <= margin() && visit(group.object, b, -1);
        }))
      return true;
  }
  return false;
}

bool SceneQuery::collides(int* a, int* b) {
  int found_a = -1, found_b = -1;
  if (scene_->overlapping_fixed_pair() >= 0) {
    const auto& pair = scene_->pairs()[static_cast<std::size_t>(scene_->overlapping_fixed_pair())];
    found_a = pair.first, found_b = pair.second;
  } else {
    visit_near([] { return 0.0; },
               [&](int i, int j, int single) {
                 PairCache* cache = single < 0 ? nullptr : &caches_[static_cast<std::size_t>(single)];
                 if (!closer_than(0, scene_->object(i).shape, X_WO(i), scene_->object(j).shape, X_WO(j), cache)) return false;
                 found_a = i, found_b = j;
                 return true;
               });
  }
  if (a) *a = found_a;
  if (b) *b = found_b;
  return found_a >= 0;
}

void SceneQuery::contacts(double margin, std::vector<Contact>& out) {
  out.clear();
  const auto take = [&](int i, int j, int) {
    const Witness w = signed_distance(scene_->object(i).shape, X_WO(i), scene_->object(j).shape, X_WO(j));
    if (w.distance < margin) out.push_back({i, j, w});
    return false;
  };
  visit_near([&] { return margin; }, take);
  for (const CollisionScene::Pair& pair : scene_->fixed_pairs()) take(pair.a, pair.b, -1);
}

SceneQuery::Contact SceneQuery::closest() {
  Contact best;
  best.witness.distance = infinity;
  const auto take = [&](int i, int j, int) {
    const Witness w = signed_distance(scene_->object(i).shape, X_WO(i), scene_->object(j).shape, X_WO(j));
    if (w.distance < best.witness.distance) best = {i, j, w};
    return false;
  };
  // A coarse bound says nothing about how deep an overlap is: once one pair overlaps, all that may overlap are asked.
  visit_near([&] { return std::max(best.witness.distance, 0.0); }, take);
  for (const CollisionScene::Pair& pair : scene_->fixed_pairs()) take(pair.a, pair.b, -1);
  return best;
}

void SceneQuery::distances(double* out) {
  for (const auto& [a, b] : scene_->pairs())
    *out++ = signed_distance(scene_->object(a).shape, X_WO(a), scene_->object(b).shape, X_WO(b)).distance;
}

}  // namespace robosim

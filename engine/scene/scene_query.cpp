#include "scene/scene_query.h"

#include <algorithm>

#include "base/constants.h"

namespace robosim {
SceneQuery::SceneQuery(const CollisionScene& scene)
    : scene_(&scene),
      data_(scene.model()),
      q_(static_cast<std::size_t>(scene.model().n_q)),
      centers_(scene.objects().size()),
      body_centers_(static_cast<std::size_t>(scene.model().n_bodies())),
      X_WO_(scene.objects().size()),
      stamp_(scene.objects().size(), 0),
      caches_(scene.single_pairs().size()) {
  for (std::size_t i = 0; i < scene.objects().size(); ++i) {
    const SceneObject& object = scene.objects()[i];
    if (object.body != 0) continue;
    X_WO_[i] = object.X_BO;
    centers_[i] = object.p_BC;
  }
}

void SceneQuery::place(const double* q) {
  forward_kinematics(scene_->model(), data_, q);
  place_objects(q);
}

void SceneQuery::place(const double* q, const std::vector<SE3d>& X_WB) {
  std::copy(X_WB.begin(), X_WB.end(), data_.X_WB.begin());
  place_objects(q);
}

void SceneQuery::place_objects(const double* q) {
  std::copy_n(q, q_.size(), q_.begin());
  for (std::size_t i = 0; i < centers_.size(); ++i) {
    const SceneObject& object = scene_->objects()[i];
    if (object.body != 0) centers_[i] = data_.X_WB[object.body] * object.p_BC;
  }
  for (std::size_t i = 1; i < body_centers_.size(); ++i)
    body_centers_[i] = data_.X_WB[i] * scene_->body_ball(static_cast<int>(i)).center;
  // After 2^32 - 1 calls the counter restarts, and no old stamp may look valid.
  if (++now_ == 0) {
    std::fill(stamp_.begin(), stamp_.end(), 0);
    now_ = 1;
  }
}

template <class Margin, class Visit>
bool SceneQuery::visit_groups(Margin&& margin, Visit&& visit) {
  for (const CollisionScene::Group& group : scene_->groups()) {
    const Aabb box = bounding_box(scene_->object(group.object).geometry, X_WO(group.object));
    const auto within = [&, body = scene_->object(group.object).body] { return margin(body, 0); };
    if (scene_->bvh(group.bvh).visit_near(box, within(), [&](int b) {
          return coarse_distance(group.object, b) <= within() && visit(group.object, b);
        }))
      return true;
  }
  return false;
}

template <class Margin, class Visit>
bool SceneQuery::visit_near(Margin&& margin, Visit&& visit) {
  const auto& single = scene_->single_pairs();
  for (const CollisionScene::Cluster& cluster : scene_->clusters()) {
    const auto within = [&] { return margin(cluster.body_a, cluster.body_b); };
    if (cluster_distance(cluster) > within()) continue;
    for (int k = cluster.first; k < cluster.first + cluster.count; ++k) {
      const auto [a, b, index] = single[k];
      if (coarse_distance(a, b) <= within() && finer_distance(a, b) <= within() && visit(a, b, k))
        return true;
    }
  }
  return visit_groups(margin, [&](int a, int b) { return visit(a, b, -1); });
}

bool SceneQuery::collides(int* a, int* b) {
  if (a) *a = -1;
  if (b) *b = -1;
  const auto found = [&](int i, int j) {
    if (a) *a = i;
    if (b) *b = j;
    return true;
  };
  if (scene_->overlapping_fixed_pair() >= 0) {
    const auto& pair = scene_->pairs()[scene_->overlapping_fixed_pair()];
    return found(pair.first, pair.second);
  }
  // Find the pairs that may overlap, by the balls about bodies and then by the balls about objects.
  // All distances are squared, without roots.
  suspects_.clear();
  for (const CollisionScene::Cluster& cluster : scene_->clusters()) {
    if (cluster.touchable == 0) continue;
    const Vec3d& p_a = body_center(cluster.body_a);
    double reach = scene_->body_ball(cluster.body_a).radius + rounding_slack, squared;
    if (cluster.b >= 0) {
      const Cover& cover = scene_->object(cluster.b).cover;
      reach += cover.radius;
      squared = squared_distance(cover, X_WO(cluster.b).inverse_times(p_a));
    } else {
      reach += scene_->body_ball(cluster.body_b).radius;
      squared = squared_norm(body_center(cluster.body_b) - p_a);
    }
    if (squared > reach * reach) continue;
    for (int k = cluster.first; k < cluster.first + cluster.touchable; ++k) {
      const CollisionScene::Pair& pair = scene_->single_pairs()[k];
      const SceneObject& B = scene_->object(pair.b);
      const double r = scene_->object(pair.a).ball_radius + B.cover.radius + rounding_slack;
      const double d = squared_distance(B.cover, X_WO(pair.b).inverse_times(center(pair.a)));
      if (d <= r * r) suspects_.push_back({d / (r * r), k});
    }
  }
  // Test the pairs whose balls overlap most first.
  std::sort(suspects_.begin(), suspects_.end(), [](const Suspect& x, const Suspect& y) {
    return x.depth != y.depth ? x.depth < y.depth : x.single < y.single;
  });
  for (const Suspect& suspect : suspects_) {
    const CollisionScene::Pair& pair = scene_->single_pairs()[suspect.single];
    if (finer_distance(pair.a, pair.b) > 0) continue;
    if (const TurnTable* table = scene_->table_of(suspect.single);
        table && table->is_free_at(q_.data()))
      continue;
    if (overlaps(pair.a, X_WO(pair.a), pair.b, X_WO(pair.b), suspect.single))
      return found(pair.a, pair.b);
  }
  // Test the pairs that go through trees.
  return visit_groups([](int, int) { return 0.0; },
                      [&](int i, int j) { return overlaps(i, j) && found(i, j); });
}

void SceneQuery::decide_by_shapes() {
  by_shapes_ = true;
  by_bodies_.clear();
}

bool SceneQuery::decide_by_bodies(int a, int b) {
  if (!is_by_shapes(a, b)) return false;
  by_bodies_.push_back(std::minmax(a, b));
  return true;
}

SceneQuery::Contact SceneQuery::measured(int a, int b, PairCache* cache) {
  const CollisionGeometry &A = scene_->object(a).geometry, &B = scene_->object(b).geometry;
  const PieceWitness w = by_shapes_ && is_by_shapes(a, b)
                             ? shapes_closest_pieces(A, X_WO(a), B, X_WO(b), cache)
                             : closest_pieces(A, X_WO(a), B, X_WO(b), cache);
  return {a, b, w.witness, w.piece_A, w.piece_B};
}

void SceneQuery::contacts(double margin, std::vector<Contact>& out) {
  out.clear();
  const auto take = [&](int i, int j, int single) {
    // Most pairs are excluded by a plane between them.
    if (margin > 0 && distance_bound(margin, i, j, single) >= margin) return false;
    if (margin == 0 && stands_for_more(i, j) && !overlaps(i, j)) return false;
    const Contact contact = measured(i, j, nullptr);
    if (contact.witness.distance < margin) out.push_back(contact);
    return false;
  };
  visit_near([&](int, int) { return margin; }, take);
  for (const CollisionScene::Pair& pair : scene_->fixed_pairs()) take(pair.a, pair.b, -1);
}

void SceneQuery::add_manifolds(int a, int b, double margin, std::vector<PairManifold>& out) {
  const CollisionGeometry &A = scene_->object(a).geometry, &B = scene_->object(b).geometry;
  if (!A.compound && !B.compound) {
    // No cache: it would change the last digits.
    const Manifold manifold = contact_manifold(A.shape, X_WO(a), B.shape, X_WO(b), margin);
    if (manifold.n_points > 0) out.emplace_back(a, b, 0, 0, manifold);
    return;
  }
  pieces_.clear();
  finder_.find(margin, A.body(), X_WO(a), B.body(), X_WO(b), pieces_);
  for (const PieceManifold& p : pieces_)
    if (p.manifold.n_points > 0) out.emplace_back(a, b, p.piece_A, p.piece_B, p.manifold);
}

void SceneQuery::manifolds(double margin, std::vector<PairManifold>& out) {
  out.clear();
  visit_near([&](int, int) { return margin; },
             [&](int a, int b, int) {
               add_manifolds(a, b, margin, out);
               return false;
             });
}

void SceneQuery::manifolds(double least, const std::vector<double>& reach,
                           FunctionRef<double(int, int)> within, std::vector<PairManifold>& out) {
  out.clear();
  const auto farthest = [&](int a, int b) { return std::max(least, reach[a] + reach[b]); };
  visit_near(farthest, [&](int a, int b, int) {
    const int body_a = scene_->object(a).body, body_b = scene_->object(b).body;
    if (farthest(body_a, body_b) <= least) return add_manifolds(a, b, least, out), false;
    const double margin = std::max(least, within(body_a, body_b));
    if (coarse_distance(a, b) <= margin) add_manifolds(a, b, margin, out);
    return false;
  });
}

SceneQuery::Contact SceneQuery::closest() {
  Contact best;
  best.witness.distance = infinity;
  const auto take = [&](int i, int j, int) {
    const Contact contact = measured(i, j, nullptr);
    if (contact.witness.distance < best.witness.distance) best = contact;
    return false;
  };
  // A coarse bound does not limit the depth of an overlap: once one pair overlaps, all pairs that
  // may overlap are measured.
  visit_near([&](int, int) { return std::max(best.witness.distance, 0.0); }, take);
  for (const CollisionScene::Pair& pair : scene_->fixed_pairs()) take(pair.a, pair.b, -1);
  return best;
}

void SceneQuery::distances(double* out) {
  distance_caches_.resize(scene_->pairs().size());
  PairCache* cache = distance_caches_.data();
  for (const auto& [a, b] : scene_->pairs()) *out++ = measured(a, b, cache++).witness.distance;
}

}  // namespace robosim

#include "scene/self_collision.h"

#include "base/rng.h"
#include "dynamics/configuration.h"
#include "scene/scene_query.h"

namespace robosim {
namespace {

// A random configuration. Joints that leave every motion free stay at the origin: only relative placements matter.
void sample(const Model& model, Rng& rng, std::vector<double>& q) {
  neutral(model, q.data());
  detail::for_each_own_joint(model, [&]<class J>(J, const Joint& joint) {
    if (J::n_v == 6) return;
    double u[J::n_q];
    for (double& x : u) x = rng.uniform();
    const int k = joint.q_index;
    J::sample(u, model.limits.q_lower.data() + k, model.limits.q_upper.data() + k, q.data() + k);
  });
}

}  // namespace

std::vector<std::int64_t> sample_self_collisions(const Model& model, const std::vector<std::pair<int, int>>& pairs,
                                                 std::uint64_t seed, std::int64_t samples) {
  const CollisionScene scene(model, {}, pairs);
  SceneQuery query(scene);
  Rng rng(seed);
  std::vector<double> q(static_cast<std::size_t>(model.n_q));
  std::vector<std::int64_t> counts(pairs.size(), 0);
  std::vector<PairCache> caches(pairs.size());
  for (std::int64_t s = 0; s < samples; ++s) {
    sample(model, rng, q);
    query.place(q.data());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto [a, b] = pairs[i];
      if (query.coarse_distance(a, b) > 0) continue;
      const SceneObject &A = scene.object(a), &B = scene.object(b);
      if (closer_than(0, A.geometry, query.X_WO(a), B.geometry, query.X_WO(b), &caches[i])) ++counts[i];
    }
  }
  return counts;
}

}  // namespace robosim

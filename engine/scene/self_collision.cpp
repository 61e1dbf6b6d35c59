#include "scene/self_collision.h"

#include <cmath>

#include "base/rng.h"
#include "scene/scene_query.h"

namespace robosim {
namespace {

constexpr double pi = 3.14159265358979323846;

// A configuration with independent uniform entries, floating joints at the origin: only relative placements matter.
void sample(const Model& model, Rng& rng, std::vector<double>& q) {
  for (const Joint& joint : model.joints) {
    if (joint.mimic) continue;
    for (int k = joint.q_index; k < joint.q_index + joint.n_q; ++k) {
      const std::size_t i = static_cast<std::size_t>(k);
      const bool is_angle = joint.type == JointType::revolute || (joint.type == JointType::planar && k == joint.q_index + 2);
      const double range = is_angle ? pi : 1.0;
      const double lower = model.limits.q_lower[i], upper = model.limits.q_upper[i];
      const double from = std::isfinite(lower) ? lower : (std::isfinite(upper) ? upper - 2 * range : -range);
      const double to = std::isfinite(upper) ? upper : from + 2 * range;
      q[i] = joint.type == JointType::floating ? (k == joint.q_index + 6 ? 1.0 : 0.0) : rng.uniform(from, to);
    }
  }
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
      if (closer_than(0, A.shape, query.X_WO(a), B.shape, query.X_WO(b), &caches[i])) ++counts[i];
    }
  }
  return counts;
}

}  // namespace robosim

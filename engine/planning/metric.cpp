#include "planning/metric.h"

#include <algorithm>
#include <cmath>

namespace robosim {

std::vector<double> reach_weights(const CollisionScene& scene, const std::vector<int>& columns) {
  const Model& model = scene.model();
  const std::size_t n_q = static_cast<std::size_t>(model.n_q);
  std::vector<double> weight(n_q, 0);
  std::vector<double> reach(model.joints.size(), 0);  // of what hangs from a body, from its joint's origin
  for (const SceneObject& object : scene.objects())
    if (object.body != 0) {
      double& r = reach[static_cast<std::size_t>(object.body)];
      r = std::max(r, norm(object.p_BC) + object.ball_radius);
    }
  // Children have larger numbers than their parents.
  for (std::size_t j = model.joints.size() - 1; j >= 1; --j) {
    const Joint& joint = model.joints[j];
    const std::size_t k = static_cast<std::size_t>(joint.q_index);
    double travel = 0;  // how much longer a sliding joint can make the link above it
    const auto slide = [&](std::size_t i, double scale) {
      const double lower = model.limits.q_lower[i], upper = model.limits.q_upper[i];
      if (std::isfinite(lower) && std::isfinite(upper)) travel = std::hypot(travel, scale * std::max(std::abs(lower), std::abs(upper)));
      weight[i] = std::max(weight[i], scale);
    };
    const double scale = joint.mimic ? std::abs(joint.ratio) : 1.0;
    if (joint.type == JointType::revolute) weight[k] = std::max(weight[k], scale * reach[j]);
    if (joint.type == JointType::prismatic) slide(k, scale);
    if (joint.type == JointType::planar) slide(k, 1), slide(k + 1, 1), weight[k + 2] = reach[j];
    if (joint.type == JointType::floating) slide(k, 1), slide(k + 1, 1), slide(k + 2, 1);
    double& above = reach[static_cast<std::size_t>(joint.parent)];
    above = std::max(above, norm(joint.X_PJ.p) + travel + reach[j]);
  }
  double most = 0;
  for (const int c : columns) most = std::max(most, weight[static_cast<std::size_t>(c)]);
  // A column that moves nothing still needs a length.
  std::vector<double> out;
  for (const int c : columns) out.push_back(most > 0 ? std::max(weight[static_cast<std::size_t>(c)] / most, 1e-3) : 1.0);
  return out;
}

}  // namespace robosim

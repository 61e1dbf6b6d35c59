#include "planning/metric.h"

#include <algorithm>
#include <cmath>

#include "model/joints.h"

namespace robosim {

std::vector<double> reaches(const CollisionScene& scene) {
  const Model& model = scene.model();
  const std::size_t n_q = static_cast<std::size_t>(model.n_q);
  std::vector<double> weight(n_q, 0);
  // Reach of everything below a body, from the origin of its joint.
  std::vector<double> reach(model.joints.size(), 0);
  for (const SceneObject& object : scene.objects())
    if (object.body != 0) {
      double& r = reach[object.body];
      r = std::max(r, norm(object.p_BC) + object.ball_radius);
    }
  // Children have larger numbers than their parents.
  for (std::size_t j = model.joints.size() - 1; j >= 1; --j) {
    const Joint& joint = model.joints[j];
    const double scale = joint.mimic ? std::abs(joint.ratio) : 1.0;
    double longer = 0;  // by which a sliding joint can lengthen the link above it
    visit_joint(joint.type, [&]<class J>(J) {
      for (int c = 0; c < J::n_q; ++c) {
        double unit[J::n_q] = {};
        unit[c] = 1;
        const Travel travel = J::travel(joint, unit);
        const std::size_t i = static_cast<std::size_t>(joint.q_index + c);
        const double farthest =
            std::max(std::abs(model.limits.q_lower[i]), std::abs(model.limits.q_upper[i]));
        if (std::isfinite(farthest)) longer = std::hypot(longer, scale * travel.slide * farthest);
        weight[i] = std::max(weight[i], scale * std::hypot(travel.turn * reach[j], travel.slide));
      }
    });
    double& above = reach[joint.parent];
    above = std::max(above, norm(joint.X_PJ.p) + longer + reach[j]);
  }
  return weight;
}

std::vector<double> reach_weights(const CollisionScene& scene, const std::vector<int>& columns) {
  const std::vector<double> weight = reaches(scene);
  double most = 0;
  for (const int c : columns) most = std::max(most, weight[c]);
  // A column that moves nothing still needs a positive weight.
  std::vector<double> out;
  for (const int c : columns) out.push_back(most > 0 ? std::max(weight[c] / most, 1e-3) : 1.0);
  return out;
}

}  // namespace robosim

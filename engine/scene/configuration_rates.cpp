#include "scene/configuration_rates.h"

#include <algorithm>

#include "dynamics/jacobian.h"

namespace robosim {

void distance_rate(const Model& model, const Data<double>& data, int body_A, int body_B, const Witness& witness, double* rate) {
  std::fill(rate, rate + model.n_v, 0.0);
  const auto add = [&](int body, const Vec3d& p_W, double sign) {
    if (body == 0) return;
    const Vec3d p = p_W - data.X_WB[1].p;
    for_each_on_path(model, body, [&](int c) {
      rate[model.column_v[static_cast<std::size_t>(c)]] += sign * dot(witness.normal, at_point(data.J[static_cast<std::size_t>(c)], p).linear);
    });
  };
  add(body_A, witness.p_WA, -1);
  add(body_B, witness.p_WB, 1);
}

void witness_rates(const Model& model, const Data<double>& data, const SceneObject& A, const SceneObject& B,
                   const WitnessDerivatives& derivatives, WitnessRate* rates) {
  std::fill(rates, rates + model.n_v, WitnessRate());
  const auto add = [&](const SceneObject& object, const WitnessRate* twist) {
    if (object.body == 0) return;
    const SE3d X_WO = data.X_WB[static_cast<std::size_t>(object.body)] * object.X_BO;
    const Vec3d p = X_WO.p - data.X_WB[1].p;
    for_each_on_path(model, object.body, [&](int c) {
      const Motion<double> V = at_point(data.J[static_cast<std::size_t>(c)], p);
      const Vec3d part[2] = {transpose_times(X_WO.R, V.linear), transpose_times(X_WO.R, V.angular)};
      WitnessRate& rate = rates[model.column_v[static_cast<std::size_t>(c)]];
      for (int k = 0; k < 6; ++k) {
        const double x = part[k / 3][k % 3];
        rate.distance += x * twist[k].distance;
        rate.normal += x * twist[k].normal;
        rate.p_WA += x * twist[k].p_WA;
        rate.p_WB += x * twist[k].p_WB;
      }
    });
  };
  add(A, derivatives.twist);
  add(B, derivatives.twist + 6);
}

}  // namespace robosim

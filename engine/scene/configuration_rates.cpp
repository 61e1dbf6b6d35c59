#include "scene/configuration_rates.h"

#include <algorithm>

#include "dynamics/jacobian.h"

namespace robosim {

void distance_rate(const Model& model, const Data<double>& data, int body_A, int body_B,
                   const Witness& witness, double* rate) {
  std::fill(rate, rate + model.n_v, 0.0);
  const auto add = [&](int body, const Vec3d& p_W, double sign) {
    if (body == 0) return;
    const Vec3d p = p_W - data.X_WB[1].p;
    for_each_on_path(model, body, [&](int c) {
      rate[model.column_v[c]] += sign * dot(witness.normal, at_point(data.J[c], p).linear);
    });
  };
  add(body_A, witness.p_WA, -1);
  add(body_B, witness.p_WB, 1);
}

void witness_rates(const Model& model, const Data<double>& data, int body_A, int body_B,
                   const WitnessFactors& factors, WitnessRate* rates) {
  std::fill(rates, rates + model.n_v, WitnessRate());
  const Vec3d& n = factors.witness.normal;
  const auto add = [&](int side, int body, const Vec3d& p_W) {
    if (body == 0) return;
    const Vec3d p = p_W - data.X_WB[1].p;
    for_each_on_path(model, body, [&](int c) {
      const Motion<double> V = at_point(data.J[c], p);
      rates[model.column_v[c]] += factors.rate(side, {V.linear, cross(V.angular, n)});
    });
  };
  add(0, body_A, factors.witness.p_WA);
  add(1, body_B, factors.witness.p_WB);
}

}  // namespace robosim

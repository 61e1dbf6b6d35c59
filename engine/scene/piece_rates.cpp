#include "scene/piece_rates.h"

#include <algorithm>

#include "dynamics/jacobian.h"
#include "geometry/bodies/compound_derivatives.h"

namespace robosim {

WitnessDerivatives piece_rates(SceneQuery& query, const SceneQuery::Contact& contact,
                               WitnessRate* rates) {
  const Model& model = query.scene().model();
  const SceneObject &A = query.scene().object(contact.a), &B = query.scene().object(contact.b);
  const SE3d &X_WA = query.X_WO(contact.a), &X_WB = query.X_WO(contact.b);
  // Use the bodies that closest_pieces uses: the exact bodies if they are apart.
  const bool is_apart = contact.witness.distance >= 0;
  const Body body_A = is_apart ? A.geometry.exact_body() : A.geometry.body(),
             body_B = is_apart ? B.geometry.exact_body() : B.geometry.body();
  const WitnessDerivatives d = piece_derivatives(
      {contact.witness, contact.piece_a, contact.piece_b}, body_A, X_WA, body_B, X_WB);
  std::fill(rates, rates + model.n_v, WitnessRate());
  const auto add = [&](int body, const SE3d& X_WO, const WitnessRate* twist) {
    if (body == 0) return;
    const Vec3d p = X_WO.p - query.data().X_WB[1].p;
    for_each_on_path(model, body, [&](int c) {
      const Motion<double> V = at_point(query.data().J[c], p);
      const Vec3d part[2] = {transpose_times(X_WO.R, V.linear), transpose_times(X_WO.R, V.angular)};
      WitnessRate& rate = rates[model.column_v[c]];
      for (int k = 0; k < 6; ++k) {
        const double x = part[k / 3][k % 3];
        rate.distance += x * twist[k].distance;
        rate.normal += x * twist[k].normal;
        rate.p_WA += x * twist[k].p_WA;
        rate.p_WB += x * twist[k].p_WB;
      }
    });
  };
  add(A.body, X_WA, d.twist);
  add(B.body, X_WB, d.twist + 6);
  return d;
}

}  // namespace robosim

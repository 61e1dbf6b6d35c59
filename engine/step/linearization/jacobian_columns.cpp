#include "step/linearization/jacobian_columns.h"

#include "base/index.h"
#include "base/linalg/zeros.h"
#include "dynamics/kinematics.h"
#include "step/columns.h"

namespace robosim {

const double* ShapeTwists::of(const StepData& step, int manifold, int side) const {
  return &twists_[(2 * manifold + side) * 6 * padded(step.model().n_v)];
}

// Mimic joints share the coordinate of the joint that they follow, so their twists add up.
void ShapeTwists::fill(const StepData& step) {
  const Model& m = step.model();
  const std::size_t n = at(padded(m.n_v));
  make_zeros(twists_, 2 * step.manifolds.size() * 6 * n);
  for (std::size_t i = 0; i < step.manifolds.size(); ++i)
    for (const int side : {0, 1}) {
      const SceneQuery::PairManifold& pair = step.manifolds[i];
      const int object = side ? pair.b : pair.a, piece = side ? pair.piece_b : pair.piece_a;
      const SceneObject& o = step.object(object);
      if (o.body == 0) continue;
      const SE3d X = o.geometry.body().with_piece(
          piece, [&](const Compound::Piece& p) { return step.query.X_WO(object) * p.X_BP; });
      const Vec3d p = X.p - step.dynamics.X_WB[1].p;
      double* const twist = &twists_[(2 * i + at(side)) * 6 * n];
      for_each_on_path(m, o.body, [&](int c) {
        const Motion<double> J = at_point(step.dynamics.J[c], p);
        const Vec3d linear = transpose_times(X.R, J.linear),
                    angular = transpose_times(X.R, J.angular);
        double* const column = twist + m.column_v[c];
        for (int k = 0; k < 3; ++k) {
          column[at(k) * n] += linear[k];
          column[at(3 + k) * n] += angular[k];
        }
      });
    }
}

}  // namespace robosim

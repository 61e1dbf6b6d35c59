#include "step/step_signature.h"

namespace robosim {

std::vector<int> step_signature(const Stepper& stepper, int islands, StepStatus status) {
  std::vector<int> out{islands, static_cast<int>(status)};
  // Contacts and their features.
  for (const SceneQuery::PairManifold& pair : stepper.manifolds()) {
    out.insert(out.end(), {pair.a, pair.b, pair.piece_a, pair.piece_b, pair.manifold.n_points,
                           pair.manifold.reference});
    for (int i = 0; i < pair.manifold.n_points; ++i) {
      const ManifoldPoint& p = pair.manifold.points[i];
      out.push_back(static_cast<int>(p.anchor));
      for (const FeatureId& f : p.feature)
        out.insert(out.end(), {static_cast<int>(f.kind), f.index, f.part});
    }
  }
  // Kind, mode and law of each row.
  const auto add_rows = [&](const StepIsland& island) {
    for (std::size_t r = 0; r < island.rows.size(); ++r) {
      out.push_back(16 * island.rows[r].kind + island.rows[r].role);
      out.push_back(static_cast<int>(island.solution.classes[r]));
      out.push_back(16 * static_cast<int>(island.rows[r].keeping) +
                    static_cast<int>(island.rows[r].law));
    }
    island.solved->append_outcomes(out);
  };
  for (int i = 0; i < islands; ++i) {
    add_rows(stepper.islands()[i]);
    const Impacts& impacts = stepper.data().impacts[i];
    for (int n = 0; n < impacts.n; ++n) {
      const Impact& met = impacts.each[n];
      out.push_back(-1 - static_cast<int>(met.is_limited()));  // separator
      met.for_each_solved(add_rows);
      for (const StepIsland::Row& row : met.rows) {
        out.push_back(row.manifold);
        out.push_back(2 * row.point + row.is_timed);
      }
    }
  }
  for (std::size_t k = 0; k < stepper.data().corrected_islands.size(); ++k) {
    out.push_back(stepper.data().corrected_islands[k]);
    add_rows(stepper.data().corrections[k]);
  }
  return out;
}

}  // namespace robosim

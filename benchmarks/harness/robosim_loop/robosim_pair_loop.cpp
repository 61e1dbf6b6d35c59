// The engine's side of pair_loop.h. Queries start from the pair's cache, which may be emptied.
#include "../pair_loop.h"

#include <array>
#include <memory>
#include <vector>

#include "geometry/contact_factors.h"
#include "geometry/pairs/pair_table.h"
#include "geometry/query.h"
#include "geometry/witness_jacobian.h"
#include "numbers.h"

using namespace robosim;

namespace {

using pair_loop::Answer;
using pair_loop::ShapeData;

struct Pair {
  Shape A, B;
  bool has_memory;  // false for closed forms, which have no cache to empty
  PairCache cache;
};

struct RobosimSide {
  std::vector<Pair> pairs;
  std::vector<SE3d> X_WA, X_WB;
  std::vector<Witness> witness;
  WitnessJacobian jacobian;

  void add(const ShapeData& A, const ShapeData& B) {
    const auto make = [](const ShapeData& s) {
      return shape_from(s.type, s.size, s.n_vertices, s.vertices);
    };
    const Shape a = make(A), b = make(B);
    pairs.push_back({a, b, !pair_functions(a.type, b.type).analytic, {}});
  }
  void place(std::size_t n, const double* A, const double* B) {
    X_WA.clear();
    X_WB.clear();
    for (std::size_t k = 0; k < n; ++k) {
      X_WA.push_back(pose_from(A + 16 * k));
      X_WB.push_back(pose_from(B + 16 * k));
    }
    witness.resize(n);
  }
  void guess(int) {}
  using Memory = PairCache;
  Memory memory(std::size_t i) { return pairs[i].cache; }
  void restore(std::size_t i, const Memory& m) {
    if (pairs[i].has_memory) pairs[i].cache = m;
  }
  Answer distance(std::size_t i, std::size_t k) {
    Pair& pair = pairs[i];
    const Witness& w = witness[k] = signed_distance(pair.A, X_WA[k], pair.B, X_WB[k], &pair.cache);
    return {w.distance,
            {w.p_WA.x, w.p_WA.y, w.p_WA.z},
            {w.p_WB.x, w.p_WB.y, w.p_WB.z},
            {w.normal.x, w.normal.y, w.normal.z}};
  }
  bool overlap(std::size_t i, std::size_t k) {
    Pair& pair = pairs[i];
    return closer_than(0, pair.A, X_WA[k], pair.B, X_WB[k], &pair.cache);
  }
  WitnessFactors factors_of(std::size_t i, std::size_t k) const {
    return witness_factors(witness[k], pairs[i].A, X_WA[k], pairs[i].B, X_WB[k]);
  }
  double factors(std::size_t i, std::size_t k) { return factors_of(i, k).H.row[0].x; }
  double dense(std::size_t i, std::size_t k) {
    witness_jacobian(witness[k], pairs[i].A, X_WA[k], pairs[i].B, X_WB[k], jacobian);
    return jacobian.row[WitnessJacobian::normal][WitnessJacobian::column(11)];
  }
  double plane(std::size_t i, std::size_t k, const double* normal) {
    const Pair& pair = pairs[i];
    const Vec3d n = vec3_from(normal);
    const Vec3d a = X_WA[k] * support(pair.A, transpose_times(X_WA[k].R, n));
    const Vec3d b = X_WB[k] * support(pair.B, transpose_times(X_WB[k].R, -n));
    return dot(n, b - a);
  }
};

}  // namespace

PAIR_LOOP_OF(RobosimSide)

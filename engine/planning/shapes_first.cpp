#include "planning/shapes_first.h"

#include <algorithm>

#include "base/index.h"

namespace robosim {
namespace {

// Blocked edges before the first examination, blocked edges per examination after that, and blocked
// edges after which every one is examined.
constexpr std::int64_t before_doubt = 64, doubt_every = 8, before_certain_doubt = 20000;
constexpr int least_looked_at = 4;

}  // namespace

ShapesFirst::ShapesFirst(EdgeChecker& checker, const double* q, std::size_t n,
                         const std::vector<int>& columns)
    : checker_(checker),
      is_active_(checker.scene().has_exact()),
      line_(checker.scene().model()),
      q_(at(checker.scene().model().n_q)) {
  checker_.decide_by_shapes(q, n, columns);
}

void ShapesFirst::is_blocked(const EdgeResult& found, const double* q0, const double* q1) {
  if (!is_active_) return;
  const bool is_late = ++blocked_ > before_certain_doubt;
  if (!is_late && (blocked_ < before_doubt || blocked_ % doubt_every != 0)) return;
  SceneQuery& query = checker_.query();
  if (!query.shapes_decide(found.a, found.b)) return;
  const bool is_own = at(std::max(found.a, found.b)) < query.scene().model().colliders.size();
  if (!is_late && !is_own) return;

  // Compare the meshes at the collision. The meshes decide from here on if they are apart often
  // enough.
  line_.set(q0, q1);
  line_.position(found.t, q_.data());
  query.place(q_.data());
  const bool is_apart = !query.bodies_overlap(found.a, found.b);
  auto pair = std::find_if(pairs_.begin(), pairs_.end(),
                           [&](const Pair& p) { return p.a == found.a && p.b == found.b; });
  if (pair == pairs_.end()) pair = pairs_.insert(pair, {found.a, found.b, 0, 0});
  ++pair->looked_at;
  pair->apart += is_apart;
  if (is_apart &&
      (is_late || (pair->looked_at >= least_looked_at && 2 * pair->apart >= pair->looked_at)))
    query.decide_by_bodies(found.a, found.b);
}

}  // namespace robosim

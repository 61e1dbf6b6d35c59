#include "scene/batch_check.h"

#include <algorithm>
#include <cmath>

#include "base/cpu.h"
#include "base/thread_pool.h"

namespace robosim {

std::unique_ptr<LaneBounds> make_lane_bounds(const CollisionScene& scene) {
#define ROBOSIM_MAKE_BOUNDS(isa) \
  if (kernel_isa() == Isa::isa) return detail::make_lane_bounds<Isa::isa>(scene);
  ROBOSIM_FOR_EACH_ISA(ROBOSIM_MAKE_BOUNDS)
#undef ROBOSIM_MAKE_BOUNDS
  return nullptr;  // kernel_isa() is one of the above
}

void detail::add_suspect(std::vector<LaneBounds::Suspect>& to, const LaneBounds::Suspect& suspect) {
  to.push_back(suspect);
}

void BatchCheck::check(Workspace& w, std::ptrdiff_t first, int count, const double* q,
                       bool* out) const {
  const std::ptrdiff_t n_q = scene_->model().n_q;
  const double* from[8];
  for (int l = 0; l < count; ++l) from[l] = q + (first + l) * n_q;
  w.suspects.clear();
  w.bounds->suspects(count, from, w.suspects);
  std::uint32_t asked = 0;
  for (const LaneBounds::Suspect& suspect : w.suspects) asked |= suspect.lanes;
  for (int l = 0; l < count; ++l) {
    bool touches = false;
    if (asked >> l & 1) {
      w.query.place(from[l]);
      // Test the pair whose balls overlap most first: it decides most configurations that collide.
      const LaneBounds::Suspect* deepest = nullptr;
      for (const LaneBounds::Suspect& s : w.suspects)
        if ((s.lanes >> l & 1) && (!deepest || s.depth[l] > deepest->depth[l])) deepest = &s;
      touches = w.query.overlaps(deepest->a, deepest->b);
      for (std::size_t i = 0; i < w.suspects.size() && !touches; ++i) {
        const LaneBounds::Suspect& s = w.suspects[i];
        touches = &s != deepest && (s.lanes >> l & 1) && w.query.overlaps(s.a, s.b);
      }
    }
    out[first + l] = touches;
  }
}

void BatchCheck::measure(Workspace& w, std::ptrdiff_t first, int count, const double* q,
                         double* out) const {
  if (!w.distances) w.distances = make_lane_distances(*scene_);
  const std::ptrdiff_t n_q = scene_->model().n_q,
                       n_pairs = static_cast<std::ptrdiff_t>(scene_->pairs().size());
  const double* from[8];
  double* to[8];
  for (int l = 0; l < count; ++l) {
    from[l] = q + (first + l) * n_q;
    to[l] = out + (first + l) * n_pairs;
  }
  // Measure all pairs in lanes, then the pairs that are left one by one.
  const std::uint32_t left = w.distances->distances(count, from, to);
  for (int l = 0; l < count; ++l) {
    if (!(left >> l & 1)) continue;
    w.query.place(from[l]);
    for (std::ptrdiff_t i = 0; i < n_pairs; ++i) {
      if (!std::isnan(to[l][i])) continue;
      const auto [a, b] = scene_->pairs()[i];
      const PieceWitness x = closest_pieces(scene_->object(a).geometry, w.query.X_WO(a),
                                            scene_->object(b).geometry, w.query.X_WO(b));
      to[l][i] = x.witness.distance;
    }
  }
}

void BatchCheck::for_each_register(
    std::ptrdiff_t n, int threads,
    FunctionRef<void(Workspace& w, std::ptrdiff_t first, int count)> f) {
  const std::lock_guard lock(busy_);
  const auto add_workspace = [&] {
    workspaces_.push_back(std::unique_ptr<Workspace>(
        new Workspace{SceneQuery(*scene_), make_lane_bounds(*scene_), nullptr, {}}));
  };
  if (workspaces_.empty()) add_workspace();
  const std::ptrdiff_t lanes = workspaces_[0]->bounds->lanes(), groups = (n + lanes - 1) / lanes;
  threads = threads > 0 ? std::min(threads, thread_limit()) : thread_limit();
  threads = static_cast<int>(std::min<std::ptrdiff_t>(threads, groups));
  while (workspaces_.size() < static_cast<std::size_t>(threads)) add_workspace();
  // Make enough chunks to balance the threads, few enough that distributing them costs nothing.
  const std::ptrdiff_t chunk = std::clamp<std::ptrdiff_t>(groups / (8 * threads), 1, 64),
                       chunks = (groups + chunk - 1) / chunk;
  const auto body = [&](int c, int worker) {
    for (std::ptrdiff_t g = c * chunk; g < std::min(groups, (c + 1) * chunk); ++g)
      f(*workspaces_[worker], g * lanes, static_cast<int>(std::min(lanes, n - g * lanes)));
  };
  if (threads == 1)
    for (int c = 0; c < static_cast<int>(chunks); ++c) body(c, 0);
  else
    parallel_for(static_cast<int>(chunks), threads, body);
}

void BatchCheck::collides(std::ptrdiff_t n, const double* q, bool* out, int threads) {
  if (n <= 0) return;
  if (scene_->overlapping_fixed_pair() >= 0) return std::fill_n(out, n, true), void();
  for_each_register(n, threads, [&](Workspace& w, std::ptrdiff_t first, int count) {
    check(w, first, count, q, out);
  });
}

void BatchCheck::distances(std::ptrdiff_t n, const double* q, double* out, int threads) {
  if (n <= 0) return;
  for_each_register(n, threads, [&](Workspace& w, std::ptrdiff_t first, int count) {
    measure(w, first, count, q, out);
  });
}

}  // namespace robosim

// Distances of all pairs for one instruction set.
#include "scene/lane_distances.h"

#include "geometry/distance/lane_gjk.h"
#include "scene/lane_placement.h"

namespace robosim::detail {

template <Isa isa>
class CompiledDistances final : public LaneDistances {
 public:
  using L = Lanes<lanes_of(isa), isa>;

  explicit CompiledDistances(const CollisionScene& scene)
      : pairs_(scene.pairs().data()),
        n_pairs_(scene.pairs().size()),
        placement_(scene),
        cores_(lane_cores(scene, true)) {}

  int lanes() const override { return L::width; }

  std::uint32_t distances(int count, const double* const* q, double* const* out) override {
    const double* from[L::width];
    // Missing lanes repeat the last configuration.
    for (int l = 0; l < L::width; ++l) from[l] = q[l < count ? l : count - 1];
    placement_.place(from);
    const std::uint32_t all = (1u << count) - 1;
    std::uint32_t left = 0;
    for (std::size_t i = 0; i < n_pairs_; ++i) {
      L distance;
      const std::uint32_t known = one(pairs_[i].first, pairs_[i].second, all, distance);
      for (int l = 0; l < count; ++l) out[l][i] = known >> l & 1 ? distance[l] : __builtin_nan("");
      left |= all & ~known;
    }
    return left;
  }

 private:
  // Compute the distance of a pair. Return the bit mask of the lanes in which it is known.
  std::uint32_t one(int a, int b, std::uint32_t lanes, L& distance) {
    const LaneCore &A = cores_.data()[a], &B = cores_.data()[b];
    if (!A.is_known || !B.is_known || A.is_curved || B.is_curved) return 0;
    const SE3<L> X_AB = placement_.X_between(a, b);
    const LaneGoal<L> goal{.separated = L(__builtin_inf()), .relative_gap = 1e-12};
    const LaneGjk<L> r = lane_gjk(A, B, X_AB, from_centers(A, B, X_AB), goal, lanes);
    distance = r.upper - L(A.rounding + B.rounding);
    return r.known;
  }

  const std::pair<int, int>* pairs_;
  std::size_t n_pairs_;
  LanePlacement<L> placement_;
  std::vector<LaneCore> cores_;
};

template <>
std::unique_ptr<LaneDistances> make_lane_distances<own_isa>(const CollisionScene& scene) {
  return std::make_unique<CompiledDistances<own_isa>>(scene);
}

}  // namespace robosim::detail

#include "planning/edge_check.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// No interval is halved below this part of the curve: bounds the work for absurdly long curves.
constexpr double shortest = 1e-7;

}  // namespace

EdgeChecker::EdgeChecker(const CollisionScene& scene, const std::vector<int>& columns)
    : scene_(&scene),
      query_(scene),
      motion_(scene),
      line_(scene.model()),
      q_(at(scene.model().n_q)),
      rate_(at(scene.model().n_q)) {
  std::vector<char> driven(at(scene.model().n_q), columns.empty());
  for (const int k : columns) driven[at(k)] = 1;
  for (std::size_t i = 0; i < scene.single_pairs().size(); ++i)
    if (motion_.moves_pair(static_cast<int>(i), driven)) root_.push_back({static_cast<int>(i), 0, 0, 0});
  for (std::size_t g = 0; g < scene.groups().size(); ++g)
    if (motion_.moves(scene.groups()[g].object, driven)) root_.push_back({-1, static_cast<int>(g), 0, 0});
}

EdgeResult EdgeChecker::line(const double* q0, const double* q1, double resolution) {
  line_.set(q0, q1);
  return curve(line_, 0, 1, resolution);
}

EdgeChecker::Proof EdgeChecker::examine(const Entry& entry, double half, double floor_factor, double resolution) {
  const bool is_single = entry.item >= 0;
  const CollisionScene::Group* group = is_single ? nullptr : &scene_->groups()[at(entry.group)];
  const StaticBvh::Node* node = is_single ? nullptr : &scene_->bvh(group->bvh).nodes[at(-1 - entry.item)];
  const double motion = is_single ? motion_.of_pair(entry.item) : motion_.of(group->object);
  const double floor = std::max(std::min(resolution / 2, floor_factor * motion), resolution / 100);
  // How far the proof has to reach so that nothing of the interval stays open.
  const double enough = motion * (half - std::min(entry.left, entry.right)) / half;
  const auto open = [&](double bound) { return Proof{Outcome::open, bound > 0 ? half * bound / motion : 0, -1, -1}; };

  // A box of a tree: worth opening once it is larger than the motion, before that its parts could not leave either.
  if (!is_single && node->left >= 0) {
    const double bound =
        distance(node->box, query_.centre(group->object)) - scene_->object(group->object).ball_radius - rounding_slack;
    if (bound > enough) return {};
    if (node->radius > motion || motion <= floor) return {Outcome::split, 0, -1, -1};
    return open(bound);
  }
  const int a = is_single ? scene_->single_pairs()[at(entry.item)].a : group->object;
  const int b = is_single ? scene_->single_pairs()[at(entry.item)].b : node->object;
  const double coarse = query_.coarse_distance(a, b);
  if (coarse > enough) return {};
  const double bound = query_.distance_bound(enough + 2 * rounding_slack, a, b, entry.item) - rounding_slack;
  if (bound > enough) return {};
  if (bound <= 0 || motion <= floor) return {Outcome::touching, 0, a, b};
  return open(std::max(bound, coarse));
}

EdgeResult EdgeChecker::curve(const Curve& curve, double t0, double t1, double resolution) {
  if (scene_->overlapping_fixed_pair() >= 0) {
    const auto& pair = scene_->pairs()[at(scene_->overlapping_fixed_pair())];
    return {false, t0, pair.first, pair.second};
  }
  entries_.assign(root_.begin(), root_.end());
  queue_.assign(1, {t0, t1, 0, entries_.size()});
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const Interval interval = queue_[head];
    const double half = 0.5 * (interval.t1 - interval.t0), middle = interval.t0 + half;
    curve.position(middle, q_.data());
    curve.speed(interval.t0, interval.t1, rate_.data());
    for (double& r : rate_) r *= half;
    query_.place(q_.data());
    motion_.set_joint_motion(rate_.data());
    motion_.update(query_);
    ++samples_;
    // A quarter of the motion since the nearer end, in units of the motion over half of this interval.
    const double floor_factor = 0.25 * std::min(middle - t0, t1 - middle) / half;
    const bool is_last = half <= shortest * (t1 - t0);

    // What stays open in the left half goes to the end of entries_, in the right half to right_ and then behind it.
    const std::size_t begin_left = entries_.size();
    right_.clear();
    for (std::size_t i = interval.first; i < interval.first + interval.count; ++i) {
      pending_.assign(1, entries_[i]);
      while (!pending_.empty()) {
        const Entry entry = pending_.back();
        pending_.pop_back();
        const Proof proof = examine(entry, half, floor_factor, resolution);
        if (proof.outcome == Outcome::cleared) continue;
        if (proof.outcome == Outcome::touching) return {false, middle, proof.a, proof.b};
        if (proof.outcome == Outcome::split) {
          const int left = scene_->bvh(scene_->groups()[at(entry.group)].bvh).nodes[at(-1 - entry.item)].left;
          pending_.push_back({-1 - left, entry.group, entry.left, entry.right});
          pending_.push_back({-2 - left, entry.group, entry.left, entry.right});
          continue;
        }
        if (is_last) return {false, middle, -1, -1};
        if (entry.left + proof.cover < half) entries_.push_back({entry.item, entry.group, entry.left, proof.cover});
        if (entry.right + proof.cover < half) right_.push_back({entry.item, entry.group, proof.cover, entry.right});
      }
    }
    const std::size_t begin_right = entries_.size();
    entries_.insert(entries_.end(), right_.begin(), right_.end());
    if (begin_right > begin_left) queue_.push_back({interval.t0, middle, begin_left, begin_right - begin_left});
    if (!right_.empty()) queue_.push_back({middle, interval.t1, begin_right, right_.size()});
  }
  return {};
}

}  // namespace robosim

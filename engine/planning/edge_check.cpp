#include "planning/edge_check.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// No interval is halved below this part of the curve: bounds the work for absurdly long curves.
constexpr double shortest = 1e-7;
// Exact distances are asked for where they can exceed the cheap bounds by this part of the motion.
constexpr double worthwhile = 4;

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
  for (std::size_t i = 0; i < scene.clusters().size(); ++i)
    if (motion_.moves_cluster(static_cast<int>(i), driven)) root_.push_back({static_cast<int>(i), cluster, 0, 0});
  for (std::size_t g = 0; g < scene.groups().size(); ++g)
    if (motion_.moves(scene.groups()[g].object, driven)) root_.push_back({0, static_cast<int>(g), 0, 0});
}

EdgeResult EdgeChecker::line(const double* q0, const double* q1, double resolution) {
  line_.set(q0, q1);
  return curve(line_, 0, 1, resolution);
}

// To both halves, unless the ends and the placed configuration cover them.
void EdgeChecker::keep_open(const Entry& entry, double bound, double motion) {
  const double cover = bound > 0 ? half_ * bound / motion : 0;
  if (entry.left + cover < half_) entries_.push_back({entry.item, entry.kind, entry.left, cover});
  if (entry.right + cover < half_) right_.push_back({entry.item, entry.kind, cover, entry.right});
}

void EdgeChecker::split(const Entry& entry) {
  if (entry.kind == cluster) {
    const CollisionScene::Cluster& c = scene_->clusters()[at(entry.item)];
    for (int i = c.first; i < c.first + c.count; ++i) pending_.push_back({i, single, entry.left, entry.right});
  } else {
    const int left = scene_->bvh(scene_->groups()[at(entry.kind)].bvh).nodes[at(entry.item)].left;
    pending_.push_back({left, entry.kind, entry.left, entry.right});
    pending_.push_back({left + 1, entry.kind, entry.left, entry.right});
  }
}

// Clears an entry by cheap bounds, keeps it as it is, splits it, or makes it a candidate for exact shapes.
void EdgeChecker::sift(const Entry& entry) {
  // How far the proof has to reach so that nothing of the interval stays open, as a part of the motion.
  const double part = (half_ - std::min(entry.left, entry.right)) / half_;
  const bool is_single = entry.kind == single;
  const CollisionScene::Group* group = entry.kind < 0 ? nullptr : &scene_->groups()[at(entry.kind)];
  const StaticBvh::Node* node = group ? &scene_->bvh(group->bvh).nodes[at(entry.item)] : nullptr;

  // A box of a tree or a cluster is opened where it may overlap, or once it is larger than the motion: before that its parts
  // could not leave either.
  if (!is_single && (!group || node->left >= 0)) {
    const double motion = group ? motion_.of(group->object) : motion_.of_cluster(entry.item);
    double bound, size;
    if (group) {
      bound = distance(node->box, query_.centre(group->object)) - scene_->object(group->object).ball_radius - rounding_slack;
      size = node->radius;
    } else {
      const CollisionScene::Cluster& c = scene_->clusters()[at(entry.item)];
      bound = query_.cluster_distance(c);
      size = scene_->body_ball(c.body_a).radius;
    }
    if (bound > motion * part) return;
    if (bound <= 0 || motion < size || is_last_)
      split(entry);
    else
      keep_open(entry, bound, motion);
    return;
  }

  Candidate c{entry, 0, 0, is_single ? motion_.of_pair(entry.item) : motion_.of(group->object), 0, 0};
  c.a = is_single ? scene_->single_pairs()[at(entry.item)].a : group->object;
  c.b = is_single ? scene_->single_pairs()[at(entry.item)].b : node->object;
  c.enough = c.motion * part;
  c.bound = query_.coarse_distance(c.a, c.b);
  if (c.bound > c.enough) return;
  c.bound = std::max(c.bound, query_.finer_distance(c.a, c.b));
  if (c.bound > c.enough) return;
  (c.bound > 0 ? others_ : suspects_).push_back(c);
}

// Asks for exact shapes; false: cleared or kept open.
bool EdgeChecker::touches(const Candidate& c) {
  const double floor = std::max(std::min(resolution_ / 2, floor_factor_ * c.motion), resolution_ / 100);
  const bool at_floor = c.motion <= floor || is_last_;
  // Exact distances are worth their time only where they can cover a good part of the interval; otherwise it is enough to know
  // that the shapes do not overlap.
  const double slack = scene_->object(c.a).slack + (scene_->object(c.b).body == 0 ? 0.0 : scene_->object(c.b).slack);
  const bool is_worthwhile = at_floor || slack > worthwhile * c.motion;
  if (c.bound > 0 && !is_worthwhile) {
    keep_open(c.entry, c.bound, c.motion);
    return false;
  }
  const int cache = c.entry.kind == single ? c.entry.item : -1;
  const double ask = is_worthwhile ? c.enough + 2 * rounding_slack : 2 * rounding_slack;
  const double bound = query_.distance_bound(ask, c.a, c.b, cache) - rounding_slack;
  if (bound > c.enough) return false;
  if (bound <= 0 || at_floor) return true;
  keep_open(c.entry, std::max(bound, c.bound), c.motion);
  return false;
}

EdgeResult EdgeChecker::curve(const Curve& curve, double t0, double t1, double resolution) {
  if (scene_->overlapping_fixed_pair() >= 0) {
    const auto& pair = scene_->pairs()[at(scene_->overlapping_fixed_pair())];
    return {false, t0, pair.first, pair.second};
  }
  resolution_ = resolution;
  entries_.assign(root_.begin(), root_.end());
  queue_.assign(1, {t0, t1, 0, entries_.size()});
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const Interval interval = queue_[head];
    half_ = 0.5 * (interval.t1 - interval.t0);
    const double middle = interval.t0 + half_;
    curve.position(middle, q_.data());
    curve.speed(interval.t0, interval.t1, rate_.data());
    for (double& r : rate_) r *= half_;
    query_.place(q_.data());
    motion_.set_joint_motion(rate_.data());
    motion_.update(query_);
    ++samples_;
    // A quarter of the motion since the nearer end, in units of the motion over half of this interval.
    floor_factor_ = 0.25 * std::min(middle - t0, t1 - middle) / half_;
    is_last_ = half_ <= shortest * (t1 - t0);

    // What stays open in the left half goes to the end of entries_, in the right half to right_ and then behind it.
    const std::size_t begin_left = entries_.size();
    right_.clear();
    suspects_.clear();
    others_.clear();
    for (std::size_t i = interval.first; i < interval.first + interval.count; ++i) {
      pending_.assign(1, entries_[i]);
      while (!pending_.empty()) {
        const Entry entry = pending_.back();
        pending_.pop_back();
        sift(entry);
      }
    }
    // The deepest suspects first: most curves that touch end there.
    std::sort(suspects_.begin(), suspects_.end(), [](const Candidate& x, const Candidate& y) { return x.bound < y.bound; });
    for (const auto* candidates : {&suspects_, &others_})
      for (const Candidate& c : *candidates)
        if (touches(c)) return {false, middle, c.a, c.b};
    const std::size_t begin_right = entries_.size();
    entries_.insert(entries_.end(), right_.begin(), right_.end());
    if (begin_right > begin_left) queue_.push_back({interval.t0, middle, begin_left, begin_right - begin_left});
    if (!right_.empty()) queue_.push_back({middle, interval.t1, begin_right, right_.size()});
  }
  return {};
}

}  // namespace robosim

#include "planning/edge_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace robosim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// No interval is halved below this part of the curve: bounds the work for absurdly long curves.
constexpr double shortest = 1e-7;
// [m] Above this motion over half an interval a sample only asks whether it collides; at most so many parts are made that way.
constexpr double provable = 0.3;
constexpr int most_parts = 64;
// Exact distances are asked for where they can exceed the cheap bounds by this part of the motion.
constexpr double worthwhile = 4;

}  // namespace

EdgeChecker::EdgeChecker(const CollisionScene& scene, const std::vector<int>& columns)
    : scene_(&scene),
      query_(scene),
      motion_(scene),
      line_(scene.model()),
      q_(at(scene.model().n_q)),
      spread_{q_, q_, q_} {
  std::vector<char> driven(at(scene.model().n_q), columns.empty());
  for (const int k : columns) driven[at(k)] = 1;
  for (std::size_t i = 0; i < scene.clusters().size(); ++i)
    if (motion_.moves_cluster(static_cast<int>(i), driven)) root_.push_back({static_cast<int>(i), cluster, 0, 0});
  for (std::size_t g = 0; g < scene.groups().size(); ++g)
    if (motion_.moves(scene.groups()[g].object, driven)) root_.push_back({0, static_cast<int>(g), 0, 0});
}

EdgeResult EdgeChecker::line(const double* q0, const double* q1, double resolution) {
  line_.set(q0, q1);
  return curve(line_, 0, 1, resolution, Rigour::planning);
}

// To both halves, unless the ends and the placed configuration cover them.
void EdgeChecker::keep_open(const Entry& entry, double part) {
  const double cover = half_ * part;
  if (entry.left + cover < half_) entries_.push_back({entry.item, entry.kind, entry.left, cover});
  if (entry.right + cover < half_) right_.push_back({entry.item, entry.kind, cover, entry.right});
}

void EdgeChecker::split(const Entry& entry) {
  if (entry.kind == cluster) {
    const CollisionScene::Cluster& c = scene_->clusters()[at(entry.item)];
    for (int i = c.first; i < c.first + c.count; ++i) pending_.push_back({i, single, entry.left, entry.right});
  } else {
    const int left = scene_->bvh(scene_->groups()[at(entry.kind)].bvh).node(entry.item).first;
    pending_.push_back({left, entry.kind, entry.left, entry.right});
    pending_.push_back({left + 1, entry.kind, entry.left, entry.right});
  }
}

inline double EdgeChecker::part_of_ball(const Vec3d& p_W, double radius, const Cover& cover, const SE3d& X_WO,
                                        const MotionBound::Relative& motion, double needed, double& gap) {
  // `out`: from the cover's box to the centre, so its direction is the normal of a face that keeps them apart.
  const Vec3d p = X_WO.inverse_times(p_W) - cover.centre;
  const auto beyond = [](double x, double e) { return std::copysign(std::max(std::abs(x) - e, 0.0), x); };
  const Vec3d out{beyond(p.x, cover.half_extents.x), beyond(p.y, cover.half_extents.y), beyond(p.z, cover.half_extents.z)};
  const double squared = squared_norm(out), touch = cover.radius + radius + rounding_slack;
  // Most are far off, and known to be without a root or a division.
  const double far = needed * motion.total + touch;
  if (squared > far * far) {
    gap = std::numeric_limits<double>::infinity();
    return gap;
  }
  const double length = std::sqrt(squared);
  gap = length - touch;
  if (gap <= 0) return 0;
  if (gap > motion.total) return gap / motion.total;
  const double towards = std::abs(dot(out, transpose_times(X_WO.R, motion.velocity(p_W)))) / length + motion.rest;
  return gap / std::min(motion.total, towards);
}

// Clears an entry by cheap bounds, keeps it as it is, splits it, or makes it a candidate for exact shapes.
void EdgeChecker::sift(const Entry& entry) {
  const double needed = enough(entry);
  double gap;
  if (entry.kind == cluster) {
    const CollisionScene::Cluster& c = scene_->clusters()[at(entry.item)];
    const MotionBound::Relative motion = motion_.of_cluster(entry.item);
    const Vec3d& p = query_.body_centre(c.body_a);
    const double radius = scene_->body_ball(c.body_a).radius;
    double part;
    if (c.b >= 0) {
      part = part_of_ball(p, radius, scene_->object(c.b).cover, query_.X_WO(c.b), motion, needed, gap);
    } else {
      const Cover ball{scene_->body_ball(c.body_b).centre, {}, scene_->body_ball(c.body_b).radius};
      part = part_of_ball(p, radius, ball, query_.data().X_WB[at(c.body_b)], motion, needed, gap);
    }
    if (part > needed) return;
    // Opened where it may overlap, or once it is larger than the motion: before that its parts could not leave either.
    if (gap <= 0 || motion.total < radius || is_last_) return split(entry);
    return keep_open(entry, part);
  }
  Candidate c{entry, 0, 0, 0, 0, 0};
  MotionBound::Relative motion;
  if (entry.kind >= 0) {
    const CollisionScene::Group& group = scene_->groups()[at(entry.kind)];
    const AabbTree& tree = scene_->bvh(group.bvh);
    const AabbTree::Node& node = tree.node(entry.item);
    motion = motion_.of(group.object);
    if (!node.is_leaf()) {
      const Cover box{0.5 * (node.box.lower + node.box.upper), 0.5 * (node.box.upper - node.box.lower), 0};
      const double part = part_of_ball(query_.centre(group.object), scene_->object(group.object).ball_radius, box, SE3d(), motion, needed, gap);
      if (part > needed) return;
      if (gap <= 0 || motion.total * motion.total < squared_norm(box.half_extents) || is_last_) return split(entry);
      return keep_open(entry, part);
    }
    c.a = group.object;
    c.b = tree.item(node.first);
  } else {
    c.a = scene_->single_pairs()[at(entry.item)].a;
    c.b = scene_->single_pairs()[at(entry.item)].b;
    motion = motion_.of_pair(entry.item);
  }

  const SceneObject &A = scene_->object(c.a), &B = scene_->object(c.b);
  const SE3d& X_WB = query_.X_WO(c.b);
  c.part = part_of_ball(query_.centre(c.a), A.ball_radius, B.cover, X_WB, motion, needed, gap);
  if (c.part > needed) return;
  c.depth = -gap;
  if (!A.balls.empty()) {
    double row = std::numeric_limits<double>::infinity(), least = row;
    const SE3d& X_WA = query_.data().X_WB[at(A.body)];
    for (const Ball& ball : A.balls) {
      row = std::min(row, part_of_ball(X_WA * ball.centre, ball.radius, B.cover, X_WB, motion, needed, gap));
      least = std::min(least, gap);
    }
    c.part = std::max(c.part, row);
    c.depth = std::min(c.depth, -least);
    if (c.part > needed) return;
  }
  // The other way round: balls of b against the cover of a, without a direction.
  if (B.body != 0) {
    const double other = std::max(query_.coarse_distance(c.a, c.b), query_.finer_distance(c.a, c.b));
    if (other > 0) c.part = std::max(c.part, other / motion.total);
    c.depth = std::min(c.depth, -other);
    if (c.part > needed) return;
  }
  c.motion = motion.least();
  (c.depth < 0 ? others_ : suspects_).push_back(c);
}

// Asks for exact shapes; false: cleared or kept open.
bool EdgeChecker::touches(const Candidate& c) {
  const double floor = rigour_ == Rigour::proof
                           ? resolution_ / 1000
                           : std::max(std::min(resolution_ / 2, floor_factor_ * c.motion), resolution_ / 100);
  const bool at_floor = c.motion <= floor || is_last_;
  // Exact distances are worth their time only where they can cover a good part of the interval; otherwise it is enough to know
  // that the shapes do not overlap.
  const double slack = scene_->object(c.a).slack + (scene_->object(c.b).body == 0 ? 0.0 : scene_->object(c.b).slack);
  const bool is_worthwhile = at_floor || slack > worthwhile * c.motion;
  if (c.depth < 0 && !is_worthwhile) {
    keep_open(c.entry, c.part);
    return false;
  }
  const int cache = c.entry.kind == single ? c.entry.item : -1;
  const double needed = c.motion * enough(c.entry);
  const double ask = is_worthwhile ? needed + 2 * rounding_slack : 2 * rounding_slack;
  const double bound = query_.distance_bound(ask, c.a, c.b, cache) - rounding_slack;
  if (bound > needed) return false;
  if (bound <= 0 || at_floor) return true;
  keep_open(c.entry, std::max(bound / c.motion, c.part));
  return false;
}

void EdgeChecker::place(const Curve& curve, double t0, double t1) {
  half_ = 0.5 * (t1 - t0);
  curve.position(t0 + half_, q_.data());
  query_.place(q_.data());
  ++samples_;
}

EdgeResult EdgeChecker::curve(const Curve& curve, double t0, double t1, double resolution, Rigour rigour) {
  if (scene_->overlapping_fixed_pair() >= 0) {
    const auto& pair = scene_->pairs()[at(scene_->overlapping_fixed_pair())];
    return {false, t0, pair.first, pair.second};
  }
  resolution_ = resolution;
  rigour_ = rigour;
  place(curve, t0, t1);
  curve.spread(t0, t1, spread_);
  motion_.update(query_, q_.data(), spread_);
  // Samples without proof, in van der Corput's order, until the motion between them is small.
  int parts = 1;
  for (double motion = motion_.largest(); motion > provable && parts < most_parts; motion *= 0.5, parts *= 2) {
    const double step = (t1 - t0) / parts;
    for (int i = 0; i < parts; ++i) {
      EdgeResult touching{false, t0 + (i + 0.5) * step, -1, -1};
      if (parts > 1) place(curve, t0 + i * step, t0 + (i + 1) * step);
      if (query_.collides(&touching.a, &touching.b)) return touching;
    }
  }
  entries_.assign(root_.begin(), root_.end());
  queue_.clear();
  for (int i = 0; i < parts; ++i)
    queue_.push_back({t0 + i * (t1 - t0) / parts, i + 1 == parts ? t1 : t0 + (i + 1) * (t1 - t0) / parts, 0, root_.size()});
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const Interval interval = queue_[head];
    if (parts > 1 || head > 0) {  // otherwise it is placed already
      place(curve, interval.t0, interval.t1);
      curve.spread(interval.t0, interval.t1, spread_);
      motion_.update(query_, q_.data(), spread_);
    }
    const double middle = interval.t0 + half_;
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
    std::sort(suspects_.begin(), suspects_.end(), [](const Candidate& x, const Candidate& y) { return x.depth > y.depth; });
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

#include "planning/edge_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/constants.h"
#include "base/index.h"
#include "planning/metric.h"

namespace robosim {
namespace {

// Smallest part of the curve to which intervals are halved: bounds the work for absurdly long
// curves.
constexpr double shortest = 1e-7;
// [m] The curve is divided into equal parts, 8 to most_parts, until no point moves more than this
// over half a part.
constexpr double provable = 0.2;
constexpr int most_parts = 64;
// Exact distances are computed where they can exceed the cheap bounds by this multiple of the
// motion.
constexpr double worthwhile = 1;
// Relative accuracy of exact distances, above the floor.
constexpr double rough = 0.2;
// Number of items whose suspects are tested before the next items, number of pairs tested before
// all others, and number of tests without overlap after which a pair is skipped.
constexpr std::size_t block = 4, most_recent = 4;
constexpr int patience = 16;

// Largest k up to 128 with k along + k^3 rest <= gap, or slightly less, where k = 1 satisfies the
// inequality. The left side is convex, so Newton's method from above stays above the root, and the
// chord from k = 1 ends below it.
double reach_of(double gap, double along, double rest) {
  const auto left = [&](double k) { return k * along + k * k * k * rest - gap; };
  double high = 128;
  if (left(high) <= 0) return high;
  if (along * high > gap) high = gap / along;
  if (rest * high * high * high > gap) high = std::cbrt(gap / rest);
  for (int i = 0; i < 3; ++i) high -= left(high) / (along + 3 * high * high * rest);
  const double at_one = left(1), at_high = std::max(left(high), 0.0);
  return at_one < 0 ? 1 + (high - 1) * at_one / (at_one - at_high) : 1;
}

}  // namespace

EdgeChecker::EdgeChecker(const CollisionScene& scene)
    : scene_(&scene),
      query_(scene),
      layout_(scene),
      sifter_(make_interval_sifter(scene, layout_)),
      reach_(reaches(scene)),
      line_(scene.model()) {
  const std::size_t n_q = at(scene.model().n_q);
  for (std::vector<double>& q : q_) q.resize(n_q);
  spreads_.assign(width, {q_[0], q_[0], q_[0]});
  std::size_t places = scene.clusters().size() + scene.single_pairs().size();
  for (const CollisionScene::Group& group : scene.groups()) {
    first_place_.push_back(places);
    places += scene.bvh(group.bvh).nodes().size();
  }
  places_.resize(places);
  recent_.reserve(most_recent);
  // Capacity that suffices for most edges, so that the first ones do not allocate.
  constexpr std::size_t usual = 128;
  queue_.reserve(usual);
  entries_.reserve(4 * usual);
  suspects_.reserve(usual);
  asked_.reserve(usual);
  rows_.reserve(usual);
  for (std::vector<Entry>& open : open_) open.reserve(usual / 2);
  restrict_to({});
}

void EdgeChecker::restrict_to(const std::vector<int>& columns) {
  std::vector<char> driven(at(scene_->model().n_q), columns.empty());
  for (const int k : columns) driven[k] = 1;
  root_.clear();
  for (std::size_t i = 0; i < scene_->clusters().size(); ++i)
    if (scene_->clusters()[i].touchable > 0 && layout_.moves_cluster(static_cast<int>(i), driven))
      root_.push_back({static_cast<int>(i), SiftItem::cluster});
  for (std::size_t g = 0; g < scene_->groups().size(); ++g)
    if (layout_.moves(scene_->groups()[g].object, driven))
      root_.push_back({0, static_cast<int>(g)});
  recent_.clear();
  query_.forget();
  if (++age_ == 0) {  // wrapped around: invalidate all old marks
    for (Place& place : places_) place.age = 0;
    age_ = 1;
  }
}

void EdgeChecker::decide_by_shapes(const double* q, std::size_t n,
                                   const std::vector<int>& columns) {
  if (scene_->has_exact()) {
    const std::size_t n_q = at(scene_->model().n_q);
    restrict_to({});
    query_.decide_by_shapes();
    for (std::size_t i = 0; i < n; i += at(width)) {
      const double* lanes[width];
      const int count = static_cast<int>(std::min(n - i, at(width)));
      for (int l = 0; l < count; ++l) {
        std::copy_n(q + (i + at(l)) * n_q, n_q, q_[l].begin());
        lanes[l] = q_[l].data();
      }
      sifter_->place(count, lanes);
      EdgeResult found;
      while (collides(found) && query_.decide_by_bodies(found.a, found.b)) found = {};
    }
  }
  restrict_to(columns);
}

EdgeChecker::Place& EdgeChecker::place_of(const SiftItem& item) {
  Place& place = places_[number_of(item)];
  if (place.age != age_) {
    place.age = age_;
    place.looks = place.hits = 0;
    place.normal = {};
  }
  return place;
}

EdgeResult EdgeChecker::line(const double* q0, const double* q1, double resolution) {
  line_.set(q0, q1);
  return curve(line_, 0, 1, resolution, Rigour::planning);
}

EdgeResult EdgeChecker::look(const double* q0, const double* q1, double resolution) {
  line_.set(q0, q1);
  EdgeResult result;
  if (begin(line_, 0, 1, resolution, Rigour::planning, result)) sample(line_, result);
  return result;
}

EdgeResult EdgeChecker::prove(const double* q0, const double* q1, double resolution) {
  line_.set(q0, q1);
  EdgeResult result;
  if (begin(line_, 0, 1, resolution, Rigour::planning, result)) prove(line_, 0, 1, false, result);
  return result;
}

// Divide the curve into its first intervals: equal parts, each group of eight spread over all of
// it.
void EdgeChecker::divide(const Curve& curve, double t0, double t1) {
  curve.spread(t0, t1, spreads_[0]);
  const double motion =
      std::inner_product(reach_.begin(), reach_.end(), spreads_[0].span.begin(), 0.0);
  int parts = width;
  while (motion > provable * parts && parts < most_parts) parts *= 2;
  const int strides = parts / width;
  const auto border = [&](int i) { return i == parts ? t1 : t0 + i * (t1 - t0) / parts; };
  queue_.clear();
  // Offsets in van der Corput's order: 0, 1/2, 1/4, 3/4, ... of the stride.
  for (int n = 0; n < strides; ++n) {
    int offset = 0;
    for (int bit = 1, place = strides / 2; place > 0; bit *= 2, place /= 2)
      if (n & bit) offset += place;
    for (int k = 0; k < width; ++k)
      queue_.push_back({border(k * strides + offset), border(k * strides + offset + 1), 0, 0});
  }
}

void EdgeChecker::place(const Curve& curve, const Interval* intervals, int count) {
  const double* q[width];
  for (int l = 0; l < count; ++l) {
    looks_[l].t0 = intervals[l].t0;
    looks_[l].t1 = intervals[l].t1;
    looks_[l].half = 0.5 * (intervals[l].t1 - intervals[l].t0);
    looks_[l].middle = intervals[l].t0 + looks_[l].half;
    curve.position(looks_[l].middle, q_[l].data());
    q[l] = q_[l].data();
  }
  sifter_->place(count, q);
  samples_ += count;
  work_ += static_cast<std::int64_t>(scene_->model().joints.size()) / 4;
}

// Work of one query about the shapes of two objects, or about the bodies that the shapes enclose.
std::int64_t EdgeChecker::work_of(int a, int b) const {
  constexpr std::int64_t shapes = 8, bodies = 64;
  const bool is_many = scene_->object(a).geometry.compound || scene_->object(b).geometry.compound;
  return is_many || query_.stands_for_more(a, b) ? bodies : shapes;
}

std::pair<int, int> EdgeChecker::objects_of(const SiftItem& pair) const {
  if (pair.kind == SiftItem::single)
    return {scene_->single_pairs()[pair.item].a, scene_->single_pairs()[pair.item].b};
  const CollisionScene::Group& group = scene_->groups()[pair.kind];
  const AabbTree& tree = scene_->bvh(group.bvh);
  return {group.object, tree.item(tree.node(pair.item).first)};
}

SE3d EdgeChecker::X_WO(int object, int lane) const {
  const SceneObject& o = scene_->object(object);
  return o.body == 0 ? o.X_BO : sifter_->X_WB(o.body, lane) * o.X_BO;
}

std::size_t EdgeChecker::number_of(const SiftItem& item) const {
  if (item.kind == SiftItem::cluster) return at(item.item);
  if (item.kind == SiftItem::single) return scene_->clusters().size() + at(item.item);
  return first_place_[item.kind] + at(item.item);
}

// Return true if the table of a single pair proves it free within `span` (n_q entries) of the
// middle of interval l; without a span, at the middle itself.
bool EdgeChecker::is_known_apart(const SiftItem& pair, int l, const double* span) const {
  if (pair.kind != SiftItem::single) return false;
  const TurnTable* table = scene_->table_of(pair.item);
  return table && table->is_free_at(q_[l].data(), span);
}

// Return true if a suspect overlaps. Certain overlaps are tested first, then the deepest, where
// most colliding configurations are found.
bool EdgeChecker::any_overlaps(EdgeResult& result) {
  for (std::size_t left = suspects_.size(); left > 0; --left) {
    const auto deepest =
        std::max_element(suspects_.begin(), suspects_.begin() + static_cast<std::ptrdiff_t>(left),
                         [](const SiftSuspect& x, const SiftSuspect& y) {
                           return x.is_certain != y.is_certain ? y.is_certain : x.depth < y.depth;
                         });
    const SiftSuspect s = *deepest;
    *deepest = suspects_[left - 1];
    Place& place = place_of(s.pair);
    ++place.looks;
    const int cache = s.pair.kind == SiftItem::single ? s.pair.item : -1;
    if (!s.is_certain) work_ += work_of(s.a, s.b);
    if (!s.is_certain && !query_.overlaps(s.a, X_WO(s.a, s.lane), s.b, X_WO(s.b, s.lane), cache))
      continue;
    ++place.hits;
    result = {false, looks_[s.lane].middle, s.a, s.b};
    // Successive curves often collide with the same pair.
    const auto known = std::find_if(recent_.begin(), recent_.end(),
                                    [&](const SiftItem& item) { return item == s.pair; });
    if (known != recent_.end())
      std::rotate(recent_.begin(), known, known + 1);
    else if (recent_.size() < most_recent)
      recent_.insert(recent_.begin(), s.pair);
    else {
      recent_.back() = s.pair;
      std::rotate(recent_.begin(), recent_.end() - 1, recent_.end());
    }
    return true;
  }
  return false;
}

// Return true if an overlap is found at the current samples. Whatever is missed here is left to the
// proof.
bool EdgeChecker::collides(EdgeResult& result) {
  suspects_.clear();
  sifter_->suspects(recent_.data(), static_cast<int>(recent_.size()), suspects_);
  if (any_overlaps(result)) return true;
  for (std::size_t begin = 0; begin < root_.size(); begin += block) {
    const std::size_t n = std::min(block, root_.size() - begin);
    suspects_.clear();
    sifter_->suspects(&root_[begin], static_cast<int>(n), suspects_);
    // Skip pairs tested just now, pairs known to be free, and pairs that are often near and never
    // touch.
    std::erase_if(suspects_, [&](const SiftSuspect& s) {
      const Place& place = place_of(s.pair);
      return place.looks > patience * (place.hits + 1) ||
             std::find(recent_.begin(), recent_.end(), s.pair) != recent_.end() ||
             is_known_apart(s.pair, s.lane, nullptr);
    });
    if (!any_overlaps(result)) continue;
    std::rotate(root_.begin(), root_.begin() + static_cast<std::ptrdiff_t>(begin),
                root_.begin() + static_cast<std::ptrdiff_t>(begin + n));
    return true;
  }
  return false;
}

// Apply the cheap bounds to everything that is open in the current intervals, which are placed.
void EdgeChecker::bound(const Curve& curve, double t0, double t1, const Interval* intervals,
                        int count) {
  double half[width];
  std::uint32_t is_last = 0;
  for (int l = 0; l < count; ++l) {
    Look& look = looks_[l];
    half[l] = look.half;
    // A quarter of the motion since the nearer end, in units of the motion over half this interval.
    look.floor_factor = 0.25 * std::min(look.middle - t0, t1 - look.middle) / look.half;
    look.is_last = look.half <= shortest * (t1 - t0);
    if (look.is_last) is_last |= 1u << l;
    curve.spread(intervals[l].t0, intervals[l].t1, spreads_[l]);
  }
  sifter_->spread(spreads_.data(), half, is_last);
  rows_.clear();
  if (intervals[0].count == 0)
    return sifter_->sift(root_.data(), static_cast<int>(root_.size()), rows_);

  // Collect the entries of all intervals, item by item.
  asked_.clear();
  // After 2^32 - 1 rounds the counter wraps around; clear the stamps so that none looks current.
  if (++now_ == 0) {
    for (Place& place : places_) place.stamp = 0;
    now_ = 1;
  }
  for (int l = 0; l < count; ++l)
    for (std::size_t i = intervals[l].first; i < intervals[l].first + intervals[l].count; ++i) {
      const Entry& entry = entries_[i];
      Place& place = places_[number_of(entry)];
      if (place.stamp != now_) {
        place.stamp = now_;
        place.row = asked_.size();
        SiftRow& row = asked_.add();
        row.item = entry.item;
        row.kind = entry.kind;
        row.lanes = 0;
      }
      SiftRow& row = asked_.data()[place.row];
      row.lanes |= 1u << l;
      row.left[l] = entry.left;
      row.right[l] = entry.right;
    }
  sifter_->sift(asked_.data(), static_cast<int>(asked_.size()), rows_);
}

// Keep an item open in both halves, unless the ends and the sample at the middle cover a half.
void EdgeChecker::keep_open(const SiftRow& row, int lane, double part) {
  const double half = looks_[lane].half, covered = half * part;
  if (row.left[lane] + covered < half) open_[2 * lane].push_back({row, row.left[lane], covered});
  if (row.right[lane] + covered < half)
    open_[2 * lane + 1].push_back({row, covered, row.right[lane]});
}

// Mark everything between two values of t as proven, in all intervals of a row.
void EdgeChecker::cover(SiftRow& row, double from, double to) const {
  for (int l = 0; l < width; ++l) {
    const Look& look = looks_[l];
    if (!(row.lanes >> l & 1)) continue;
    if (look.t0 > from) row.left[l] = std::max(row.left[l], std::min(to, look.t1) - look.t0);
    if (look.t1 < to) row.right[l] = std::max(row.right[l], look.t1 - std::max(from, look.t0));
    const bool by_ends = row.left[l] + row.right[l] >= look.t1 - look.t0;
    if (by_ends || std::min(row.left[l], row.right[l]) + row.part[l] * look.half >= look.half)
      row.lanes &= ~(1u << l);
  }
}

// Distance bound required of the exact shapes of a pair. As a guess, it suffices for the motion
// along the normal that last separated them.
EdgeChecker::Question EdgeChecker::question(const SiftRow& row, int lane, double slack,
                                            bool has_plane) {
  const Look& look = looks_[lane];
  const double motion = row.motion[lane];
  const double floor =
      rigor_ == Rigour::proof
          ? resolution_ / 1000
          : std::max(std::min(resolution_ / 2, look.floor_factor * motion), resolution_ / 100);
  Question q;
  q.at_floor = motion <= floor || look.is_last;
  // Exact distances pay off only where they can cover a good part of the interval. Otherwise it is
  // enough to know that the shapes do not overlap.
  const bool is_worthwhile = q.at_floor || slack > worthwhile * motion;
  q.is_asked = row.gap[lane] <= 0 || is_worthwhile;
  // A proof along a steady curve covers neighboring intervals, too.
  const bool has_neighbors = is_steady_ && (row.lanes & (row.lanes - 1)) != 0;
  if (!q.is_asked || !(is_worthwhile || has_neighbors)) return q;
  q.enough = motion;
  // At the floor an unproven pair counts as touching, so the distance has to be known.
  if (has_plane && !q.at_floor)
    q.enough = std::min(q.enough, approaches_.along[lane] + approaches_.rest[lane]);
  q.enough *=
      (has_neighbors ? 4 : 1) * (look.half - std::min(row.left[lane], row.right[lane])) / look.half;
  return q;
}

// Query the exact shapes of a pair in all its intervals side by side.
void EdgeChecker::ask(const SiftRow& row, int a, int b) {
  const SceneObject &A = scene_->object(a), &B = scene_->object(b);
  const double slack = A.slack + (B.body == 0 && !B.geometry.compound ? 0.0 : B.slack);
  Place& place = place_of(row);
  double enough[width] = {};
  std::uint32_t asked = 0;
  bool at_floor = false;
  const bool has_plane = squared_norm(place.normal) > 0;
  std::fill_n(bounds_.normal, width, place.normal);
  if (has_plane) sifter_->approaches(row, row.lanes, bounds_.normal, approaches_);
  for (int l = 0; l < width; ++l) {
    if (!(row.lanes >> l & 1)) continue;
    questions_[l] = question(row, l, slack, has_plane);
    if (!questions_[l].is_asked) continue;
    asked |= 1u << l;
    enough[l] = questions_[l].enough + 2 * rounding_slack;
    at_floor |= questions_[l].at_floor;
  }
  work_ += 8 * std::popcount(asked);
  answered_ = asked == 0 ? 0
                         : sifter_->bounds(a, b, asked, enough, at_floor ? 0 : rough, place.normal,
                                           bounds_);
  if (answered_ == 0) return;
  place.normal = bounds_.normal[std::countr_zero(answered_)];
  sifter_->approaches(row, answered_, bounds_.normal, approaches_);
}

// Apply the answer for a pair in one interval. Return true if the pair counts as touching;
// otherwise it is proven free or kept open.
bool EdgeChecker::touches(SiftRow& row, int lane, int a, int b) {
  const Look& look = looks_[lane];
  const double motion = row.motion[lane];
  const auto [is_asked, at_floor, ask_for] = questions_[lane];
  if (!is_asked) return keep_open(row, lane, row.part[lane]), false;
  const double enough = (look.half - std::min(row.left[lane], row.right[lane])) / look.half;
  Vec3d n;
  double bound;
  if (answered_ >> lane & 1) {
    bound = bounds_.distance[lane] - rounding_slack;
    n = bounds_.normal[lane];
  } else {
    const int cache = row.kind == SiftItem::single ? row.item : -1;
    work_ += work_of(a, b);
    bound = query_.distance_bound(ask_for + 2 * rounding_slack, a, X_WO(a, lane), b, X_WO(b, lane),
                                  cache) -
            rounding_slack;
    n = bounds_.normal[lane] = place_of(row).normal = query_.separating_axis(cache);
    sifter_->approaches(row, 1u << lane, bounds_.normal, approaches_);
  }
  row.lanes &= ~(1u << lane);
  // Enclosing shapes may overlap, or come too near, where the meshes do not.
  if ((bound <= 0 || (at_floor && bound < motion)) && query_.stands_for_more(a, b)) {
    const int cache = row.kind == SiftItem::single ? row.item : -1;
    work_ += work_of(a, b);
    const double exact = query_.exact_distance_bound(motion + 2 * rounding_slack, a, X_WO(a, lane),
                                                     b, X_WO(b, lane), cache) -
                         rounding_slack;
    if (exact > bound) {
      bound = exact;
      n = bounds_.normal[lane] = {};
      sifter_->approaches(row, 1u << lane, bounds_.normal, approaches_);
    }
  }
  if (bound <= 0) return true;
  // Part of the half-width that the bound proves: by the motion in any direction, or by the motion
  // along the normal of the separating plane.
  double part = bound / motion, reach = 0;
  const double total = approaches_.total[lane], along = approaches_.along[lane],
               rest = approaches_.rest[lane];
  const bool has_plane = squared_norm(n) > 0;
  if (has_plane) part = std::max(part, bound / (along + rest));
  if (is_steady_) {
    // On a steady curve the proof extends beyond the interval.
    reach = std::min(part, 1.0);
    if (part > 1) {
      reach = std::max(reach, bound / total);
      if (has_plane && along + rest <= bound) reach = std::max(reach, reach_of(bound, along, rest));
    }
    const double from = look.middle - reach * look.half, to = look.middle + reach * look.half;
    cover(row, from, to);
    Place& place = places_[number_of(row)];
    if (place.curve != curve_) {
      place.curve = curve_;
      place.n_proven = 0;
    }
    const std::size_t k = at(place.n_proven++ % Place::most);
    place.from[k] = from;
    place.to[k] = to;
  }
  if (part > enough) return false;
  if (at_floor) return true;
  keep_open(row, lane, std::max(part, row.part[lane]));
  return false;
}

// Settle what the cheap bounds have not proven: keep clusters and nodes open, query exact shapes of
// pairs.
EdgeResult EdgeChecker::settle(SiftRow& row) {
  const bool is_pair =
      row.kind == SiftItem::single ||
      (row.kind >= 0 && scene_->bvh(scene_->groups()[row.kind].bvh).node(row.item).is_leaf());
  if (!is_pair) {
    for (int l = 0; l < width; ++l)
      if (row.lanes >> l & 1) keep_open(row, l, row.part[l]);
    return {};
  }
  const auto [a, b] = objects_of(row);
  for (int l = 0; l < width; ++l)
    if ((row.lanes >> l & 1) && is_known_apart(row, l, spreads_[l].span.data()))
      row.lanes &= ~(1u << l);
  if (row.lanes == 0) return {};
  if (const Place& place = places_[number_of(row)]; is_steady_ && place.curve == curve_)
    for (int k = 0; k < std::min(place.n_proven, Place::most); ++k)
      cover(row, place.from[k], place.to[k]);
  ask(row, a, b);
  // Process intervals whose balls overlap before the others, the interval nearest their center
  // first.
  while (row.lanes != 0) {
    double first = infinity, last = -infinity;
    bool any_near = false;
    for (int l = 0; l < width; ++l)
      if ((row.lanes >> l & 1) && row.gap[l] <= 0) any_near = true;
    const auto counts = [&](int l) {
      return (row.lanes >> l & 1) && (!any_near || row.gap[l] <= 0);
    };
    for (int l = 0; l < width; ++l)
      if (counts(l)) {
        first = std::min(first, looks_[l].middle);
        last = std::max(last, looks_[l].middle);
      }
    int lane = -1;
    const double center = 0.5 * (first + last);
    for (int l = 0; l < width; ++l)
      if (counts(l) && (lane < 0 || std::abs(looks_[l].middle - center) <
                                        std::abs(looks_[lane].middle - center)))
        lane = l;
    if (touches(row, lane, a, b)) return {false, looks_[lane].middle, a, b};
    row.lanes &= ~(1u << lane);
  }
  return {};
}

EdgeResult EdgeChecker::curve(const Curve& curve, double t0, double t1, double resolution,
                              Rigour rigor) {
  EdgeResult result;
  // Most curves in collision collide in the middle of some interval, so test the middles first.
  if (begin(curve, t0, t1, resolution, rigor, result) && sample(curve, result))
    prove(curve, t0, t1, queue_.size() == at(width), result);
  return result;
}

// Divide the curve. Return false if two fixed objects overlap, so that no curve is free.
bool EdgeChecker::begin(const Curve& curve, double t0, double t1, double resolution, Rigour rigor,
                        EdgeResult& result) {
  if (scene_->overlapping_fixed_pair() >= 0) {
    const auto& pair = scene_->pairs()[scene_->overlapping_fixed_pair()];
    return result = {false, t0, pair.first, pair.second}, false;
  }
  resolution_ = resolution;
  rigor_ = rigor;
  is_steady_ = curve.is_steady();
  if (++curve_ == 0) {
    for (Place& place : places_) place.curve = 0;
    curve_ = 1;
  }
  entries_.clear();
  divide(curve, t0, t1);
  return true;
}

// Return true if no collision is found in the middles of the first intervals.
bool EdgeChecker::sample(const Curve& curve, EdgeResult& result) {
  for (std::size_t i = 0; i < queue_.size(); i += at(width)) {
    place(curve, &queue_[i], width);
    if (collides(result)) return false;
  }
  return true;
}

// Prove the intervals in the queue, breadth first. is_placed: the first intervals are placed
// already.
void EdgeChecker::prove(const Curve& curve, double t0, double t1, bool is_placed,
                        EdgeResult& result) {
  for (std::size_t head = 0; head < queue_.size();) {
    const int count = static_cast<int>(std::min(queue_.size() - head, at(width)));
    Interval intervals[width];
    std::copy_n(queue_.begin() + static_cast<std::ptrdiff_t>(head), count, intervals);
    head += at(count);
    if (!is_placed) place(curve, intervals, count);
    is_placed = false;
    bound(curve, t0, t1, intervals, count);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      // Settle every item. The first one that touches ends the proof.
      result = settle(rows_.data()[i]);
      if (result.free) continue;
      for (std::vector<Entry>& open : open_) open.clear();
      return;
    }
    // Queue the halves in which items are still open.
    for (int i = 0; i < 2 * count; ++i) {
      std::vector<Entry>& open = open_[i];
      if (open.empty()) continue;
      const Interval& interval = intervals[i / 2];
      const double middle = looks_[i / 2].middle;
      queue_.push_back({i % 2 == 0 ? interval.t0 : middle, i % 2 == 0 ? middle : interval.t1,
                        entries_.size(), open.size()});
      entries_.insert(entries_.end(), open.begin(), open.end());
      open.clear();
    }
  }
}

}  // namespace robosim

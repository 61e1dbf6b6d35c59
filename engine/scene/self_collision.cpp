#include "scene/self_collision.h"

#include <algorithm>
#include <numeric>

#include "base/constants.h"
#include "base/index.h"
#include "base/rng.h"
#include "dynamics/configuration.h"
#include "scene/scene_query.h"

namespace robosim {
namespace {

// Draw a random configuration. Joints with all six degrees of freedom stay at the origin: only
// relative placements matter.
void sample(const Model& model, Rng& rng, std::vector<double>& q) {
  neutral(model, q.data());
  detail::for_each_own_joint(model, [&]<class J>(J, const Joint& joint) {
    if (J::n_v == 6) return;
    double u[J::n_q];
    for (double& x : u) x = rng.uniform();
    const int k = joint.q_index;
    J::sample(u, model.limits.q_lower.data() + k, model.limits.q_upper.data() + k, q.data() + k);
  });
}

// Effort of the search for a contact of one pair of links.
struct Effort {
  int starts = 0, explorations = 0;
};
// A distance of bodies of many pieces takes up to 1 ms.
constexpr Effort of_shapes{30, 4}, of_meshes{4, 1};

}  // namespace

std::vector<std::int64_t> sample_self_collisions(const Model& model,
                                                 const std::vector<std::pair<int, int>>& pairs,
                                                 std::uint64_t seed, std::int64_t samples) {
  const CollisionScene scene(model, {}, pairs);
  SceneQuery query(scene);
  Rng rng(seed);
  std::vector<double> q(static_cast<std::size_t>(model.n_q));
  std::vector<std::int64_t> counts(pairs.size(), 0);
  std::vector<PairCache> caches(pairs.size());
  for (std::int64_t s = 0; s < samples; ++s) {
    sample(model, rng, q);
    query.place(q.data());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto [a, b] = pairs[i];
      if (query.coarse_distance(a, b) > 0) continue;
      const SceneObject &A = scene.object(a), &B = scene.object(b);
      if (closer_than(0, A.geometry, query.X_WO(a), B.geometry, query.X_WO(b), &caches[i]))
        ++counts[i];
    }
  }
  return counts;
}

SelfCollisionSearch::SelfCollisionSearch(const Model& model, std::vector<std::pair<int, int>> pairs,
                                         std::vector<int> group_begin, double margin,
                                         std::uint64_t seed)
    : scene_(model, {}, {}),
      query_(scene_),
      descent_(scene_),
      bound_(scene_),
      pairs_(std::move(pairs)),
      margin_(margin),
      rng_(seed),
      link_of_frame_(model.frames.size(), -1),
      states_(group_begin.size() - 1, PairState::far),
      open_(states_.size()),
      q_(at(model.n_q)),
      best_q_(at(model.n_q)) {
  const auto order = [&](int object) {
    return std::pair(scene_.object(object).body, model.colliders[object].frame);
  };
  for (std::size_t g = 0; g + 1 < group_begin.size(); ++g) {
    const int first = group_begin[g], count = group_begin[g + 1] - first;
    for (int i = first; i < first + count; ++i) {
      auto& [a, b] = pairs_[i];
      // Lower bounds expect the moving object first, and searches the same link first in all pairs.
      if (order(a) < order(b)) std::swap(a, b);
    }
    const auto [a, b] = pairs_[first];
    const int link_a = link_of(a), link_b = link_of(b);
    groups_.push_back({link_a, link_b, first, count, 0});
  }
  find_links();
  std::iota(open_.begin(), open_.end(), 0);
}

int SelfCollisionSearch::link_of(int object) {
  const int frame = model().colliders[object].frame;
  int& link = link_of_frame_[frame];
  if (link < 0) {
    link = static_cast<int>(links_.size());
    links_.push_back({scene_.object(object).body, {}, {}, {}});
  }
  return link;
}

void SelfCollisionSearch::find_links() {
  for (std::size_t i = 0; i < model().colliders.size(); ++i) {
    const int link = link_of_frame_[model().colliders[i].frame];
    if (link >= 0) links_[link].objects.push_back(static_cast<int>(i));
  }
  for (auto& [body, objects, ball, center] : links_) {
    const double share = 1.0 / static_cast<double>(objects.size());
    for (const int i : objects) ball.center += share * scene_.object(i).p_BC;
    for (const int i : objects)
      ball.radius = std::max(
          ball.radius, norm(scene_.object(i).p_BC - ball.center) + scene_.object(i).ball_radius);
  }
  for (Group& group : groups_)
    group.reach =
        links_[group.a].ball.radius + links_[group.b].ball.radius + margin_ + rounding_slack;
}

void SelfCollisionSearch::place(const double* q) {
  query_.place(q);
  for (Link& link : links_) link.center = query_.data().X_WB[link.body] * link.ball.center;
}

bool SelfCollisionSearch::is_near(const Group& group) {
  for (int i = group.first; i < group.first + group.count; ++i) {
    const auto [a, b] = pairs_[i];
    if (query_.coarse_distance(a, b) > margin_ || query_.finer_distance(a, b) > margin_) continue;
    if (shapes_closer_than(margin_, scene_.object(a).geometry, query_.X_WO(a),
                           scene_.object(b).geometry, query_.X_WO(b)))
      return true;
  }
  return false;
}

bool SelfCollisionSearch::touches(const Group& group) {
  for (int i = group.first; i < group.first + group.count; ++i) {
    const auto [a, b] = pairs_[i];
    if (query_.coarse_distance(a, b) <= 0 && query_.overlaps(a, b)) return true;
  }
  return false;
}

void SelfCollisionSearch::sample(std::ptrdiff_t n, const double* q) {
  for (; n > 0; --n, q += model().n_q) {
    place(q);
    std::erase_if(open_, [&](int g) {
      const Group& group = groups_[g];
      PairState& state = states_[g];
      const bool may_touch = balls_near(group);
      if (state == PairState::far && !(may_touch && is_near(group))) return false;
      // A pair that was apart before does not touch in every configuration.
      if ((state == PairState::touching || is_first_) && may_touch && touches(group))
        return state = PairState::touching, false;
      return state = PairState::reachable, true;
    });
    is_first_ = false;
  }
}

void SelfCollisionSearch::prove() {
  std::erase_if(open_, [&](int g) {
    if (states_[g] != PairState::far) return false;
    const Link &a = links_[groups_[g].a], &b = links_[groups_[g].b];
    if (!(bound_.distance(a.objects, b.objects) > margin_)) return false;
    return states_[g] = PairState::apart, true;
  });
}

void SelfCollisionSearch::begin_searches(std::ptrdiff_t n, const double* q,
                                         std::int64_t most_work) {
  start_q_.assign(q, q + n * model().n_q);
  start_centers_.clear();
  for (std::ptrdiff_t s = 0; s < n; ++s) {
    place(q + s * model().n_q);
    for (const Link& link : links_) start_centers_.push_back(link.center);
  }
  std::vector<std::pair<int, int>> queue;  // joints between both links, pair of links
  for (const int g : open_) {
    if (states_[g] != PairState::far) continue;
    const Link &a = links_[groups_[g].a], &b = links_[groups_[g].b];
    queue.emplace_back(path_length(a.body, b.body), g);
  }
  std::sort(queue.begin(), queue.end());
  queue_.clear();
  next_ = 0;
  for (const auto& [length, g] : queue) queue_.push_back(g);
  most_work_ = descent_.work() + most_work;
}

int SelfCollisionSearch::path_length(int body_a, int body_b) const {
  int length = 0;
  for (; body_a != body_b; ++length) {
    int& body = body_a > body_b ? body_a : body_b;  // parents come first
    body = model().joints[body].parent;
  }
  return length;
}

bool SelfCollisionSearch::search(std::int64_t work) {
  const std::int64_t until = descent_.work() + work;
  for (; next_ < queue_.size() && descent_.work() < until; ++next_) {
    const int g = queue_[next_];
    PairState& state = states_[g];
    if (state != PairState::far) continue;
    if (descent_.work() >= most_work_) {
      state = PairState::undecided;
    } else if (find_contact(groups_[g])) {
      state = PairState::reachable;
      share(q_.data());
    }
  }
  if (next_ < queue_.size()) return true;
  std::erase_if(open_, [&](int g) {
    return states_[g] != PairState::far && states_[g] != PairState::touching;
  });
  return false;
}

void SelfCollisionSearch::choose_starts(const Group& group, int most) {
  starts_.clear();
  const std::size_t n = start_centers_.size() / links_.size();
  for (std::size_t s = 0; s < n; ++s) {
    const Vec3d* centers = &start_centers_[s * links_.size()];
    starts_.emplace_back(squared_norm(centers[group.a] - centers[group.b]), static_cast<int>(s));
  }
  const std::size_t kept = std::min(at(most), n);
  std::partial_sort(starts_.begin(), starts_.begin() + static_cast<std::ptrdiff_t>(kept),
                    starts_.end());
  starts_.resize(kept);
}

bool SelfCollisionSearch::find_contact(const Group& group) {
  descent_.choose({&pairs_[group.first], at(group.count)});
  const bool has_meshes =
      std::any_of(&pairs_[group.first], &pairs_[group.first] + group.count, [&](const auto& pair) {
        return scene_.object(pair.first).geometry.compound ||
               scene_.object(pair.second).geometry.compound;
      });
  const Effort effort = has_meshes ? of_meshes : of_shapes;
  choose_starts(group, effort.starts);
  double best = infinity;
  const auto descend = [&](double distance) {
    if (distance > margin_) distance = descent_.descend(distance, margin_, q_.data());
    if (distance < best) {
      best = distance;
      best_q_ = q_;
    }
  };
  // Descend from each start, then explore from the best configuration.
  for (std::size_t i = 0; i < starts_.size() && best > margin_; ++i) {
    std::copy_n(&start_q_[at(starts_[i].second) * q_.size()], q_.size(), q_.begin());
    descend(descent_.distance(q_.data()));
  }
  for (int i = 0; i < effort.explorations && best > margin_; ++i) {
    q_ = best_q_;
    descend(descent_.explore(best, margin_, rng_, q_.data()));
  }
  q_ = best_q_;
  return best <= margin_;
}

void SelfCollisionSearch::share(const double* q) {
  place(q);
  for (const int g : open_) {
    const Group& group = groups_[g];
    if (states_[g] == PairState::far && balls_near(group) && is_near(group))
      states_[g] = PairState::reachable;
  }
}

}  // namespace robosim

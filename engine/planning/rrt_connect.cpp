#include "planning/rrt_connect.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/constants.h"
#include "base/index.h"
#include "base/rng.h"
#include "planning/metric.h"
#include "planning/nearest.h"
#include "planning/shapes_first.h"

namespace robosim {
namespace {

using Clock = std::chrono::steady_clock;

struct Tree {
  NearestNeighbours points;     // weighted
  std::vector<double> q;        // vertices, columns only
  std::vector<int> parent;      // -1 at a root
  std::vector<int> root;        // which start or goal it hangs from
  std::vector<double> radius;   // of the dynamic domain
  int n;

  explicit Tree(int columns) : points(columns), n(columns) {}
  int size() const { return static_cast<int>(parent.size()); }
  const double* vertex(int i) const { return &q[at(i) * at(n)]; }
};

class Search {
 public:
  Search(EdgeChecker& checker, const double* start, const double* goals, int n_goals, const SearchOptions& options)
      : options_(options),
        n_q_(checker.scene().model().n_q),
        n_(static_cast<int>(options.columns.size())),
        n_goals_(n_goals),
        start_(start),
        goals_(goals),
        checker_(checker),
        samples_before_(checker.samples()),
        rng_(options.seed),
        trees_{Tree(n_), Tree(n_)},
        weights_(options.weights.empty() ? reach_weights(checker.scene(), options.columns) : options.weights),
        from_(start, start + n_q_),
        to_(start, start + n_q_),
        sample_(at(n_)),
        step_(at(n_)),
        scaled_(at(n_)) {
    checker_.restrict_to(options.columns);
  }

  SearchResult run();

 private:
  enum class Growth : std::uint8_t { reached, advanced, trapped };

  bool within_limits(const double* q) const;
  bool prepare();
  bool try_straight();
  void add(Tree& tree, const double* q, int parent, int root);
  bool edge(const double* a, const double* b);
  void draw();
  int nearest(const Tree& tree, const double* q, double& distance);
  Growth grow(Tree& tree, int from, double distance, const double* target, int& added);
  bool interrupted();
  void finish(int in_start_tree, int in_goal_tree);
  void append(const double* columns);

  const SearchOptions& options_;
  int n_q_, n_, n_goals_;
  const double *start_, *goals_;
  EdgeChecker& checker_;
  std::int64_t samples_before_;
  Rng rng_;
  Tree trees_[2];  // from the start, from the goals
  std::vector<double> weights_, sample_lower_, sample_upper_;
  std::vector<double> from_, to_;  // whole configurations, only the columns change
  std::optional<ShapesFirst> shapes_first_;
  std::vector<double> sample_, step_, scaled_;
  SearchResult result_;
  Clock::time_point begin_ = Clock::now(), last_poll_ = begin_;
};

bool Search::within_limits(const double* q) const {
  for (int k = 0; k < n_; ++k) {
    const double x = q[options_.columns[at(k)]];
    if (!(x >= options_.lower[at(k)] && x <= options_.upper[at(k)])) return false;
  }
  return true;
}

void Search::add(Tree& tree, const double* q, int parent, int root) {
  for (int k = 0; k < n_; ++k) scaled_[at(k)] = weights_[at(k)] * q[k];
  tree.points.add(scaled_.data());
  tree.q.insert(tree.q.end(), q, q + n_);
  tree.parent.push_back(parent);
  tree.root.push_back(root);
  tree.radius.push_back(infinity);
}

bool Search::edge(const double* a, const double* b) {
  for (int k = 0; k < n_; ++k) {
    from_[at(options_.columns[at(k)])] = a[k];
    to_[at(options_.columns[at(k)])] = b[k];
  }
  ++result_.edges;
  const EdgeResult found = checker_.line(from_.data(), to_.data(), options_.resolution);
  if (!found.free) shapes_first_->is_blocked(found, from_.data(), to_.data());
  return found.free;
}

// Checks start and goals, plants the trees, and fixes the box that samples come from.
bool Search::prepare() {
  SceneQuery& query = checker_.query();
  const auto collides = [&](const double* q) {
    query.place(q);
    return query.collides(&result_.culprit_a, &result_.culprit_b);
  };
  if (!within_limits(start_)) return result_.status = SearchStatus::start_out_of_limits, false;
  if (collides(start_)) return result_.status = SearchStatus::start_in_collision, false;

  std::vector<double> columns(at(n_));
  const auto pick = [&](const double* q) {
    for (int k = 0; k < n_; ++k) columns[at(k)] = q[options_.columns[at(k)]];
    return columns.data();
  };
  add(trees_[0], pick(start_), -1, 0);
  std::vector<double> roots(start_, start_ + n_q_);  // whole configurations
  bool any_within = false;
  int a = -1, b = -1;
  for (int g = 0; g < n_goals_; ++g) {
    const double* goal = goals_ + at(g) * at(n_q_);
    if (!within_limits(goal)) continue;
    any_within = true;
    for (int k = 0; k < n_; ++k) to_[at(options_.columns[at(k)])] = goal[options_.columns[at(k)]];
    if (!collides(to_.data())) {
      add(trees_[1], pick(goal), -1, g);
      roots.insert(roots.end(), to_.begin(), to_.end());
    } else if (a < 0) {
      a = result_.culprit_a, b = result_.culprit_b;
    }
  }
  result_.culprit_a = result_.culprit_b = -1;
  if (!any_within) return result_.status = SearchStatus::goal_out_of_limits, false;
  if (trees_[1].size() == 0) {
    result_.culprit_a = a, result_.culprit_b = b;
    return result_.status = SearchStatus::goal_in_collision, false;
  }
  shapes_first_.emplace(checker_, roots.data(), roots.size() / at(n_q_), options_.columns);

  sample_lower_ = options_.lower, sample_upper_ = options_.upper;
  for (int k = 0; k < n_; ++k) {
    double least = trees_[0].vertex(0)[k], most = least;
    for (int i = 0; i < trees_[1].size(); ++i) {
      least = std::min(least, trees_[1].vertex(i)[k]);
      most = std::max(most, trees_[1].vertex(i)[k]);
    }
    if (!std::isfinite(sample_lower_[at(k)])) sample_lower_[at(k)] = std::min(least - pi, sample_upper_[at(k)]);
    if (!std::isfinite(sample_upper_[at(k)])) sample_upper_[at(k)] = std::max(most + pi, sample_lower_[at(k)]);
  }
  return true;
}

bool Search::interrupted() {
  const Clock::time_point now = Clock::now();
  if (std::chrono::duration<double>(now - begin_).count() > options_.deadline)
    return result_.status = SearchStatus::time_out, true;
  if (options_.poll && now - last_poll_ > std::chrono::milliseconds(50)) {
    last_poll_ = now;
    if (!options_.poll()) return result_.status = SearchStatus::cancelled, true;
  }
  return false;
}

void Search::draw() {
  for (int k = 0; k < n_; ++k) sample_[at(k)] = rng_.uniform(sample_lower_[at(k)], sample_upper_[at(k)]);
}

int Search::nearest(const Tree& tree, const double* q, double& distance) {
  for (int k = 0; k < n_; ++k) scaled_[at(k)] = weights_[at(k)] * q[k];
  const int i = tree.points.nearest(scaled_.data(), &distance);
  distance = std::sqrt(distance);
  return i;
}

// One edge from vertex `from` towards the target, at most `range` long.
Search::Growth Search::grow(Tree& tree, int from, double distance, const double* target, int& added) {
  const double part = distance <= options_.range ? 1.0 : options_.range / distance;
  const double* q = tree.vertex(from);
  for (int k = 0; k < n_; ++k) step_[at(k)] = part == 1.0 ? target[k] : q[k] + part * (target[k] - q[k]);
  double& radius = tree.radius[at(from)];
  if (!edge(q, step_.data())) {
    radius = radius == infinity ? options_.domain_radius : std::max(radius * (1 - options_.domain_change), options_.domain_least);
    return Growth::trapped;
  }
  if (radius != infinity) radius *= 1 + options_.domain_change;
  added = tree.size();
  add(tree, step_.data(), from, tree.root[at(from)]);
  return part == 1.0 ? Growth::reached : Growth::advanced;
}

void Search::append(const double* columns) {
  std::vector<double> q(start_, start_ + n_q_);
  for (int k = 0; k < n_; ++k) q[at(options_.columns[at(k)])] = columns[k];
  result_.path.insert(result_.path.end(), q.begin(), q.end());
}

void Search::finish(int in_start_tree, int in_goal_tree) {
  std::vector<int> chain;
  for (int i = in_start_tree; i >= 0; i = trees_[0].parent[at(i)]) chain.push_back(i);
  std::reverse(chain.begin(), chain.end());
  for (const int i : chain) append(trees_[0].vertex(i));
  // The trees meet in one configuration, which is in both.
  for (int i = trees_[1].parent[at(in_goal_tree)]; i >= 0; i = trees_[1].parent[at(i)]) append(trees_[1].vertex(i));
  result_.goal = trees_[1].root[at(in_goal_tree)];
  result_.status = SearchStatus::solved;
}

bool Search::try_straight() {
  std::vector<std::pair<double, int>> order;
  for (int i = 0; i < trees_[1].size(); ++i) {
    double sum = 0;
    for (int k = 0; k < n_; ++k) {
      const double d = weights_[at(k)] * (trees_[1].vertex(i)[k] - trees_[0].vertex(0)[k]);
      sum += d * d;
    }
    order.emplace_back(sum, i);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [distance, i] : order) {
    if (interrupted()) return true;
    if (!edge(trees_[0].vertex(0), trees_[1].vertex(i))) continue;
    append(trees_[0].vertex(0));
    append(trees_[1].vertex(i));
    result_.goal = trees_[1].root[at(i)];
    result_.status = SearchStatus::solved;
    return true;
  }
  return false;
}

SearchResult Search::run() {
  if (prepare() && !try_straight()) {
    result_.status = SearchStatus::budget_exhausted;
    while (result_.iterations < options_.max_iterations && !interrupted()) {
      ++result_.iterations;
      const int side = trees_[0].size() <= trees_[1].size() ? 0 : 1;
      Tree &here = trees_[side], &there = trees_[1 - side];
      draw();
      double distance;
      const int near = nearest(here, sample_.data(), distance);
      if (distance > here.radius[at(near)] || distance == 0) continue;
      int added = -1;
      if (grow(here, near, distance, sample_.data(), added) == Growth::trapped) continue;

      // The other tree comes to meet the new vertex.
      const std::vector<double> target(here.vertex(added), here.vertex(added) + n_);
      int tip = nearest(there, target.data(), distance);
      Growth growth = Growth::advanced;
      while (growth == Growth::advanced) {
        growth = grow(there, tip, distance, target.data(), tip);
        distance = std::max(distance - options_.range, 0.0);
      }
      if (growth == Growth::reached) {
        finish(side == 0 ? added : tip, side == 0 ? tip : added);
        break;
      }
    }
  }
  result_.samples = checker_.samples() - samples_before_;
  result_.vertices = trees_[0].size() + trees_[1].size();
  result_.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  return std::move(result_);
}

}  // namespace

const char* name_of(SearchStatus status) {
  switch (status) {
    case SearchStatus::solved:
      return "solved";
    case SearchStatus::budget_exhausted:
      return "budget_exhausted";
    case SearchStatus::time_out:
      return "time_out";
    case SearchStatus::cancelled:
      return "cancelled";
    case SearchStatus::start_out_of_limits:
      return "start_out_of_limits";
    case SearchStatus::goal_out_of_limits:
      return "goal_out_of_limits";
    case SearchStatus::start_in_collision:
      return "start_in_collision";
    case SearchStatus::goal_in_collision:
      break;
  }
  return "goal_in_collision";
}

void narrow_to_one_turn(const double* ends, std::size_t n_ends, std::size_t n_q, const std::vector<int>& columns, const bool* periodic,
                        std::vector<double>& lower, std::vector<double>& upper) {
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (!periodic[k] || n_ends == 0) continue;
    double least = infinity, most = -infinity;
    for (std::size_t i = 0; i < n_ends; ++i) {
      const double q = ends[i * n_q + at(columns[k])];
      least = std::min(least, q), most = std::max(most, q);
    }
    const double middle = (least + most) / 2, half = std::max(pi, (most - least) / 2 + pi / 2);
    lower[k] = std::max(lower[k], middle - half), upper[k] = std::min(upper[k], middle + half);
  }
}

SearchResult rrt_connect(EdgeChecker& checker, const double* start, const double* goals, int n_goals, const SearchOptions& options) {
  return Search(checker, start, goals, n_goals, options).run();
}

}  // namespace robosim

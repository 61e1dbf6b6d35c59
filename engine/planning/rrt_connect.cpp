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
#include "planning/whole_turns.h"

namespace robosim {
namespace {

using Clock = std::chrono::steady_clock;

// Iterations before whole turns are considered, and iterations per additional straight line after
// that.
constexpr std::int64_t before_turns = 200, line_every = 4;

// One turn or a little more about the middle of entry `column` of the rows `ends`, of n_q entries
// each.
struct Turn {
  double middle, half;
};
Turn turn_about(const double* ends, std::size_t n_ends, std::size_t n_q, int column) {
  double least = infinity, most = -infinity;
  for (std::size_t i = 0; i < n_ends; ++i) {
    const double q = ends[i * n_q + at(column)];
    least = std::min(least, q);
    most = std::max(most, q);
  }
  return {(least + most) / 2, std::max(pi, (most - least) / 2 + pi / 2)};
}

struct Tree {
  NearestNeighbors points;     // weighted
  std::vector<double> q;       // vertices, columns only
  std::vector<int> parent;     // -1 at a root
  std::vector<int> root;       // start or goal at the root of its branch
  std::vector<double> radius;  // of the dynamic domain
  int n;

  explicit Tree(int columns) : points(columns), n(columns) {}
  int size() const { return static_cast<int>(parent.size()); }
  const double* vertex(int i) const { return &q[at(i) * at(n)]; }
};

class Search {
 public:
  Search(EdgeChecker& checker, const double* start, const double* goals, int n_goals,
         const SearchOptions& options)
      : options_(options),
        n_q_(checker.scene().model().n_q),
        n_(static_cast<int>(options.columns.size())),
        n_goals_(n_goals),
        start_(start),
        goals_(goals),
        checker_(checker),
        samples_before_(checker.samples()),
        work_before_(checker.work()),
        rng_(options.seed),
        trees_{Tree(n_), Tree(n_)},
        weights_(options.weights.empty() ? reach_weights(checker.scene(), options.columns)
                                         : options.weights),
        from_(start, start + n_q_),
        to_(start, start + n_q_),
        sample_(at(n_)),
        step_(at(n_)),
        scaled_(at(n_)),
        turns_(at(n_), 0.0) {
    checker_.restrict_to(options.columns);
  }

  SearchResult run();

 private:
  enum class Growth : std::uint8_t { reached, advanced, trapped };

  bool within_limits(const double* q) const;
  bool prepare();
  bool try_line();
  bool try_lines(int count);
  void add(Tree& tree, const double* q, int parent, int root);
  bool edge(const double* a, const double* b);
  void draw();
  int nearest(const Tree& tree, const double* q, double& distance, bool by_turns = false);
  Growth grow(Tree& tree, int from, double distance, const double* target, int& added);
  bool connect(int side, int added);
  bool fits(int in_goal_tree) const;
  std::int64_t work() const;
  bool interrupted();
  void finish(int in_start_tree, int in_goal_tree);
  void append(const double* columns);

  const SearchOptions& options_;
  int n_q_, n_, n_goals_;
  const double *start_, *goals_;
  EdgeChecker& checker_;
  std::int64_t samples_before_, work_before_;
  Rng rng_;
  Tree trees_[2];  // from the start, from the goals
  std::vector<double> weights_, sample_lower_, sample_upper_;
  std::vector<double> near_lower_, near_upper_;  // box around start and goals
  std::vector<double> from_, to_;  // whole configurations, of which only the columns change
  std::optional<ShapesFirst> shapes_first_;
  std::vector<double> sample_, step_, scaled_;
  Turning turning_;
  std::optional<WholeTurns> lines_;
  WholeTurns::Candidate line_;
  std::vector<char> may_turn_;   // per root of the goal tree
  std::vector<double> periods_;  // weighted
  bool has_turns_ = false;       // true: limits allow more than one turn
  bool by_turns_ = false;        // true: the search considers whole turns
  std::vector<double> turns_;    // from the goal tree to where the trees connect
  SearchResult result_;
  Clock::time_point begin_ = Clock::now(), last_poll_ = begin_;
};

bool Search::within_limits(const double* q) const {
  for (int k = 0; k < n_; ++k) {
    const double x = q[options_.columns[k]];
    if (!(x >= options_.lower[k] && x <= options_.upper[k])) return false;
  }
  return true;
}

void Search::add(Tree& tree, const double* q, int parent, int root) {
  for (int k = 0; k < n_; ++k) scaled_[k] = weights_[k] * q[k];
  tree.points.add(scaled_.data());
  tree.q.insert(tree.q.end(), q, q + n_);
  tree.parent.push_back(parent);
  tree.root.push_back(root);
  tree.radius.push_back(infinity);
}

bool Search::edge(const double* a, const double* b) {
  for (int k = 0; k < n_; ++k) {
    from_[options_.columns[k]] = a[k];
    to_[options_.columns[k]] = b[k];
  }
  ++result_.edges;
  const EdgeResult found = checker_.line(from_.data(), to_.data(), options_.resolution);
  if (!found.free) shapes_first_->is_blocked(found, from_.data(), to_.data());
  return found.free;
}

// Check start and goals, plant the trees, and compute the box that samples come from.
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
    for (int k = 0; k < n_; ++k) columns[k] = q[options_.columns[k]];
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
    for (int k = 0; k < n_; ++k) to_[options_.columns[k]] = goal[options_.columns[k]];
    if (!collides(to_.data())) {
      add(trees_[1], pick(goal), -1, g);
      may_turn_.push_back(!options_.may_turn.empty() && options_.may_turn[g]);
      roots.insert(roots.end(), to_.begin(), to_.end());
    } else if (a < 0) {
      a = result_.culprit_a;
      b = result_.culprit_b;
    }
  }
  // Report goals out of limits or in collision only if no goal is left.
  result_.culprit_a = result_.culprit_b = -1;
  if (!any_within) return result_.status = SearchStatus::goal_out_of_limits, false;
  if (trees_[1].size() == 0) {
    result_.culprit_a = a;
    result_.culprit_b = b;
    return result_.status = SearchStatus::goal_in_collision, false;
  }
  shapes_first_.emplace(checker_, roots.data(), roots.size() / at(n_q_), options_.columns);

  // Straight lines to the goals, and the sampling box: one turn where joints are periodic, within
  // pi of start and goals where there are no limits.
  turning_ = {options_.periodic, options_.lower, options_.upper};
  turning_.periodic.resize(n_, 0);
  lines_.emplace(turning_, trees_[0].vertex(0), trees_[1].q, may_turn_);
  sample_lower_ = options_.lower;
  sample_upper_ = options_.upper;
  narrow_to_one_turn(roots.data(), roots.size() / at(n_q_), at(n_q_), options_.columns,
                     turning_.periodic, sample_lower_, sample_upper_);
  for (int k = 0; k < n_; ++k) {
    periods_.push_back(turning_.periodic[k] ? 2 * pi * weights_[k] : 0);
    double least = trees_[0].vertex(0)[k], most = least;
    for (int i = 0; i < trees_[1].size(); ++i) {
      least = std::min(least, trees_[1].vertex(i)[k]);
      most = std::max(most, trees_[1].vertex(i)[k]);
    }
    if (!std::isfinite(sample_lower_[k])) sample_lower_[k] = std::min(least - pi, sample_upper_[k]);
    if (!std::isfinite(sample_upper_[k])) sample_upper_[k] = std::max(most + pi, sample_lower_[k]);
  }

  // Most solutions lie between start and goals.
  near_lower_ = sample_lower_;
  near_upper_ = sample_upper_;
  for (int k = 0; k < n_; ++k) {
    if (!turning_.periodic[k]) continue;
    const Turn turn =
        turn_about(roots.data(), roots.size() / at(n_q_), at(n_q_), options_.columns[k]);
    near_lower_[k] = std::max(sample_lower_[k], turn.middle - turn.half);
    near_upper_[k] = std::min(sample_upper_[k], turn.middle + turn.half);
    has_turns_ |= near_lower_[k] > options_.lower[k] || near_upper_[k] < options_.upper[k];
  }
  return true;
}

std::int64_t Search::work() const {
  // Looking at three points of a tree takes about as long as one bound of the checker.
  return checker_.work() - work_before_ + (trees_[0].points.looks() + trees_[1].points.looks()) / 3;
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

// Draw a sample from the box near start and goals. Once whole turns are considered, one sample in
// four comes from the box of all poses. Half of these are moved by random whole turns.
void Search::draw() {
  const bool is_far = by_turns_ && rng_.below(4) == 0;
  const std::vector<double>& lower = is_far ? sample_lower_ : near_lower_;
  const std::vector<double>& upper = is_far ? sample_upper_ : near_upper_;
  for (int k = 0; k < n_; ++k) sample_[k] = rng_.uniform(lower[k], upper[k]);
  if (!is_far || rng_.below(2) == 0) return;
  for (int k = 0; k < n_; ++k) {
    const int least = turning_.least(at(k), sample_[k]), most = turning_.most(at(k), sample_[k]);
    if (most <= least || rng_.below(4) != 0) continue;
    sample_[k] += 2 * pi * (least + rng_.below(most - least + 1));
    sample_[k] = std::clamp(sample_[k], options_.lower[k], options_.upper[k]);
  }
}

int Search::nearest(const Tree& tree, const double* q, double& distance, bool by_turns) {
  for (int k = 0; k < n_; ++k) scaled_[k] = weights_[k] * q[k];
  const int i = by_turns ? tree.points.nearest(scaled_.data(), periods_.data(), &distance)
                         : tree.points.nearest(scaled_.data(), &distance);
  distance = std::sqrt(distance);
  return i;
}

// Add one edge from vertex `from` towards the target, at most `range` long.
Search::Growth Search::grow(Tree& tree, int from, double distance, const double* target,
                            int& added) {
  const double part = distance <= options_.range ? 1.0 : options_.range / distance;
  const double* q = tree.vertex(from);
  for (int k = 0; k < n_; ++k)
    step_[k] = part == 1.0 ? target[k] : q[k] + part * (target[k] - q[k]);
  double& radius = tree.radius[from];
  if (!edge(q, step_.data())) {
    radius = radius == infinity
                 ? options_.domain_radius
                 : std::max(radius * (1 - options_.domain_change), options_.domain_least);
    return Growth::trapped;
  }
  if (radius != infinity) radius *= 1 + options_.domain_change;
  added = tree.size();
  add(tree, step_.data(), from, tree.root[from]);
  return part == 1.0 ? Growth::reached : Growth::advanced;
}

void Search::append(const double* columns) {
  std::vector<double> q(start_, start_ + n_q_);
  for (int k = 0; k < n_; ++k) q[options_.columns[k]] = columns[k];
  result_.path.insert(result_.path.end(), q.begin(), q.end());
}

// Assemble the path from both trees, with the goal tree's part moved by `turns_`.
void Search::finish(int in_start_tree, int in_goal_tree) {
  std::vector<int> chain;
  for (int i = in_start_tree; i >= 0; i = trees_[0].parent[i]) chain.push_back(i);
  std::reverse(chain.begin(), chain.end());
  for (const int i : chain) append(trees_[0].vertex(i));
  // The vertex at which the trees connect is in both.
  for (int i = trees_[1].parent[in_goal_tree]; i >= 0; i = trees_[1].parent[i]) {
    for (int k = 0; k < n_; ++k) {
      const double q = trees_[1].vertex(i)[k], moved = q + turns_[k];
      step_[k] = turns_[k] == 0 ? q : std::clamp(moved, options_.lower[k], options_.upper[k]);
    }
    append(step_.data());
  }
  result_.goal = trees_[1].root[in_goal_tree];
  result_.status = SearchStatus::solved;
}

// Try the straight line to the next goal or to the next copy of a goal by whole turns, nearest
// first. Return true if the search ends, solved or interrupted.
bool Search::try_line() {
  if (interrupted()) return true;
  if (!lines_->next(line_)) return false;
  ++result_.lines;
  if (!edge(trees_[0].vertex(0), line_.q.data())) return false;
  append(trees_[0].vertex(0));
  append(line_.q.data());
  result_.goal = trees_[1].root[line_.goal];
  result_.status = SearchStatus::solved;
  return true;
}

bool Search::try_lines(int count) {
  for (int i = 0; i < count; ++i)
    if (try_line()) return true;
  return false;
}

// Return true if the goal tree's path from this vertex on, moved by `turns_`, stays within limits
// and ends at a goal.
bool Search::fits(int in_goal_tree) const {
  constexpr double rounding = 1e-9;  // [rad]
  const bool moves = std::any_of(turns_.begin(), turns_.end(), [](double x) { return x != 0; });
  int root = in_goal_tree;
  for (int i = in_goal_tree; i >= 0; i = trees_[1].parent[i]) {
    for (int k = 0; k < n_; ++k) {
      const double q = trees_[1].vertex(i)[k] + turns_[k];
      if (q < options_.lower[k] - rounding || q > options_.upper[k] + rounding) return false;
    }
    root = i;
  }
  return !moves || may_turn_[root];
}

// Grow the other tree towards the vertex just added to this one. Once whole turns are considered,
// start at the vertex that is nearest after any number of turns, if a path from there to a goal
// stays within limits. Return true if the trees connect.
bool Search::connect(int side, int added) {
  Tree &here = trees_[side], &there = trees_[1 - side];
  const std::vector<double> vertex(here.vertex(added), here.vertex(added) + n_);
  std::vector<double> target = vertex;
  double distance;
  int tip = nearest(there, target.data(), distance, by_turns_);
  if (by_turns_) {
    const double sign = side == 0 ? 1 : -1;
    for (int k = 0; k < n_; ++k)
      if (turning_.periodic[k])
        turns_[k] = sign * 2 * pi * std::round((vertex[k] - there.vertex(tip)[k]) / (2 * pi));
    if (fits(side == 0 ? tip : added)) {
      for (int k = 0; k < n_; ++k) {
        if (turns_[k] == 0) continue;
        target[k] -= sign * turns_[k];
        if (side == 1) target[k] = std::clamp(target[k], options_.lower[k], options_.upper[k]);
      }
    } else {
      std::fill(turns_.begin(), turns_.end(), 0.0);
      tip = nearest(there, target.data(), distance);
      if (!fits(side == 0 ? tip : added)) return false;
    }
  }
  Growth growth = Growth::advanced;
  while (growth == Growth::advanced) {
    growth = grow(there, tip, distance, target.data(), tip);
    distance = std::max(distance - options_.range, 0.0);
  }
  if (growth != Growth::reached) return false;
  finish(side == 0 ? added : tip, side == 0 ? tip : added);
  return true;
}

SearchResult Search::run() {
  if (prepare() && !try_lines(trees_[1].size())) {
    result_.status = SearchStatus::budget_exhausted;
    // Iterations that take long count as several.
    std::int64_t rounds = 0;
    while (std::max(rounds, work() / work_per_iteration) < options_.max_iterations &&
           !interrupted()) {
      ++rounds;
      by_turns_ = has_turns_ && rounds > before_turns;
      if (by_turns_ && rounds % line_every == 0 && result_.lines < most_lines && try_line()) break;
      const int side = trees_[0].size() <= trees_[1].size() ? 0 : 1;
      Tree& here = trees_[side];
      draw();
      double distance;
      const int near = nearest(here, sample_.data(), distance);
      if (distance > here.radius[near] || distance == 0) continue;
      int added = -1;
      if (grow(here, near, distance, sample_.data(), added) == Growth::trapped) continue;
      if (connect(side, added)) break;
    }
    result_.iterations =
        std::min(std::max(rounds, work() / work_per_iteration), options_.max_iterations);
  }
  result_.samples = checker_.samples() - samples_before_;
  result_.work = work();
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

void narrow_to_one_turn(const double* ends, std::size_t n_ends, std::size_t n_q,
                        const std::vector<int>& columns, const std::vector<char>& periodic,
                        std::vector<double>& lower, std::vector<double>& upper) {
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (!periodic[k] || n_ends == 0) continue;
    const Turn turn = turn_about(ends, n_ends, n_q, columns[k]);
    const double low = lower[k], high = upper[k];
    lower[k] = std::max(low, std::min(turn.middle - turn.half, high - 2 * turn.half));
    upper[k] = std::min(high, std::max(turn.middle + turn.half, low + 2 * turn.half));
  }
}

SearchResult rrt_connect(EdgeChecker& checker, const double* start, const double* goals,
                         int n_goals, const SearchOptions& options) {
  return Search(checker, start, goals, n_goals, options).run();
}

}  // namespace robosim

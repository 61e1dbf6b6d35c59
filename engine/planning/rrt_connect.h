// RRT-Connect: two trees of collision-free edges, one from the start and one from all goals, grow
// towards each other.
//
// Kuffner, LaValle: "RRT-Connect: an efficient approach to single-query path planning" (ICRA 2000).
// In one iteration, the smaller tree grows by one edge of at most `range` towards a random
// configuration. The other tree then grows towards the new vertex until it arrives (solved) or is
// blocked. Before the first iteration, the straight lines from the start to the goals are tried,
// nearest first. A ball about each vertex whose extension failed limits sampling near obstacles
// (dynamic domain: Yershova, Jaillet, Simeon, LaValle, ICRA 2005).
//
// The metric is Euclidean in q, each entry weighted by its reach (metric.h). Every edge is proven
// free as a whole (edge_check.h). The result depends on the seed and the number of iterations only;
// the deadline merely stops the search.
//
// Whole turns: where joints turn more than once, a goal may stand for all configurations within
// limits that differ from it by whole turns. A free path stays free after whole turns. So the trees
// first grow over one turn about start and goals. If they do not connect soon, they may connect up
// to whole turns, nearest in the metric of the torus, provided that the path from there to the goal
// stays within limits after the same turns. Some samples are then moved by random turns, so that
// the tree from the start covers all that limits allow. Every few iterations the next of the
// straight lines to all turns (whole_turns.h) is tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "planning/edge_check.h"

namespace robosim {

enum class SearchStatus : std::uint8_t {
  solved,
  budget_exhausted,  // max_iterations done
  time_out,          // the deadline passed first
  cancelled,         // the poll function returned false
  start_out_of_limits,
  goal_out_of_limits,  // all goals are
  start_in_collision,
  goal_in_collision,  // all goals within limits are
};
const char* name_of(SearchStatus status);

// Work of one iteration at most, in units of EdgeChecker::work. An iteration that takes more counts
// as several. Edges among many shapes take a hundred times as long as samples outside the dynamic
// domain. So a search without a solution ends in about the same time on any robot and scene: a
// million iterations in 5 to 20 s.
inline constexpr std::int64_t work_per_iteration = 300;

struct SearchOptions {
  std::vector<int> columns;  // the entries of q that move
  // Limits per column. Where infinite, samples are within pi of the start and goals.
  std::vector<double> lower, upper;
  std::vector<char> periodic;  // per column, true if 2 pi more is the same pose; empty: none
  // Per goal, true if configurations that differ from it by whole turns are goals, too; empty:
  // none.
  std::vector<char> may_turn;
  std::vector<double> weights;  // of the metric, per column; empty: by reach, see metric.h
  std::uint64_t seed = 0;
  std::int64_t max_iterations = 100000;  // as work_per_iteration counts them
  double deadline = 1e300;               // seconds from the call
  double resolution = 0.005;             // see edge_check.h [m]
  double range = 0.6;                    // longest edge, in the metric
  // Dynamic domain, in the metric: radius of the ball after the first failure, relative change by
  // failure and success, and least radius.
  double domain_radius = 2, domain_change = 1e-4, domain_least = 0.7;
  std::function<bool()> poll;  // called about every 50 ms; false: stop
};

struct SearchResult {
  SearchStatus status = SearchStatus::budget_exhausted;
  std::vector<double> path;  // waypoints, each n_q entries; empty unless solved
  // Index of the goal reached. The path may end whole turns away from it if may_turn.
  int goal = -1;
  int lines = 0;  // straight lines tried, to goals and their copies by whole turns
  // edges checked, configurations sampled
  std::int64_t iterations = 0, edges = 0, samples = 0, vertices = 0;
  std::int64_t work = 0;  // of queries to scene and trees, see EdgeChecker::work
  double seconds = 0;
  int culprit_a = -1, culprit_b = -1;  // colliding objects, if start or goal is in collision
};

// Narrow limits to the sampling bounds of a search. For entries that turn more than once
// (`periodic`), one turn covers all poses. The whole range of a joint with +-2 pi would only double
// the space, for each such joint. The bounds are one turn about the middle of the starts and goals
// `ends`, rows of n_q entries. Where the ends are far apart, a quarter turn is left beyond either
// end. Where limits cut the turn off on one side, it extends as far on the other, so that no pose
// is left out.
void narrow_to_one_turn(const double* ends, std::size_t n_ends, std::size_t n_q,
                        const std::vector<int>& columns, const std::vector<char>& periodic,
                        std::vector<double>& lower, std::vector<double>& upper);

// Search a path in the checker's scene. start: n_q entries. goals: rows of n_q entries, of which
// only `columns` count; others are taken from the start. The result does not depend on earlier use
// of the checker.
SearchResult rrt_connect(EdgeChecker& checker, const double* start, const double* goals,
                         int n_goals, const SearchOptions& options);

}  // namespace robosim

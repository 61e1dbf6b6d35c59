// RRT-Connect: two trees of collision-free edges, one from the start and one from all goals, that
// grow towards one another.
//
// Kuffner, LaValle: "RRT-Connect: an efficient approach to single-query path planning" (ICRA 2000).
// One iteration: a random configuration; the smaller tree grows by one edge of at most `range`
// towards it; the other tree then grows towards the new vertex until it arrives (solved) or is
// blocked. First of all, the straight lines from the start to the goals are tried, nearest first.
// Sampling near obstacles is held back by a ball about each vertex whose extension failed (dynamic
// domain: Yershova, Jaillet, Simeon, LaValle, ICRA 2005).
//
// The metric is Euclidean in q, each entry weighted by its reach (metric.h). Every edge is proven
// free as a whole (edge_check.h). The result depends on the seed and the number of iterations only;
// the deadline just cuts.
//
// Whole turns: where joints turn more than once, a goal may stand for all configurations within
// limits that differ from it by whole turns, and what is free stays so after these. So the trees
// grow over one turn about start and goals first. If they do not meet soon, they meet up to whole
// turns, nearest in the metric of the torus, provided that the way from there to the goal is within
// limits after the same turns. Some samples are then moved by random turns, so that the tree from
// the start covers all that limits allow, and every few iterations the next of the straight lines
// to all turns (whole_turns.h) is tried.
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
  cancelled,         // the poll function said so
  start_out_of_limits,
  goal_out_of_limits,  // all goals are
  start_in_collision,
  goal_in_collision,  // all goals within limits are
};
const char* name_of(SearchStatus status);

// What an iteration takes at most, in what EdgeChecker::work counts: those that take more count as
// several. Edges among many shapes take a hundred times as long as samples that are held back; so a
// search without a way out ends in about the same time on any robot and scene, a million iterations
// in 5 to 20 s.
inline constexpr std::int64_t work_per_iteration = 300;

struct SearchOptions {
  std::vector<int> columns;  // the entries of q that move
  // Limits per column; infinite: sampled within pi of the start and goals.
  std::vector<double> lower, upper;
  std::vector<char> periodic;  // per column, whether 2 pi more is the same pose; empty: none
  // Per goal, whether what differs from it by whole turns will do, too; empty: none.
  std::vector<char> may_turn;
  std::vector<double> weights;  // of the metric, per column; empty: by reach, see metric.h
  std::uint64_t seed = 0;
  std::int64_t max_iterations = 100000;  // as work_per_iteration counts them
  double deadline = 1e300;               // seconds from the call
  double resolution = 0.005;             // see edge_check.h [m]
  double range = 0.6;                    // longest edge, in the metric
  // Dynamic domain: the ball after the first failure, its change by failure and success, and its
  // least radius, in the metric.
  double domain_radius = 2, domain_change = 1e-4, domain_least = 0.7;
  std::function<bool()> poll;  // called every 50 ms or so; false: stop
};

struct SearchResult {
  SearchStatus status = SearchStatus::budget_exhausted;
  std::vector<double> path;  // waypoints, each n_q entries; empty unless solved
  // Index of the goal reached, whole turns away from it where it may turn.
  int goal = -1;
  int lines = 0;  // straight lines tried, to the nearest of what will do
  // edges checked, configurations looked at.
  std::int64_t iterations = 0, edges = 0, samples = 0, vertices = 0;
  std::int64_t work = 0;  // all that was asked of scene and trees, see EdgeChecker::work
  double seconds = 0;
  int culprit_a = -1, culprit_b = -1;  // start or goal in collision: the objects
};

// Bounds for a search, from limits: of entries that turn more than once (`periodic`) one turn shows
// all poses, and the whole range of a joint with +-2 pi would only double the space, for each such
// joint. It is the turn about the middle of the starts and goals `ends`, rows of n_q entries; where
// they are far apart, a quarter turn is left beyond either; where limits cut it off on one side, it
// goes on as far on the other, so that no pose is left out.
void narrow_to_one_turn(const double* ends, std::size_t n_ends, std::size_t n_q,
                        const std::vector<int>& columns, const std::vector<char>& periodic,
                        std::vector<double>& lower, std::vector<double>& upper);

// start: n_q entries; goals: rows of n_q entries, of which only `columns` count (others are taken
// from the start). The checker's scene is searched; the result does not depend on what the checker
// was used for before.
SearchResult rrt_connect(EdgeChecker& checker, const double* start, const double* goals,
                         int n_goals, const SearchOptions& options);

}  // namespace robosim

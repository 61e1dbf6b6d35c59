// Shortest free straight line from the start to a goal, or to a configuration that differs from a
// goal by whole turns.
//
// The path of a search may be a long detour to the nearest goal where the straight line to another
// turn is shorter.
#pragma once

#include "planning/rrt_connect.h"

namespace robosim {

// Find the shortest free line. start, goals and options are those of rrt_connect, and the goals are
// assumed free. The first `skip` lines of rrt_connect are skipped, as they are known not to be
// free. Lines of at least the length `below`, Euclidean in q, are not checked. The status is
// `solved` or the reason for failure.
SearchResult free_line(EdgeChecker& checker, const double* start, const double* goals, int n_goals,
                       const SearchOptions& options, int skip, double below);

}  // namespace robosim

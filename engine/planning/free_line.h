// The shortest straight way: from the start to the nearest goal, or configuration that differs from
// one by whole turns, to which the line is free.
//
// A path that a search has found may lead a long way round to the nearest goal where the straight
// line to another turn is shorter.
#pragma once

#include "planning/rrt_connect.h"

namespace robosim {

// Of start, goals and options as rrt_connect, whose first `skip` lines are left out: they are known
// not to be free. Lines of at least the length `below`, Euclidean in q, are not looked at.
// `solved`, or why not; the goals are taken for free.
SearchResult free_line(EdgeChecker& checker, const double* start, const double* goals, int n_goals,
                       const SearchOptions& options, int skip, double below);

}  // namespace robosim

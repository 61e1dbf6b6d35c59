#include "planning/free_line.h"

#include <chrono>

#include "base/index.h"
#include "planning/shapes_first.h"
#include "planning/whole_turns.h"

namespace robosim {

SearchResult free_line(EdgeChecker& checker, const double* start, const double* goals, int n_goals,
                       const SearchOptions& options, int skip, double below) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const std::size_t n_q = at(checker.scene().model().n_q), n = options.columns.size();
  const std::int64_t samples_before = checker.samples(), work_before = checker.work();
  SearchResult result;

  // Enumerate the lines, as long as they are short enough.
  std::vector<double> from(n), ends;
  std::vector<char> may_turn = options.may_turn;
  may_turn.resize(n_goals, 0);
  for (std::size_t k = 0; k < n; ++k) from[k] = start[options.columns[k]];
  for (int g = 0; g < n_goals; ++g)
    for (const int column : options.columns) ends.push_back(goals[at(g) * n_q + at(column)]);
  Turning turning{options.periodic, options.lower, options.upper};
  turning.periodic.resize(n, 0);
  WholeTurns lines(turning, from.data(), ends, may_turn);
  WholeTurns::Candidate line;
  const auto next = [&] {
    return lines.count() < most_lines && lines.next(line) && line.length < below;
  };
  for (int i = 0; i < skip; ++i)
    if (!next()) return result;
  if (!next()) return result;

  // Prefer shapes to meshes, as the search does.
  std::vector<double> roots(start, start + n_q), to = roots;
  for (int g = 0; g < n_goals; ++g) {
    for (std::size_t k = 0; k < n; ++k) to[options.columns[k]] = ends[at(g) * n + k];
    roots.insert(roots.end(), to.begin(), to.end());
  }
  ShapesFirst shapes_first(checker, roots.data(), roots.size() / n_q, options.columns);
  // Check the lines, the shortest first.
  do {
    if (elapsed() > options.deadline) {
      result.status = SearchStatus::time_out;
      break;
    }
    ++result.edges;
    for (std::size_t k = 0; k < n; ++k) to[options.columns[k]] = line.q[k];
    const EdgeResult found = checker.line(start, to.data(), options.resolution);
    if (!found.free) {
      shapes_first.is_blocked(found, start, to.data());
      continue;
    }
    result.path.assign(start, start + n_q);
    result.path.insert(result.path.end(), to.begin(), to.end());
    result.goal = line.goal;
    result.status = SearchStatus::solved;
    break;
  } while (next());
  result.lines = lines.count();
  result.samples = checker.samples() - samples_before;
  result.work = checker.work() - work_before;
  result.seconds = elapsed();
  return result;
}

}  // namespace robosim

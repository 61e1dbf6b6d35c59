// All solvers of rows. A new one is a file in solvers/, with a function that makes it, and its row below.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "contact/row_solver.h"

namespace robosim {

std::unique_ptr<RowSolver> make_active_set_solver(const SolverOptions& options);
const char* active_set_attempt(int attempt);
std::unique_ptr<RowSolver> make_sweep_solver(const SolverOptions& options);

struct SolverKind {
  std::string_view name, about;
  bool has_discs;      // the two rows of friction come as one disc (ConstraintRow::is_disc)
  bool knows_classes;  // SolvedRows::solve_classes has solutions
  std::unique_ptr<RowSolver> (*make)(const SolverOptions& options);
  const char* (*attempt_name)(int attempt) = nullptr;  // of SolverReport::attempt; null where there is one way only
};

inline constexpr SolverKind row_solvers[] = {
    {"lcp", "friction within a square, to rounding", false, true, make_active_set_solver, active_set_attempt},
    {"cone", "friction within a circle, to rounding", true, true, make_active_set_solver, active_set_attempt},
    {"pgs", "friction within a square, by a number of sweeps", false, false, make_sweep_solver},
};
inline constexpr std::size_t n_row_solvers = std::size(row_solvers);

// The place of a solver in the list, by its name.
class SolverId {
 public:
  constexpr SolverId() = default;  // the first
  consteval SolverId(const char* name) {
    while (std::string_view(name) != row_solvers[index_].name) ++index_;  // beyond the list is no constant
  }
  // InputError where none has the name.
  static SolverId named(std::string_view name);
  static constexpr std::array<SolverId, n_row_solvers> all() {
    std::array<SolverId, n_row_solvers> out;
    for (std::size_t i = 0; i < n_row_solvers; ++i) out[i].index_ = i;
    return out;
  }

  constexpr const SolverKind& kind() const { return row_solvers[index_]; }
  constexpr bool operator==(const SolverId&) const = default;

 private:
  std::size_t index_ = 0;
};

}  // namespace robosim

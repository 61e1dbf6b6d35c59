// List of all row solvers. To add a solver, write a file in solvers/ with a function that makes it,
// and add a row to the list below.
#pragma once

#include <memory>
#include <string_view>

#include "base/list_id.h"
#include "contact/row_solver.h"

namespace robosim {

std::unique_ptr<RowSolver> make_active_set_solver(const SolverOptions& options);
const char* active_set_attempt(int attempt);
std::unique_ptr<RowSolver> make_convex_solver(const SolverOptions& options);
std::unique_ptr<RowSolver> make_sweep_solver(const SolverOptions& options);

struct SolverKind {
  std::string_view name, about;
  bool has_discs;      // the two rows of friction are one disc (ConstraintRow::is_disc)
  bool takes_factor;   // solves problems that have F instead of L
  bool knows_classes;  // SolvedRows::solve_classes has solutions
  double rounding;     // rounding error of gradients, at most about, in units in the last place
  std::unique_ptr<RowSolver> (*make)(const SolverOptions& options);
  // Name of a SolverReport::attempt; null for a solver with a single method.
  const char* (*attempt_name)(int attempt) = nullptr;
};

inline constexpr SolverKind row_solvers[] = {
    {"lcp", "friction within a square, to rounding", false, false, true, 1e2,
     make_active_set_solver, active_set_attempt},
    {"convex", "friction within a circle, by a few convex problems", true, true, false, 1e5,
     make_convex_solver},
    {"pgs", "friction within a square, by a number of sweeps", false, false, false, 1e2,
     make_sweep_solver},
};
using SolverId = ListId<row_solvers>;

}  // namespace robosim

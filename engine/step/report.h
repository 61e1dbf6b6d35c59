// How a step was solved.
#pragma once

#include <cstdint>

namespace robosim {

enum class StepStatus : std::uint8_t {
  solved,
  // Solved, but in some island by impulses other than those of the selection rule
  // (impulse_selection.h).
  basic,
  rough,         // near a solution in some island (SolverStatus::rough)
  relaxed,       // solved, but in some island without what contradicted itself
  inconsistent,  // not solved in some island: what came nearest
  diverged       // not taken, as it would end beyond what numbers hold: the state stays as it is
};

struct StepReport {
  // The worst of the islands; of `pgs` always `solved`, as sweeps end when they end.
  StepStatus status = StepStatus::solved;
  double residual = 0;  // row_residual, the largest
  int manifolds = 0, contacts = 0, rows = 0, islands = 0;
  int class_changes = 0, pivots = 0;  // of `lcp`; and iterations of the convex solver
  // The last of the solver's that an island needed (SolverKind::attempt_name).
  int attempt = -1;
  // Normals that are met and push while another that is met with them, and feels them, does.
  int coupled_bounces = 0;
  int untimed_bounces = 0;  // normals that bounce wherever the step finds them
};

}  // namespace robosim

// Report on how a step was solved.
#pragma once

#include <cstdint>

namespace robosim {

enum class StepStatus : std::uint8_t {
  solved,
  // Solved, but by impulses other than those of the selection rule (impulse_selection.h) in some
  // island.
  basic,
  rough,         // close to a solution in some island (SolverStatus::rough)
  relaxed,       // solved, with contradicting targets relaxed in some island
  inconsistent,  // not solved in some island: the closest impulses
  diverged       // not taken, as the next state is not finite: the state is kept
};

struct StepReport {
  // Worst status of all islands. With `pgs` always `solved`: the end of the sweeps counts as a
  // solution.
  StepStatus status = StepStatus::solved;
  double residual = 0;  // largest row_residual
  int manifolds = 0, contacts = 0, rows = 0, islands = 0;
  int class_changes = 0, pivots = 0;  // for `lcp`; also iterations of the convex solver
  // Last attempt of the solver that an island needed (SolverKind::attempt_name).
  int attempt = -1;
  // Colliding normals that push while another one, colliding with and coupled to them, pushes as
  // well.
  int coupled_bounces = 0;
  int untimed_bounces = 0;  // normals that bounce wherever the step finds them
};

}  // namespace robosim

// Options of a step.
#pragma once

#include <string_view>

#include "base/list_id.h"
#include "contact/row_solvers.h"
#include "step/integrators/integrators.h"

namespace robosim {

// Entry of a list of options that are chosen by name.
struct Choice {
  std::string_view name, about;
};

// Time at which approaching contacts bounce or land.
inline constexpr Choice bounces[] = {
    {"automatic", "when things touch, in worlds where any pair has a restitution; else as `step`"},
    {"step", "wherever the step finds it"},
    {"time_of_impact", "when things touch"},
};
using BounceId = ListId<bounces>;

// Active sets other than that of the step for which a gradient is computed
// (linearization/complementarity_aware.cpp).
inline constexpr Choice complementarity_aware_kinds[] = {
    {"none", "nothing: the derivative"},
    {"each", "every contact and limit by itself lets go or pushes as the loss wants it"},
    {"together",
     "things that touch and both move keep together; contacts with the world and limits as of "
     "`each`"},
};
using ComplementarityAwareId = ListId<complementarity_aware_kinds>;

struct StepOptions {
  double dt = 1e-3;         // [s]
  IntegratorId integrator;  // `semi_implicit`
  SolverId solver;          // `lcp`
  SolverOptions solver_options;
  // Share of penetration or drift that position correction removes per step; 0 to 1.
  double erp = 0.2;
  double recovery_speed = 1.0;  // [m/s or rad/s] largest speed of position correction
  // Distance [m] within which pairs have rows, besides those that touch within the step.
  double margin = 1e-3;
  double limit_margin = 1e-3;           // [rad or m] the same for joint limits
  bool speed_limits = false;            // true if joints keep their speed limits
  BounceId bounce;                      // `automatic`
  double restitution_threshold = 0.01;  // [m/s] approach speed below which nothing bounces
  // `none`; for vjp, with solvers that know an active set.
  ComplementarityAwareId complementarity_aware;
};

}  // namespace robosim

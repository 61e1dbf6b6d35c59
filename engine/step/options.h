// Options of a step.
#pragma once

#include <string_view>

#include "base/list_id.h"
#include "contact/row_solvers.h"
#include "step/integrators/integrators.h"

namespace robosim {

// One of a list that is chosen by name.
struct Choice {
  std::string_view name, about;
};

// The time at which what comes near bounces or lands.
inline constexpr Choice bounces[] = {
    {"automatic", "when things touch, in worlds where any pair has a restitution; else as `step`"},
    {"step", "wherever the step finds it"},
    {"time_of_impact", "when things touch"},
};
using BounceId = ListId<bounces>;

// Classes beyond those that the step found, at which a gradient looks
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
  SolverId solver;          // of rows: `lcp`
  SolverOptions solver_options;
  // Share of what overlaps or has come apart, taken back in one step; 0 to 1.
  double erp = 0.2;
  double recovery_speed = 1.0;  // [m/s or rad/s] at which it is taken back at the most
  // [m] within which pairs have rows, beside those that meet within the step.
  double margin = 1e-3;
  double limit_margin = 1e-3;                    // [rad or m] the same of joint limits
  bool speed_limits = false;                     // whether joints keep the limits of their speeds
  BounceId bounce;                               // `automatic`
  double restitution_threshold = 0.01;           // [m/s] of approach, below which nothing bounces
  ComplementarityAwareId complementarity_aware;  // `none`; of vjp, of solvers that know classes
};

}  // namespace robosim

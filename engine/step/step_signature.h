// Which formula a step is: what touches by which features, what rows that gives, and what each of
// them does.
//
// Where two states' steps have the same signature, both are values of one smooth function, so
// differences between them can be compared with derivatives. Where it changes a step has a kink or,
// as when something comes within the margin, a jump.
#pragma once

#include <vector>

#include "step/step.h"

namespace robosim {

// Of the last step: pairs, features and anchors of their points; of each row its source, law and
// class, of pgs at every update of the sweeps.
std::vector<int> step_signature(const Stepper& stepper, int islands, StepStatus status);

}  // namespace robosim

// Signature of a step: identifies the smooth formula that the step evaluates, by its contacts and
// features, its rows, and the active set.
//
// If the steps of two states have the same signature, both are values of one smooth function.
// Differences between them can then be compared with derivatives. Where the signature changes, a
// step has a kink or a jump, for example when a shape comes within the margin.
#pragma once

#include <vector>

#include "step/step.h"

namespace robosim {

// Signature of the last step: pairs, features and anchors of their points, and for each row its
// kind, law and mode. With pgs the modes are those of every update of the sweeps.
std::vector<int> step_signature(const Stepper& stepper, int islands, StepStatus status);

}  // namespace robosim

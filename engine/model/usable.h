// Check that no product of a model's numbers that dynamics forms overflows.
//
// A description may hold any number below 1.8e308, but mass matrices hold squares of them: of
// multipliers of mimic joints, one after the other, and of distances times masses. What is infinite
// there makes NaN of all that comes after. Checked once, on the whole model.
#pragma once

#include <string>

#include "model/model.h"

namespace robosim {

// Why poses, mass matrix or joint forces at q = 0 may not be finite, naming the joint; empty where
// they are.
std::string overflow_fault(const Model& model);

// InputError where there is such a fault.
void check_usable(const Model& model);

}  // namespace robosim

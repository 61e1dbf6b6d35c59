// Overflow check of the products of a model's numbers that dynamics compute.
//
// A description may have any number below 1.8e308, but mass matrices include squares of these: of
// products of multipliers of mimic joints, and of distances times masses. An infinite entry turns
// all dependent results into NaN. The whole model is checked once.
#pragma once

#include <string>

#include "model/model.h"

namespace robosim {

// Return the reason why poses, mass matrix or joint forces at q = 0 may not be finite, naming the
// joint; empty if they are finite.
std::string overflow_fault(const Model& model);

// Throw InputError if there is such a reason.
void check_usable(const Model& model);

}  // namespace robosim

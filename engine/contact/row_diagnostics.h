// What rows say of how they were solved, for whoever asks what happened in a step.
#pragma once

#include <vector>

#include "contact/rows.h"

namespace robosim {

// A = D L D^T + R (rows x rows): what velocities of rows change by with their impulses.
std::vector<double> row_admittances(const RowProblem& problem);

// How far row i is from another class, as a velocity: of one that clamps what its impulse may
// change by until it is at a bound, times its admittance; else the velocity that it has, of the two
// of a disc together. Bounds of friction are those beside the impulse that its normal has. Infinite
// where it has one class, as an equality does, and friction whose normal does not push, which does
// whatever that does.
double switch_distance(const RowProblem& problem, const RowSizes& sizes,
                       const RowSolution& solution, int i);

}  // namespace robosim

// Diagnostics of solved rows, for inspection of a step.
#pragma once

#include <vector>

#include "contact/rows.h"

namespace robosim {

// Matrix A = D L D^T + R (rows x rows): rates of the velocities of rows with their impulses.
std::vector<double> row_admittances(const RowProblem& problem);

// Distance of row i from another mode, as a velocity. For an active row it is the change of impulse
// up to the nearest bound, times the admittance; otherwise the velocity of the row, or of the two
// rows of a disc. Bounds of friction are those at the present normal impulse. The distance is
// infinite for rows with one mode: equalities, and friction whose normal has no impulse.
double switch_distance(const RowProblem& problem, const RowSizes& sizes,
                       const RowSolution& solution, int i);

}  // namespace robosim

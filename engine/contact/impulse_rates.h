// What the impulses z of all channels change by, at held classes, with the rows and with the velocities that they see: the derivative of
// class_factor.h's solution in matrices, for callers that have more changes than channels.
//
// With dy what the velocities y+ change by at fixed z, and row i's dd_i and dt_i,
//   dz = V dy + sum_i (w_i (dt_i - y+ . dd_i) + p_i (Q b . dd_i) + f_i U dd_i)
// where w_i goes with what row i asks for, p_i with how it shares the impulses of the rows that clamp (row_basis.h), and U = 1 + V L with what
// moves at fixed impulses of the rows. Compliances, bounds and frictions are held.
#pragma once

#include <vector>

#include "contact/rows.h"

namespace robosim {

struct ImpulseRates {
  // Row by row, one column per channel: V and U transposed (channels x channels), w and p (rows x channels).
  std::vector<double> by_velocity, by_push, by_target, by_share;
  std::vector<double> shared;  // Q b, by channels

  // dz (channels) += what the rows of a block do; d: most_block_channels numbers for each of them, and of dt one.
  void add(const RowProblem& problem, const RowSolution& solution, const RowBlock& block, const double* d, const double* target, double* dz) const;
};

}  // namespace robosim

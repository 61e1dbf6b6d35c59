// Gradient of a loss with respect to each number of a RowProblem: the output of the
// solvers' adjoints.
#pragma once

#include <vector>

#include "base/linalg/zeros.h"
#include "contact/rows.h"

namespace robosim {

struct RowGradient {
  std::vector<double> y_free;  // channels
  // Channels x channels, with independent entries: the gradient in a symmetric L is the sum of both
  // triangles. Empty, and left empty by adjoints, unless SolvedRows::sees_delassus.
  std::vector<double> L;
  std::vector<double> d;                                     // rows x most_block_channels
  std::vector<double> target, compliance, lower, upper, mu;  // rows

  void set_zero(const RowProblem& problem, bool with_L = true) {
    const std::size_t m = problem.rows.size(), k = static_cast<std::size_t>(problem.channels);
    make_zeros(y_free, k);
    make_zeros(L, with_L ? k * k : 0);
    make_zeros(d, m * most_block_channels);
    for (std::vector<double>* each : {&target, &compliance, &lower, &upper, &mu})
      make_zeros(*each, m);
  }
};

}  // namespace robosim

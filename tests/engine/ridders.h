// Derivatives by differences of the production kernel: central differences extrapolated to step zero, with the error estimate
// that picks the best of the tableau. Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", Adv. Eng. Software 4(2), 1982.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace robosim::testing {

using Numbers = std::vector<double>;

// df/dt at t = 0 of a function from a number to Numbers that is smooth within `step` of zero. About 1e-10 of the entries'
// size for the kernels here.
template <class F>
Numbers ridders(F&& f, double step = 0.1) {
  constexpr int rows = 9;
  constexpr double shrink = 1.6;
  Numbers tableau[rows], best;
  double error = std::numeric_limits<double>::infinity();
  for (int i = 0; i < rows; ++i, step /= shrink) {
    Numbers newest = f(step);
    const Numbers low = f(-step);
    for (std::size_t k = 0; k < newest.size(); ++k) newest[k] = (newest[k] - low[k]) / (2 * step);
    // tableau[j] holds the previous step's column j; it becomes this step's.
    double factor = 1;
    for (int j = 0; j <= i; ++j) {
      const Numbers previous = tableau[j];
      tableau[j] = newest;
      if (j == i) break;
      factor *= shrink * shrink;
      double estimate = 0;
      Numbers next(newest.size());
      for (std::size_t k = 0; k < newest.size(); ++k) {
        next[k] = (factor * newest[k] - previous[k]) / (factor - 1);
        estimate = std::max({estimate, std::abs(next[k] - newest[k]), std::abs(next[k] - previous[k])});
      }
      if (estimate < error) error = estimate, best = next;
      newest = next;
    }
  }
  return best;
}

}  // namespace robosim::testing

// Derivatives by differences of the production kernel: central differences extrapolated to step
// zero, with the error estimate that selects the best entry of the tableau. Ridders, "Accurate
// computation of F'(x) and F'(x) F''(x)", Adv. Eng. Software 4(2), 1982.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace robosim::testing {

using Numbers = std::vector<double>;

inline double dot(const Numbers& x, const Numbers& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

// Derivative df/dt at t = 0 of a function from a number to Numbers that is smooth within `step` of
// zero. The error is about 1e-10 of the entries' size for the kernels here. is_one_sided: f is
// smooth above zero only; a few digits are lost. off: output of the error estimate, if not null.
template <class F>
Numbers ridders(F&& f, double step = 0.1, bool is_one_sided = false, double* off = nullptr) {
  constexpr int most_rows = 9;
  const int rows = is_one_sided ? 4 : most_rows;
  const double shrink = is_one_sided ? 2 : 1.6;
  // Factor by which errors of the next column are smaller.
  const double order = is_one_sided ? shrink : shrink * shrink;
  Numbers tableau[most_rows], best;
  double error = std::numeric_limits<double>::infinity();
  for (int i = 0; i < rows; ++i, step /= shrink) {
    Numbers newest = f(step);
    const Numbers low = f(is_one_sided ? 0.0 : -step);
    for (std::size_t k = 0; k < newest.size(); ++k)
      newest[k] = (newest[k] - low[k]) / ((is_one_sided ? 1 : 2) * step);
    // tableau[j] has the previous step's column j, and is replaced by this step's.
    double factor = 1;
    for (int j = 0; j <= i; ++j) {
      const Numbers previous = tableau[j];
      tableau[j] = newest;
      if (j == i) break;
      factor *= order;
      double estimate = 0;
      Numbers next(newest.size());
      for (std::size_t k = 0; k < newest.size(); ++k) {
        next[k] = (factor * newest[k] - previous[k]) / (factor - 1);
        estimate =
            std::max({estimate, std::abs(next[k] - newest[k]), std::abs(next[k] - previous[k])});
      }
      if (estimate < error) {
        error = estimate;
        best = next;
      }
      newest = next;
    }
  }
  if (off) *off = error;
  return best;
}

}  // namespace robosim::testing

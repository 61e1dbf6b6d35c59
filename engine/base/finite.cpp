#include "base/finite.h"

#include <algorithm>
#include <cmath>

namespace robosim {

// An infinite number or NaN times zero is NaN, and so is every sum with it. Eight partial sums
// avoid waiting for each addition.
bool all_finite(const double* x, std::ptrdiff_t n) {
  double sums[8] = {};
  std::ptrdiff_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) sums[k] += x[i + k] * 0;
  for (; i < n; ++i) sums[0] += x[i] * 0;
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum == 0;
}

std::ptrdiff_t first_not_finite(const double* x, std::ptrdiff_t n) {
  if (all_finite(x, n)) return n;
  return std::find_if(x, x + n, [](double value) { return !std::isfinite(value); }) - x;
}

}  // namespace robosim

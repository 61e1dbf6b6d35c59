// LU solver of small general systems S x = b and S^T x = b: P S = L U with partial pivoting, in
// place, without allocation. Golub and Van Loan, "Matrix Computations" (2013), section 3.4. Cost
// n^3 / 3.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/linalg/small_sums.h"

namespace robosim {

// Replace S (n x n, row by row) by L (unit diagonal) and U; pivots: n entries. Return the ratio of
// the smallest to the largest pivot, each relative to the largest original entry of its row: zero
// or about 1e-16 if S is singular to rounding. per_size: workspace of n entries.
inline double lu_factor(double* S, int n, int* pivots, double* per_size) {
  const auto row = [&](int i) { return S + static_cast<std::ptrdiff_t>(i) * n; };
  for (int i = 0; i < n; ++i) {
    double largest = 0;
    for (int j = 0; j < n; ++j) largest = std::max(largest, std::abs(row(i)[j]));
    per_size[i] = largest > 0 ? 1 / largest : 0;
  }
  double smallest = 1, largest = n == 0 ? 1 : 0;
  for (int k = 0; k < n; ++k) {
    int best = k;
    double size = 0;
    for (int i = k; i < n; ++i) {
      const double relative = std::abs(row(i)[k]) * per_size[i];
      if (relative > size) {
        size = relative;
        best = i;
      }
    }
    smallest = k == 0 ? size : std::min(smallest, size);
    largest = std::max(largest, size);
    pivots[k] = best;
    if (!(size > 0)) {
      for (int i = k; i < n; ++i) pivots[i] = i;
      return 0;
    }
    if (best != k) {
      std::swap_ranges(row(k), row(k) + n, row(best));
      std::swap(per_size[k], per_size[best]);
    }
    const double* u = row(k);
    for (int i = k + 1; i < n; ++i) {
      double* x = row(i);
      const double factor = x[k] /= u[k];
      if (factor == 0) continue;
      add_scaled(-factor, u + k + 1, n - k - 1, x + k + 1);
    }
  }
  return smallest / largest;
}

// Replace b by S^-1 b.
inline void lu_solve(const double* S, int n, const int* pivots, double* b) {
  const auto row = [&](int i) { return S + static_cast<std::ptrdiff_t>(i) * n; };
  for (int k = 0; k < n; ++k) std::swap(b[k], b[pivots[k]]);
  for (int i = 1; i < n; ++i) {
    for (int j = 0; j < i; ++j) b[i] -= row(i)[j] * b[j];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) b[i] -= row(i)[j] * b[j];
    b[i] /= row(i)[i];
  }
}

// Replace B (n x width, row by row) by S^-T B.
inline void lu_solve_transposed(const double* S, int n, const int* pivots, double* B,
                                int width = 1) {
  const auto entry = [&](int i, int j) { return S[static_cast<std::ptrdiff_t>(i) * n + j]; };
  const auto row = [&](int i) { return B + static_cast<std::ptrdiff_t>(i) * width; };
  const auto take = [&](double factor, int from, int to) {
    add_scaled(-factor, row(from), width, row(to));
  };
  for (int i = 0; i < n; ++i) {
    for (int c = 0; c < width; ++c) row(i)[c] /= entry(i, i);
    for (int j = i + 1; j < n; ++j) take(entry(i, j), i, j);
  }
  for (int i = n - 1; i > 0; --i)
    for (int j = 0; j < i; ++j) take(entry(i, j), i, j);
  for (int k = n - 1; k >= 0; --k)
    if (pivots[k] != k) std::swap_ranges(row(k), row(k) + width, row(pivots[k]));
}

}  // namespace robosim

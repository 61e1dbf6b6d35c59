// Cholesky solver of symmetric positive definite systems A x = b, A = L L^T, and factors of
// semidefinite matrices. Golub and Van Loan, "Matrix Computations" (2013), sections 4.2.5 and
// 4.2.8. Cost n^3 / 6 multiplications.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/linalg/small_sums.h"
#include "base/linalg/zeros.h"

namespace robosim {

// Replace the lower triangle of A (n x n, row by row) by L. Return false if A is not positive
// definite to rounding; A is then overwritten.
inline bool cholesky_factor(double* A, int n) {
  const auto row = [&](int i) { return A + static_cast<std::ptrdiff_t>(i) * n; };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) row(i)[j] = (row(i)[j] - dot(row(i), row(j), j)) / row(j)[j];
    const double left = row(i)[i] - dot(row(i), row(i), i);
    if (!(left > 0)) return false;
    row(i)[i] = std::sqrt(left);
  }
  return true;
}

// Replace b by A^-1 b.
inline void cholesky_solve(const double* L, int n, double* b) {
  const auto row = [&](int i) { return L + static_cast<std::ptrdiff_t>(i) * n; };
  for (int i = 0; i < n; ++i) b[i] = (b[i] - dot(row(i), b, i)) / row(i)[i];
  for (int i = n - 1; i >= 0; --i) {
    b[i] /= row(i)[i];
    add_scaled(-b[i], row(i), i, b);
  }
}

// Factor F (n x r, row by row) with F F^T = A up to rounding, for a symmetric positive semidefinite
// A: Cholesky with diagonal pivoting. Reuses its memory.
class SemidefiniteFactor {
 public:
  // Return the rank r. The remaining diagonal counts as rounding error below this fraction of its
  // largest entry.
  int factor(const double* A, int n, double rounding = 1e-15) {
    left_.resize(n);
    double largest = 0;
    for (int i = 0; i < n; ++i) largest = std::max(largest, left_[i] = A[i * (n + 1)]);
    int r = 0;
    for (; r < n; ++r) {
      const int pivot =
          static_cast<int>(std::max_element(left_.begin(), left_.end()) - left_.begin());
      const double most = left_[pivot];
      if (!(most > rounding * largest)) break;
      columns_.resize(static_cast<std::size_t>(n * (r + 1)));
      double* const own = columns_.data() + static_cast<std::ptrdiff_t>(r) * n;
      std::copy_n(A + static_cast<std::ptrdiff_t>(pivot) * n, n, own);
      for (int c = 0; c < r; ++c) {
        const double* const other = columns_.data() + static_cast<std::ptrdiff_t>(c) * n;
        add_scaled(-other[pivot], other, n, own);
      }
      const double scale = 1 / std::sqrt(most);
      for (int i = 0; i < n; ++i) {
        own[i] *= scale;
        left_[i] = std::max(left_[i] - own[i] * own[i], 0.0);
      }
      left_[pivot] = 0;
    }
    F_.resize(static_cast<std::size_t>(n * r));
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < r; ++c) F_[i * r + c] = columns_[c * n + i];
    return r;
  }
  const std::vector<double>& F() const { return F_; }

 private:
  std::vector<double> left_, columns_, F_;
};

}  // namespace robosim

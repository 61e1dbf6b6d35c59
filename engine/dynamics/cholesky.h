// Cholesky factors of small symmetric positive-definite matrices, A = L L^T, for any scalar. Golub
// and Van Loan, "Matrix Computations" (2013), section 4.2. Only the lower triangle is read and
// written. Cost n^3 / 6.
#pragma once

#include <cmath>

namespace robosim {

// Replace A (n x n, row by row) by L, and its diagonal by 1 / L_kk. The factor is not finite if A
// is not positive definite.
template <class S>
void cholesky_factor(S* A, int n) {
  using std::sqrt;
  for (int j = 0; j < n; ++j) {
    S d = A[j * n + j];
    for (int k = 0; k < j; ++k) d -= A[j * n + k] * A[j * n + k];
    const S inverse = S(1) / sqrt(d);
    A[j * n + j] = inverse;
    for (int i = j + 1; i < n; ++i) {
      S s = A[i * n + j];
      for (int k = 0; k < j; ++k) s -= A[i * n + k] * A[j * n + k];
      A[i * n + j] = s * inverse;
    }
  }
}

// Replace b (every `stride`-th of n entries) by A^-1 b.
template <class S>
void cholesky_solve(const S* L, int n, S* b, int stride = 1) {
  for (int i = 0; i < n; ++i) {
    S s = b[i * stride];
    for (int k = 0; k < i; ++k) s -= L[i * n + k] * b[k * stride];
    b[i * stride] = s * L[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    S s = b[i * stride];
    for (int k = i + 1; k < n; ++k) s -= L[k * n + i] * b[k * stride];
    b[i * stride] = s * L[i * n + i];
  }
}

}  // namespace robosim

// Rank-revealing QR solver of consistent systems S x = b with linearly dependent rows: Q R = S^T
// with column pivoting, after scaling the rows of S to unit length. The solution is the smallest x
// that satisfies the k rows that are independent to `tolerance`. Golub and Van Loan, "Matrix
// Computations" (2013), sections 5.4.2 and 5.6.2. Cost 4/3 n^3; no allocation once the buffers
// have grown.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "base/linalg/small_matrices.h"
#include "base/linalg/zeros.h"

namespace robosim {

class RankRevealingQr {
 public:
  // Factor S (n x n, row by row), and return its rank.
  int factor(const double* S, int n, double tolerance) {
    n_ = n;
    const std::size_t size = static_cast<std::size_t>(n);
    make_zeros(A_, size * size);
    make_zeros(scale_, size);
    make_zeros(beta_, size);
    order_.resize(size);
    scratch_.resize(size);
    std::iota(order_.begin(), order_.end(), 0);
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int j = 0; j < n; ++j) sum += S[i * n + j] * S[i * n + j];
      const double length = scale_[i] = std::sqrt(sum);
      for (int j = 0; j < n && length > 0; ++j) at(j, i) = S[i * n + j] / length;
    }
    for (rank_ = 0; rank_ < n; ++rank_) {
      int best = rank_;
      double most = 0;
      for (int j = rank_; j < n; ++j) {
        double sum = 0;
        for (int i = rank_; i < n; ++i) sum += at(i, j) * at(i, j);
        if (sum > most) {
          most = sum;
          best = j;
        }
      }
      if (!(std::sqrt(most) > tolerance)) break;
      std::swap(order_[rank_], order_[best]);
      for (int i = 0; i < n; ++i) std::swap(at(i, rank_), at(i, best));
      reflect(rank_, std::sqrt(most));
    }
    return rank_;
  }

  // Replace b by the smallest solution x.
  void solve(double* b) {
    for (int j = 0; j < n_; ++j) {
      double& y = scratch_[j] = 0;
      if (j >= rank_) continue;
      const int row = order_[j];
      y = b[row] / scale_[row];
      for (int i = 0; i < j; ++i) y -= at(i, j) * scratch_[i];
      y /= at(j, j);
    }
    std::copy_n(scratch_.begin(), n_, b);
    apply_Q(b);
  }

  // Transpose of solve, for `width` columns: replace B (n x width, row by row) by X, with zeros for
  // the dependent rows.
  void solve_transposed(double* B, int width = 1) {
    const std::size_t size = static_cast<std::size_t>(n_) * static_cast<std::size_t>(width);
    scratch_.resize(std::max(scratch_.size(), size));
    small_matrices().solve_transposed(
        {A_.data(), n_, rank_, beta_.data(), order_.data(), scale_.data()}, B, scratch_.data(),
        width);
    std::copy_n(scratch_.begin(), size, B);
  }

  // Compute x with x^T S = 0: the k-th of n - rank linear dependences of the rows, found from the
  // rows scaled to unit length.
  void dependence(int k, double* x) {
    const int j = rank_ + k;
    std::fill(x, x + n_, 0.0);
    const auto entry = [&](int i) -> double& { return x[order_[i]]; };
    entry(j) = 1;
    for (int i = rank_ - 1; i >= 0; --i) {
      double sum = -at(i, j);
      for (int l = i + 1; l < rank_; ++l) sum -= at(i, l) * entry(l);
      entry(i) = sum / at(i, i);
    }
    for (int i = 0; i < n_; ++i) x[i] /= scale_[i] > 0 ? scale_[i] : 1;
  }

  // Compute the k-th of n - rank orthonormal vectors of the null space of S.
  void null_vector(int k, double* x) {
    std::fill(x, x + n_, 0.0);
    x[rank_ + k] = 1;
    apply_Q(x);
  }

 private:
  double& at(int i, int j) { return A_[i * n_ + j]; }

  // Householder reflection of column k below its diagonal, in the remaining columns. Its vector is
  // stored below the diagonal; the vector's first entry is 1.
  void reflect(int k, double length) {
    const double x = at(k, k), diagonal = x > 0 ? -length : length, first = x - diagonal;
    for (int i = k + 1; i < n_; ++i) at(i, k) /= first;
    beta_[k] = -first / diagonal;
    at(k, k) = diagonal;
    for (int j = k + 1; j < n_; ++j) {
      double sum = at(k, j);
      for (int i = k + 1; i < n_; ++i) sum += at(i, k) * at(i, j);
      sum *= beta_[k];
      at(k, j) -= sum;
      for (int i = k + 1; i < n_; ++i) at(i, j) -= sum * at(i, k);
    }
  }
  void apply_reflection(int k, double* x) {
    double sum = x[k];
    for (int i = k + 1; i < n_; ++i) sum += at(i, k) * x[i];
    sum *= beta_[k];
    x[k] -= sum;
    for (int i = k + 1; i < n_; ++i) x[i] -= sum * at(i, k);
  }
  void apply_Q(double* x) {
    for (int k = rank_ - 1; k >= 0; --k) apply_reflection(k, x);
  }

  int n_ = 0, rank_ = 0;
  std::vector<double> A_, scale_, beta_, scratch_;
  std::vector<int> order_;
};

}  // namespace robosim

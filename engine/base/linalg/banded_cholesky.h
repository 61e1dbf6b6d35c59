// Cholesky solver of banded systems A x = b, A symmetric positive definite: A = L L^T, in place.
//
// Golub, Van Loan, "Matrix Computations", 4th ed. (2013), sec. 4.3.5. Cost n w^2 for n rows and
// half-bandwidth w.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace robosim {

class BandedMatrix {
 public:
  // Create a zero matrix. half_bandwidth: the largest |i - j| of an entry.
  BandedMatrix(std::size_t n, std::size_t half_bandwidth)
      : n_(n), w_(std::min(half_bandwidth, n > 0 ? n - 1 : 0)), a_(n * (w_ + 1)) {}

  std::size_t size() const { return n_; }
  std::size_t half_bandwidth() const { return w_; }
  // Entry (i, j) of the lower triangle: i - half_bandwidth <= j <= i.
  double& operator()(std::size_t i, std::size_t j) { return a_[i * (w_ + 1) + (j + w_ - i)]; }
  double operator()(std::size_t i, std::size_t j) const { return a_[i * (w_ + 1) + (j + w_ - i)]; }
  std::size_t first_of_row(std::size_t i) const { return i > w_ ? i - w_ : 0; }
  void set_zero() { std::fill(a_.begin(), a_.end(), 0.0); }

  // Replace A by L. Return false if A is not positive definite to rounding; A is then overwritten.
  bool factorize() {
    BandedMatrix& L = *this;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = first_of_row(i); j <= i; ++j) {
        double sum = L(i, j);
        for (std::size_t k = std::max(first_of_row(i), first_of_row(j)); k < j; ++k)
          sum -= L(i, k) * L(j, k);
        if (j < i) {
          L(i, j) = sum / L(j, j);
        } else if (sum > 0) {
          L(i, i) = std::sqrt(sum);
        } else {
          return false;
        }
      }
    }
    return true;
  }
  // Replace b by x; requires factorize.
  void solve(double* b) const {
    const BandedMatrix& L = *this;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = first_of_row(i); k < i; ++k) b[i] -= L(i, k) * b[k];
      b[i] /= L(i, i);
    }
    for (std::size_t i = n_; i-- > 0;) {
      b[i] /= L(i, i);
      for (std::size_t k = first_of_row(i); k < i; ++k) b[k] -= L(i, k) * b[i];
    }
  }

 private:
  std::size_t n_, w_;
  std::vector<double> a_;
};

}  // namespace robosim

// Cholesky factors of symmetric positive definite matrices whose rows begin late: each row of the
// lower triangle has its entries from the first one that is not zero to the diagonal, and so has
// its factor. George and Liu, "Computer solution of large sparse positive definite systems" (1981),
// chapter 4.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/linalg/small_sums.h"

namespace robosim {

// The first column of each row. A matrix's numbers are the caller's: `size` of them, row by row.
class Envelope {
 public:
  // n rows of the diagonal alone.
  void reset(int n) {
    first_.resize(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) first_[static_cast<std::size_t>(i)] = i;
  }
  void reach(int row, int column) {
    int& first = first_[static_cast<std::size_t>(row)];
    first = std::min(first, column);
  }
  // After all of these.
  void finish() {
    begin_.resize(first_.size());
    size_ = 0;
    for (int i = 0; i < rows(); ++i)
      begin_[static_cast<std::size_t>(i)] = size_, size_ += i - first(i) + 1;
  }

  int rows() const { return static_cast<int>(first_.size()); }
  std::size_t size() const { return static_cast<std::size_t>(size_); }
  int first(int row) const { return first_[static_cast<std::size_t>(row)]; }
  // Row i of A: its entries from first(i) to i.
  template <class Number>
  Number* row(Number* A, int i) const {
    return A + begin_[static_cast<std::size_t>(i)];
  }

  // Replaces A by its factor, with one over it on the diagonal. False where A is not positive
  // definite to rounding; it is then lost.
  bool factor(double* A) const {
    for (int i = 0; i < rows(); ++i) {
      const int from = first(i), last = i - from;
      double* const own = row(A, i);
      for (int k = 0; k < last; ++k) {
        const int j = from + k, begin = std::max(from, first(j));
        const double* const other = row(A, j);
        const double sum = dot(own + (begin - from), other + (begin - first(j)), j - begin);
        own[k] = (own[k] - sum) * other[j - first(j)];
      }
      const double left = own[last] - dot(own, own, last);
      if (!(left > 0)) return false;
      own[last] = 1 / std::sqrt(left);
    }
    return true;
  }

  // B (rows x width) becomes L^-1 B, of the factor L of A.
  void solve_half(const double* L, double* B, int width) const {
    for (int i = 0; i < rows(); ++i) {
      const int from = first(i), last = i - from;
      const double* const own = row(L, i);
      double* const to = B + static_cast<std::ptrdiff_t>(i) * width;
      for (int k = 0; k < last; ++k)
        add_scaled(-own[k], B + static_cast<std::ptrdiff_t>(from + k) * width, width, to);
      for (int j = 0; j < width; ++j) to[j] *= own[last];
    }
  }

  // b becomes A^-1 b, of the factor of A.
  void solve(const double* L, double* b) const {
    for (int i = 0; i < rows(); ++i) {
      const int last = i - first(i);
      const double* const own = row(L, i);
      b[i] = (b[i] - dot(own, b + first(i), last)) * own[last];
    }
    for (int i = rows() - 1; i >= 0; --i) {
      const int last = i - first(i);
      const double* const own = row(L, i);
      b[i] *= own[last];
      add_scaled(-b[i], own, last, b + first(i));
    }
  }

 private:
  std::vector<int> first_, begin_;  // of each row: its first column, and the place of that entry
  int size_ = 0;
};

}  // namespace robosim

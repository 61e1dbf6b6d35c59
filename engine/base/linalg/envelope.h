// Factors of matrices whose rows begin late: each row of the lower triangle has its entries from
// the first one that is not zero to the diagonal, the columns of the upper one are of the same
// shape, and so are the factors. Symmetric positive definite ones are L L^T, others L U, without
// exchanges. George and Liu, "Computer solution of large sparse positive definite systems" (1981),
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

  // b becomes A^-1 b, of the factor of A.
  void solve(const double* L, double* b) const {
    solve_lower<true>(L, b);
    solve_upper<true>(L, b);
  }

  // The same of a matrix that need not be symmetric. upper: by columns what `row` is of rows; U has
  // ones on its diagonal, and L one over its own. Returns the smallest pivot beside the entry of
  // the diagonal from which it comes, or zero where it ends at one.
  double factor(double* lower, double* upper) const {
    double smallest = 1;
    for (int i = 0; i < rows(); ++i) {
      const int from = first(i), last = i - from;
      double *const own = row(lower, i), *const above = row(upper, i);
      for (int k = 0; k < last; ++k) {
        const int j = from + k, begin = std::max(from, first(j)), before = j - begin;
        const double *const other = row(lower, j) + (begin - first(j)), *const other_above =
                                                                            row(upper, j) +
                                                                            (begin - first(j));
        own[k] -= dot(own + (begin - from), other_above, before);
        above[k] = (above[k] - dot(other, above + (begin - from), before)) * other[before];
      }
      const double pivot = own[last] - dot(own, above, last);
      smallest = std::min(smallest, std::abs(pivot) / std::abs(own[last]));
      if (!(smallest > 0)) return 0;
      own[last] = 1 / pivot;
    }
    return smallest;
  }
  // b becomes A^-1 b, or A^-T b.
  void solve(const double* lower, const double* upper, double* b) const {
    solve_lower<true>(lower, b);
    solve_upper<false>(upper, b);
  }
  void solve_transposed(const double* lower, const double* upper, double* b) const {
    solve_lower<false>(upper, b);
    solve_upper<true>(lower, b);
  }

 private:
  // Solve with a lower triangle by rows, and with an upper one by columns. has_diagonal: it holds
  // one over that; else the diagonal is of ones.
  template <bool has_diagonal>
  void solve_lower(const double* L, double* b) const {
    for (int i = 0; i < rows(); ++i) {
      const int last = i - first(i);
      const double* const own = row(L, i);
      b[i] -= dot(own, b + first(i), last);
      if constexpr (has_diagonal) b[i] *= own[last];
    }
  }
  template <bool has_diagonal>
  void solve_upper(const double* U, double* b) const {
    for (int i = rows() - 1; i >= 0; --i) {
      const int last = i - first(i);
      const double* const own = row(U, i);
      if constexpr (has_diagonal) b[i] *= own[last];
      add_scaled(-b[i], own, last, b + first(i));
    }
  }

  std::vector<int> first_, begin_;  // of each row: its first column, and the place of that entry
  int size_ = 0;
};

}  // namespace robosim

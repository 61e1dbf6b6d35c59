// Factors of envelope matrices. Each row of the lower triangle is stored from its first nonzero
// entry to the diagonal, the columns of the upper triangle have the same shape, and so do the
// factors. Symmetric positive definite matrices are factored as L L^T, others as L U, without
// pivoting. George and Liu, "Computer solution of large sparse positive definite systems" (1981),
// chapter 4.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/linalg/small_sums.h"

namespace robosim {

// First column of each row. The caller holds the entries of matrices: `size` numbers, row by row.
class Envelope {
 public:
  // Begin with a diagonal of n rows.
  void reset(int n) {
    first_.resize(n);
    for (int i = 0; i < n; ++i) first_[i] = i;
  }
  void reach(int row, int column) {
    int& first = first_[row];
    first = std::min(first, column);
  }
  // Compute the layout, after all calls of reach.
  void finish() {
    begin_.resize(first_.size());
    size_ = 0;
    for (int i = 0; i < rows(); ++i) {
      begin_[i] = size_;
      size_ += i - first(i) + 1;
    }
  }

  int rows() const { return static_cast<int>(first_.size()); }
  std::size_t size() const { return static_cast<std::size_t>(size_); }
  int first(int row) const { return first_[row]; }
  // Row i of A: entries first(i) to i.
  template <class Number>
  Number* row(Number* A, int i) const {
    return A + begin_[i];
  }

  // Replace A by its factor, with reciprocals on the diagonal. Return false if A is not positive
  // definite to rounding; A is then overwritten.
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

  // Replace b by A^-1 b. L: factor of A.
  void solve(const double* L, double* b) const {
    solve_lower<true>(L, b);
    solve_upper<true>(L, b);
  }

  // Factor a matrix that need not be symmetric. upper: stored by columns as `row` is by rows. U has
  // a unit diagonal, and L reciprocals on its own. Return the smallest pivot relative to the
  // diagonal entry from which it is computed, or zero if a pivot is zero.
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
  // Replace b by A^-1 b, or by A^-T b.
  void solve(const double* lower, const double* upper, double* b) const {
    solve_lower<true>(lower, b);
    solve_upper<false>(upper, b);
  }
  void solve_transposed(const double* lower, const double* upper, double* b) const {
    solve_lower<false>(upper, b);
    solve_upper<true>(lower, b);
  }

 private:
  // Solve with a lower triangle by rows, and with an upper one by columns. has_diagonal: it stores
  // the reciprocals of its diagonal; else its diagonal is one.
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

  std::vector<int> first_, begin_;  // of each row: its first column, and the offset of that entry
  int size_ = 0;
};

}  // namespace robosim

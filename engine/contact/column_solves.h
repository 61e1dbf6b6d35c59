// Products, and what solves with one small matrix consist of, of many columns: by registers of columns and compiled per instruction set. Nothing is fused
// but where exact, and each sum is taken in order, so that all is the same to the bit on each. Matrices are row by row, of columns as many as they have.
#pragma once

#include "base/isa.h"

namespace robosim {

class ColumnSolves {
 public:
  virtual ~ColumnSolves() = default;

  // C += A B; A is rows x inner, its entry (r, i) at A[r by_row + i by_column]. B is inner x width and C rows x width, their rows these numbers apart.
  virtual void add_product(const double* A, int by_row, int by_column, int rows, int inner, const double* B, int of_B, double* C, int of_C, int width) const = 0;
  // The same where most of A is zero: such factors are looked for.
  virtual void add_sparse_product(const double* A, int by_row, int by_column, int rows, int inner, const double* B, int of_B, double* C, int of_C, int width) const = 0;
  // B (n x width) becomes S^-T B. LU, pivots: of lu_factor (lu.h).
  virtual void solve_transposed(const double* LU, int n, const int* pivots, double* B, int width) const = 0;
  // high + low -= S^T X as if in twice the precision: Dot2 of Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005).
  // S: n x n, the others n x width; X overlaps neither.
  virtual void subtract_doubled(const double* S, int n, const double* X, int width, double* high, double* low) const = 0;
  // sum + low += a . x, of n numbers as if in twice the precision.
  virtual void add_dot_doubled(const double* a, const double* x, int n, double& sum, double& low) const = 0;

 protected:
  ColumnSolves() = default;
};

// For the instruction set that this process uses (base/cpu.h).
const ColumnSolves& column_solves();

namespace detail {

template <Isa isa>
const ColumnSolves& column_solves();

}  // namespace detail

}  // namespace robosim

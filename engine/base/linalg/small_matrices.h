// Products, and what solves with one small matrix consist of, of many columns: by registers of
// columns and compiled per instruction set. Nothing is fused but where exact, and each sum is taken
// in the same order, so that all is the same to the bit on each. Matrices are row by row.
#pragma once

#include <cstddef>

#include "base/isa.h"

namespace robosim {

// The left one of a product: rows x inner, entry (r, i) at A[r by_row + i by_column].
struct LeftFactor {
  const double* A;
  int rows, inner;
  std::ptrdiff_t by_row, by_column;

  LeftFactor(const double* A_, int rows_, int inner_)
      : A(A_), rows(rows_), inner(inner_), by_row(inner_), by_column(1) {}
  // Of the matrix inner x rows.
  static LeftFactor transposed(const double* A, int rows, int inner) {
    LeftFactor x(A, rows, inner);
    x.by_row = 1, x.by_column = rows;
    return x;
  }
};

// Q R of S^T (n x n) as qr.h has it: R, and reflections below it; beta of these; of each of the
// `rank` columns its place in S, and by places their lengths.
struct QrFactors {
  const double* A;
  int n, rank;
  const double* beta;
  const int* order;
  const double* scale;
};

class SmallMatrices {
 public:
  virtual ~SmallMatrices() = default;

  // C += A B. B is inner x width and C rows x width; their rows begin a stride apart.
  virtual void add_product(const LeftFactor& A, const double* B, int B_stride, double* C,
                           int C_stride, int width) const = 0;
  // The same where most of A is zero: such factors are looked for.
  virtual void add_sparse_product(const LeftFactor& A, const double* B, int B_stride, double* C,
                                  int C_stride, int width) const = 0;
  // B (n x width) becomes S^-T B. LU, pivots: of lu_factor (lu.h).
  virtual void solve_transposed(const double* LU, int n, const int* pivots, double* B,
                                int width) const = 0;
  // X (n x width) becomes what S^-T takes B to, with zeros for the rows of S that are left out; B
  // is used up. S: by its qr.h.
  virtual void solve_transposed(const QrFactors& S, double* B, double* X, int width) const = 0;
  // high + low -= S^T X as if in twice the precision: Dot2 of Ogita, Rump and Oishi, "Accurate sum
  // and dot product", SIAM J. Sci. Comput. 26 (2005). S: n x n, the others n x width; X overlaps
  // neither.
  virtual void subtract_doubled(const double* S, int n, const double* X, int width, double* high,
                                double* low) const = 0;
  // sum + low += a . x, of n numbers, by Dot2 as well.
  virtual void add_dot_doubled(const double* a, const double* x, int n, double& sum,
                               double& low) const = 0;
  // high + low += A^T x, each number by Dot2. A: n x width, x: n.
  virtual void add_doubled(const double* A, int n, int width, const double* x, double* high,
                           double* low) const = 0;

 protected:
  SmallMatrices() = default;
};

// For the instruction set that this process uses (base/cpu.h).
const SmallMatrices& small_matrices();

namespace detail {

template <Isa isa>
const SmallMatrices& small_matrices();

}  // namespace detail

}  // namespace robosim

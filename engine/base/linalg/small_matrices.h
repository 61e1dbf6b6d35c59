// Products and triangular solves of small matrices with many columns, by registers of columns,
// compiled per instruction set. Results have the same bits on every instruction set: products are
// fused only where exact, and sums have a fixed order. Matrices are row by row.
#pragma once

#include <cstddef>

#include "base/isa.h"

namespace robosim {

// Left factor of a product: rows x inner, entry (r, i) at A[r by_row + i by_column].
struct LeftFactor {
  const double* A;
  int rows, inner;
  std::ptrdiff_t by_row, by_column;

  LeftFactor(const double* A_, int rows_, int inner_)
      : A(A_), rows(rows_), inner(inner_), by_row(inner_), by_column(1) {}
  // Transpose of the matrix A (inner x rows).
  static LeftFactor transposed(const double* A, int rows, int inner) {
    LeftFactor x(A, rows, inner);
    x.by_row = 1;
    x.by_column = rows;
    return x;
  }
};

// QR factors of S^T (n x n) as in qr.h: A holds R and the reflection vectors below it, and beta
// their factors. order: place in S of each of the `rank` columns. scale: lengths of the rows of S,
// by place.
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
  // As add_product, for an A that is mostly zero: zero factors are skipped.
  virtual void add_sparse_product(const LeftFactor& A, const double* B, int B_stride, double* C,
                                  int C_stride, int width) const = 0;
  // Replace B (n x width) by S^-T B. LU, pivots: from lu_factor (lu.h).
  virtual void solve_transposed(const double* LU, int n, const int* pivots, double* B,
                                int width) const = 0;
  // Solve S^T X = B (n x width), with zeros in X for the dependent rows of S; B is overwritten. S:
  // factors from qr.h.
  virtual void solve_transposed(const QrFactors& S, double* B, double* X, int width) const = 0;
  // high + low -= S^T X as in twice the precision: Dot2 of Ogita, Rump and Oishi, "Accurate sum
  // and dot product", SIAM J. Sci. Comput. 26 (2005). S: n x n, the others n x width; X
  // overlaps neither.
  virtual void subtract_doubled(const double* S, int n, const double* X, int width, double* high,
                                double* low) const = 0;
  // sum + low += a . x of n numbers, by Dot2.
  virtual void add_dot_doubled(const double* a, const double* x, int n, double& sum,
                               double& low) const = 0;
  // high + low += A^T x, each number by Dot2. A: n x width, x: n.
  virtual void add_doubled(const double* A, int n, int width, const double* x, double* high,
                           double* low) const = 0;

 protected:
  SmallMatrices() = default;
};

// Implementation for the instruction set of this process (base/cpu.h).
const SmallMatrices& small_matrices();

namespace detail {

template <Isa isa>
const SmallMatrices& small_matrices();

}  // namespace detail

}  // namespace robosim

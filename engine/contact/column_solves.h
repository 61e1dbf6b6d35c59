// What solves of many columns with one small matrix consist of, by registers of columns and compiled per instruction set, the same to the bit on each.
// Matrices are row by row, of columns as many as they have.
#pragma once

#include "base/isa.h"

namespace robosim {

class ColumnSolves {
 public:
  virtual ~ColumnSolves() = default;

  // B (n x width) becomes S^-T B. LU, pivots: of lu_factor (lu.h).
  virtual void solve_transposed(const double* LU, int n, const int* pivots, double* B, int width) const = 0;
  // high + low -= S^T X as if in twice the precision: Dot2 of Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005).
  // S: n x n, the others n x width; X overlaps neither.
  virtual void subtract_doubled(const double* S, int n, const double* X, int width, double* high, double* low) const = 0;

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

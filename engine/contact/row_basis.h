// The impulses that clamping rows are given: f_C = P b, with as many unknowns b as the rows have
// independent ones.
//
// Rows of a block that depend on each other (a foot on more than three points) leave their impulses
// open. The rule: friction creeps, and all else gives as springs do, alike and by next to nothing.
// With n the rows that are springs, normals above all, and t those of friction, least |f_t| comes
// first and least |f_n| second, so that friction carries what no spring can carry:
//   f_n = D_n u,   f_t = D_t c,   u any, c with D_n c = 0
// P has orthonormal columns, found by Gram-Schmidt with pivoting in two stages, first of the
// springs and then of what is left of friction:
//   P = [D_n Q_n  0; 0  D_t Q_t],   D_n Q_t = 0,   N = D_C^T P,   N^T Q = 1
// A row with a compliance of its own has an unknown of its own.
// All is by blocks, at most six unknowns for the rows without compliance of two bodies, whatever
// the number of their contacts.
#pragma once

#include <cstddef>
#include <vector>

#include "contact/rows.h"

namespace robosim {

class RowBasis {
 public:
  // Of one block of the problem: its clamping rows are rows()[first_row ...], its unknowns
  // b[first_unknown ...].
  struct Block {
    int first_row = 0, rows = 0;
    int first_unknown = 0, columns = 0;
    int springs = 0;                  // columns of springs without compliance, the first ones
    int independent = 0;              // and of friction, next
    std::size_t P = 0, Q = 0, N = 0;  // where these begin, one behind the other, and end
    std::size_t end = 0;
    std::size_t made_of = 0;  // where its rows are told
  };

  // Blocks whose clamping rows are what they were keep their basis: classes change by the row, and
  // discs turn without any.
  void build(const RowProblem& problem, const RowClass* classes);

  int unknowns() const { return unknowns_; }
  const std::vector<int>& rows() const { return rows_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  // Row by row: P (rows x columns), Q (width x columns, zero for compliant rows) and N = D_C^T P
  // (width x columns).
  const double* P(const Block& block) const { return numbers_.data() + block.P; }
  const double* Q(const Block& block) const { return numbers_.data() + block.Q; }
  const double* N(const Block& block) const { return numbers_.data() + block.N; }

  // Returns whether a row depends on a block's rows without compliance, whatever the bodies, and
  // sets what it would push, by the block's b, if it clamped. A spring along which friction creeps
  // would take all of the load: push then has the sign of that.
  bool implies(const Block& block, int width, const ConstraintRow& row, const double* b,
               double& push) const;

  // f_C += P b.
  void add_impulses(const double* b, double* f) const;
  // b += factor P^T w_C.
  void add_projection(double factor, const double* w, double* b) const;

 private:
  bool take_last(Block& basis);
  template <int width>
  void orthonormalize(const RowProblem& problem, Block& basis);

  std::vector<int> rows_;
  std::vector<Block> blocks_;
  // made_of_: of clamping rows the coefficients, and of what kind they are.
  std::vector<double> numbers_, made_of_, scratch_;
  std::vector<int> places_;  // of a block's rows: springs first
  struct {
    std::vector<Block> blocks;
    std::vector<double> numbers, made_of;
  } last_;
  int unknowns_ = 0;
};

}  // namespace robosim

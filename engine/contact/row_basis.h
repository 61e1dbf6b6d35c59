// Impulses of active rows, f_C = P b, with one unknown in b per independent row.
//
// Linearly dependent rows of a block (a foot on more than three points) leave their impulses
// undetermined. The rule: friction creeps, and all other rows act as springs, equally stiff and
// almost rigid. With n the spring rows, normals above all, and t the friction rows, |f_t| is
// minimized first and |f_n| second, so that friction carries only what no spring can carry:
//   f_n = D_n u,   f_t = D_t c,   u any, c with D_n c = 0
// P has orthonormal columns, found by Gram-Schmidt with pivoting in two stages, first of the
// springs and then of the remainder of friction:
//   P = [D_n Q_n  0; 0  D_t Q_t],   D_n Q_t = 0,   N = D_C^T P,   N^T Q = 1
// A row with a compliance of its own has an unknown of its own. P is computed block by block.
// The rows without compliance of two bodies have at most six unknowns, whatever the number of
// their contacts.
#pragma once

#include <cstddef>
#include <vector>

#include "contact/rows.h"

namespace robosim {

class RowBasis {
 public:
  // Basis of one block of the problem. Its active rows are rows()[first_row ...], its unknowns
  // b[first_unknown ...].
  struct Block {
    int first_row = 0, rows = 0;
    int first_unknown = 0, columns = 0;
    int springs = 0;                  // columns of springs without compliance, the first ones
    int independent = 0;              // these and the columns of friction, which are next
    std::size_t P = 0, Q = 0, N = 0;  // consecutive offsets in numbers_, and their end
    std::size_t end = 0;
    std::size_t made_of = 0;  // offset of its rows in made_of_
  };

  // Build the bases. Blocks whose active rows have not changed keep their basis. Coefficients are
  // compared, too, as discs turn without a change of mode.
  void build(const RowProblem& problem, const RowClass* classes);

  int unknowns() const { return unknowns_; }
  const std::vector<int>& rows() const { return rows_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  // Matrices row by row: P (rows x columns), Q (width x columns, zero for compliant rows) and N =
  // D_C^T P (width x columns).
  const double* P(const Block& block) const { return numbers_.data() + block.P; }
  const double* Q(const Block& block) const { return numbers_.data() + block.Q; }
  const double* N(const Block& block) const { return numbers_.data() + block.N; }

  // Return true if a row depends on the block's rows without compliance, whatever the bodies. Set
  // `push` to the impulse that the row would have at the block's b if it were active. A spring
  // along which friction creeps would take all of the load: `push` then has the sign of that load.
  bool implies(const Block& block, int width, const ConstraintRow& row, const double* b,
               double& push) const;

  // Add impulses: f_C += P b.
  void add_impulses(const double* b, double* f) const;
  // Add the projection b += factor P^T w_C.
  void add_projection(double factor, const double* w, double* b) const;

 private:
  bool take_last(Block& basis);
  template <int width>
  void orthonormalize(const RowProblem& problem, Block& basis);

  std::vector<int> rows_;
  std::vector<Block> blocks_;
  // made_of_: coefficients of the active rows, and their kinds.
  std::vector<double> numbers_, made_of_, scratch_;
  std::vector<int> places_;  // of a block's rows: springs first
  struct {
    std::vector<Block> blocks;
    std::vector<double> numbers, made_of;
  } last_;
  int unknowns_ = 0;
};

}  // namespace robosim

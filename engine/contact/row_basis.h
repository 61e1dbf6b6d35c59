// The impulses that clamping rows are given: f_C = P b, with as many unknowns b as the rows have independent ones.
//
// Rows of a block that depend on each other (a foot on more than three points) leave their impulses open. The rule: f_C in range(D_C), the
// limit of equal, vanishing compliance on the clamping rows; where nothing slides these are the least-squares impulses. P = D_C Q has
// orthonormal columns, found by Gram-Schmidt with pivoting. A row with a compliance of its own has an unknown of its own.
// All is by blocks, at most six unknowns for the rows without compliance of two bodies, whatever the number of their contacts.
#pragma once

#include <cstddef>
#include <vector>

#include "contact/rows.h"

namespace robosim {

class RowBasis {
 public:
  // Of one block of the problem: its clamping rows are rows()[first_row ...], its unknowns b[first_unknown ...].
  struct Block {
    int first_row = 0, rows = 0;
    int first_unknown = 0, columns = 0;
    int independent = 0;  // columns of rows without compliance, the first ones
    std::size_t P = 0, Q = 0, N = 0;  // where these begin, one behind the other, and end
    std::size_t end = 0;
    std::size_t made_of = 0;  // where its rows are told
  };

  // Blocks whose clamping rows are what they were keep their basis: classes change by the row, and discs turn without any.
  void build(const RowProblem& problem, const RowClass* classes);

  int unknowns() const { return unknowns_; }
  const std::vector<int>& rows() const { return rows_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  // Row by row: P (rows x columns), Q (width x columns, zero for compliant rows) and N = D_C^T P (width x columns).
  const double* P(const Block& block) const { return numbers_.data() + block.P; }
  const double* Q(const Block& block) const { return numbers_.data() + block.Q; }
  const double* N(const Block& block) const { return numbers_.data() + block.N; }

  // Whether the row d depends on a block's rows without compliance, whatever the bodies: then it would push d . u, of f_C = D_C u, by the block's b.
  bool implies(const Block& block, int width, const double* d, const double* b, double& push) const;

  // f_C += P b.
  void add_impulses(const double* b, double* f) const;
  // b += factor P^T w_C.
  void add_projection(double factor, const double* w, double* b) const;

 private:
  bool take_last(Block& basis);
  template <int width>
  void orthonormalise(const RowProblem& problem, Block& basis);

  std::vector<int> rows_;
  std::vector<Block> blocks_;
  std::vector<double> numbers_, made_of_, scratch_;  // made_of_: of clamping rows the coefficients, and whether they have a compliance
  struct {
    std::vector<Block> blocks;
    std::vector<double> numbers, made_of;
  } last_;
  int unknowns_ = 0;
};

}  // namespace robosim

// Selection among the impulses that move bodies alike. Friction creeps and springs share the load
// (`row_basis.h`). The impulses thus do not depend on how a solution was found, and loads move to
// where they are carried without slip.
//
// Rows at zero velocity are degenerate: their impulses are to be selected. At first all of them are
// active; rows that would leave their bounds then stay at them. A row at its bound that other rows
// hold at rest is judged by the impulse that it would have if it were active. That impulse follows
// from those of the other rows by f_n = D_n u or f_t = D_t c. Friction that slides at several
// points changes with the choice of the points that push. Rows that are violated as a result change
// mode, and the selection is repeated.
#pragma once

#include <cstdint>
#include <vector>

#include "contact/class_factor.h"
#include "contact/row_span.h"

namespace robosim {

enum class Selected {
  unchanged,  // all degenerate rows are active already
  chosen,
  none  // no selection was found
};

class ImpulseSelection {
 public:
  struct Rows {
    const RowProblem& problem;
    const RowSizes& sizes;
    double most_scale;    // upper limit of row_scale
    ClassFactor& factor;  // in the end, of the modes of the solution
  };

  // Select from a solution, which is unchanged if no selection is found.
  Selected select(const Rows& rows, RowSolution& solution);
  // Select with a guess of the modes of the rows at rest, as of rows that are slightly compliant.
  Selected select(const Rows& rows, const RowSolution& guess, RowSolution& solution);

  // Select with a guess of the rows at rest: those that are active. Return false if the rows at
  // rest are others.
  bool guess(const Rows& rows, const std::vector<RowClass>& classes, RowSolution& solution);

 private:
  Selected chosen(const Rows& rows, RowSolution& solution);
  bool choose(const Rows& rows, bool as_tied);
  int choose_again(const Rows& rows, int& last);
  bool tie(const Rows& rows, const RowSolution& solution);
  bool tie_again(const Rows& rows);
  bool are_tied_at_rest(const Rows& rows) const;
  void span_clamping(const Rows& rows);
  bool is_implied(const Rows& rows, const RowBlock& block, int row, double& push);

  RowSolution trial_;
  std::vector<RowClass> guess_;
  std::vector<std::uint8_t> tied_;
  RowSpan springs_, all_;  // of active rows, without friction and with it
  bool is_spanned_ = false;
};

}  // namespace robosim

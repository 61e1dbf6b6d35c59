// Which impulses, of all that move bodies alike: friction creeps and springs share the load
// (`row_basis.h`), so that they do not depend on how a solution was found, and load passes to where
// it is carried without slip.
//
// Rows at zero velocity are tied: pushing or not, their impulses are to be selected, first as if
// all clamped; rows that would leave their bounds stay there. Of these a row that others hold still
// is judged by what it would push were it to clamp: it goes with them as f_n = D_n u or f_t = D_t c
// does. Friction of several points that slides changes with which of them push: rows that are in
// breach then change class, and it is selected again.
#pragma once

#include <cstdint>
#include <vector>

#include "contact/class_factor.h"
#include "contact/row_span.h"

namespace robosim {

enum class Selected {
  unchanged,  // all tied rows clamp as it is
  chosen,
  none  // none is found
};

class ImpulseSelection {
 public:
  struct Rows {
    const RowProblem& problem;
    const RowSizes& sizes;
    double most_scale;    // what row_scale may be
    ClassFactor& factor;  // in the end of the classes of the solution
  };

  // From a solution, which stays as it is where none is found.
  Selected select(const Rows& rows, RowSolution& solution);
  // The same, with a guess of the classes of those that are at rest: as of rows that give a little.
  Selected select(const Rows& rows, const RowSolution& guess, RowSolution& solution);

  // From a guess of which rows are at rest: those that clamp. False where it is others.
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
  RowSpan springs_, all_;  // of the rows that clamp, without friction and with it
  bool is_spanned_ = false;
};

}  // namespace robosim

// Detection of degenerate rows, at the border of two modes, where the solution has one-sided
// derivatives only. A row at rest without an impulse is degenerate: a weightless ball that touches
// moves with a pull and stays with a push. Friction at its bound with zero slip is degenerate, too:
// it slips in one direction and sticks in the other.
//
// A row that other rows hold at zero velocity, as the fourth corner of a box, makes no such kink:
// the velocities do not depend on which of the rows push. So degenerate rows count if their
// coefficients are outside the span of the active, nondegenerate rows, in the metric of L.
#pragma once

#include <vector>

#include "contact/row_span.h"

namespace robosim {

class Ties {
 public:
  // Return true if any degenerate row counts. sizes: of the problem.
  bool any(const RowProblem& problem, const RowSizes& sizes, const RowSolution& solution);

 private:
  struct Place {
    int block, row;
  };

  std::vector<Place> tied_, held_;
  RowSpan span_;
};

}  // namespace robosim

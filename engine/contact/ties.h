// Where the solution of rows has a derivative on one side only: a row at the border of what its
// class asks for. One that rests without a push, as a ball that touches and weighs nothing, goes
// with what pulls and stays with what pushes; friction at its bound at rest slips with one and
// sticks with the other.
//
// A row that others hold at zero velocity, the fourth corner of a box, makes no such kink: the
// velocities do not feel which of them push. So tied rows count where their coefficients are not in
// the span of those of rows that clamp and are not tied, judged in the metric of L.
#pragma once

#include <vector>

#include "contact/row_span.h"

namespace robosim {

class Ties {
 public:
  // sizes: of the problem.
  bool any(const RowProblem& problem, const RowSizes& sizes, const RowSolution& solution);

 private:
  struct Place {
    int block, row;
  };

  std::vector<Place> tied_, held_;
  RowSpan span_;
};

}  // namespace robosim

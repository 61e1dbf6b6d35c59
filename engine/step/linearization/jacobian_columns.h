// Columns of Jacobians side by side: the layout in which the matrices of a step are computed.
#pragma once

#include <vector>

#include "step/step_data.h"

namespace robosim {

// First column of each argument in a row of all arguments, -1 if not requested, and the length of a
// row.
struct JacobianColumns {
  int q = -1, v = -1, tau = -1, q_target = -1, v_target = -1, stride = 0;
};

// Jacobians of the twists of all contacts' shapes with respect to the joints: [linear; angular] in
// the shape's own frame, with zeros in the padding columns (columns.h).
class ShapeTwists {
 public:
  void fill(const StepData& step);
  // 6 rows of padded(n_v).
  const double* of(const StepData& step, int manifold, int side) const;

 private:
  std::vector<double> twists_;  // both shapes of each manifold
};

}  // namespace robosim

// Columns of Jacobians side by side: what a step's matrices are made in.
#pragma once

#include <vector>

#include "step/step_data.h"

namespace robosim {

// The first column by each argument in a row of all, -1 where nobody asks; and the length of a row.
struct JacobianColumns {
  int q = -1, v = -1, tau = -1, q_target = -1, v_target = -1, stride = 0;
};

// Twists of the shapes of all contacts by the joints: [linear; angular] in the shape's own frame,
// by all joints, and zero in the columns that pad these (columns.h).
class ShapeTwists {
 public:
  void fill(const StepData& step);
  // 6 rows of padded(n_v).
  const double* of(const StepData& step, int manifold, int side) const;

 private:
  std::vector<double> twists_;  // of both shapes of each manifold
};

}  // namespace robosim

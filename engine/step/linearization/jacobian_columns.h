// Columns of Jacobians side by side: what a step's matrices are made in.
#pragma once

#include <vector>

#include "step/step_data.h"

namespace robosim {

// Where the columns by each argument begin in a row of all, -1 where nobody asks; and how long a row is.
struct JacobianColumns {
  int q = -1, v = -1, tau = -1, q_target = -1, v_target = -1, stride = 0;
};

// How the shapes of all contacts move with the joints: of each its twist, [linear; angular] in its own frame, by all of them, and zero in the columns
// that pad these (columns.h).
class ShapeTwists {
 public:
  void fill(const StepData& step);
  // 6 rows of padded(n_v).
  const double* of(const StepData& step, int manifold, int side) const;

 private:
  std::vector<double> twists_;  // of both shapes of each manifold
};

}  // namespace robosim

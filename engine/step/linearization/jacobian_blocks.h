// Output arrays for the Jacobians of the next state.
#pragma once

#include <cstddef>
#include <vector>

#include "model/model.h"
#include "step/parameters.h"

namespace robosim {

// Blocks of a row-major Jacobian. Its rows are those of q (tangent space, body side), then of v,
// n_v each. Null blocks are not computed.
struct JacobianBlocks {
  // 2 n_v rows: q_next, then v_next; n_v, n_v, n_v, n_q, n_v columns.
  double *q = nullptr, *v = nullptr, *tau = nullptr, *q_target = nullptr, *v_target = nullptr;
  double* parameters = nullptr;  // one column per parameter of the selection
  const ParameterSelection* selection = nullptr;

  // Blocks of one step, if these are the blocks of consecutive steps.
  JacobianBlocks of(const Model& model, std::ptrdiff_t step) const;
};

// Storage for the blocks.
struct StepJacobians {
  std::vector<double> q, v, tau, q_target, v_target;

  JacobianBlocks resize(const Model& model);  // blocks of all arguments
};

}  // namespace robosim

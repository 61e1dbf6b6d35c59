// Where Jacobians of the next state go.
#pragma once

#include <cstddef>
#include <vector>

#include "model/model.h"
#include "step/parameters.h"

namespace robosim {

// Rows are those of q (tangent space, body side), then of v, n_v each; row-major. A block that
// nobody asks for is null.
struct JacobianBlocks {
  // 2 n_v rows: q_next, then v_next; n_v, n_v, n_v, n_q, n_v columns.
  double *q = nullptr, *v = nullptr, *tau = nullptr, *q_target = nullptr, *v_target = nullptr;
  double* parameters = nullptr;  // a column for each of the selection
  const ParameterSelection* selection = nullptr;

  // of many, one behind the other.
  JacobianBlocks of(const Model& model, std::ptrdiff_t step) const;
};

// Room for them.
struct StepJacobians {
  std::vector<double> q, v, tau, q_target, v_target;

  JacobianBlocks resize(const Model& model);  // for all
};

}  // namespace robosim

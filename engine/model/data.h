// Data<S>: the workspace of the algorithms over one Model, grouped by stage. Each field: meaning, unit, "computed by".
#pragma once

#include <vector>

#include "model/model.h"

namespace robosim {

template <class S>
struct Data {
  // Position stage, computed by forward_kinematics. One entry per body.
  std::vector<SE3<S>> X_PC;  // child body in parent body
  std::vector<SE3<S>> X_WB;  // body in world

  explicit Data(const Model& model)
      : X_PC(static_cast<std::size_t>(model.n_bodies())), X_WB(static_cast<std::size_t>(model.n_bodies())) {}
};

}  // namespace robosim

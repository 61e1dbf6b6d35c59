// The sparsity of a tree: which columns move which, and where the factor of the mass matrix is not
// zero.
#pragma once

#include "model/model.h"

namespace robosim {

// Numbers the columns of all joints and fills the structure of a model whose joints and coordinates
// are complete.
void number_columns(Model& model);

// Joints with coordinates that accelerate neither mass nor armature: there the mass matrix is
// singular at every q.
std::vector<int> massless_joints(const Model& model);

}  // namespace robosim

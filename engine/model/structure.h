// Sparsity of a tree: the columns that move each body, and the pattern of the factor of the
// mass matrix.
#pragma once

#include "model/model.h"

namespace robosim {

// Number the columns of all joints and fill the structure of a model whose joints and coordinates
// are complete.
void number_columns(Model& model);

// Return the joints with coordinates that accelerate neither mass nor armature, so that the mass
// matrix is singular at every q.
std::vector<int> massless_joints(const Model& model);

}  // namespace robosim

// The sparsity of a tree: which columns move which, and where the factor of the mass matrix is not zero.
#pragma once

#include "model/model.h"

namespace robosim {

// Numbers the columns of all joints and fills the structure of a model whose joints and coordinates are complete.
void number_columns(Model& model);

}  // namespace robosim

// Rates that all derivatives of one step share. Computed by Linearization::derive.
#pragma once

#include <vector>

#include "contact/one_sided.h"
#include "geometry/manifolds/manifold_derivatives.h"

namespace robosim {

struct SharedRates {
  bool is_there = false;        // of everything that Jacobians of state and control need
  bool has_everything = false;  // shapes, and what moves with objects that no joint moves, as well
  OneSided one_sided = OneSided::no;
  std::vector<ManifoldDerivatives> manifolds;  // the first are those of the step's manifolds
};

}  // namespace robosim

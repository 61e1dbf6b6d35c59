// Derivatives that all linearizations of one step share. Computed by Linearization::derive.
#pragma once

#include <vector>

#include "contact/one_sided.h"
#include "geometry/manifolds/manifold_derivatives.h"

namespace robosim {

struct SharedRates {
  bool is_there = false;        // enough for Jacobians of state and control
  bool has_everything = false;  // also shapes, and objects that no joint moves
  OneSided one_sided = OneSided::no;
  std::vector<ManifoldDerivatives> manifolds;  // one per manifold of the step; may be longer
};

}  // namespace robosim

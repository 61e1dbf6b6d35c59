// Derivatives of inverse dynamics with respect to q and v (dynamics/rnea_derivatives.h), for one
// state and without the mass matrix. All four sums of two columns are computed at once, side by
// side in SIMD registers, compiled per instruction set. Nothing is fused, so results are the same
// to the bit on each.
#pragma once

#include "base/isa.h"
#include "model/data.h"

namespace robosim {

class InverseDynamicsRates {
 public:
  virtual ~InverseDynamicsRates() = default;

  // Fill by_q and by_v with scale d/dq and scale d/dv of rnea(q, v, a). Their rows begin a stride
  // apart and are zero before. Entries are filled on the tree's pattern. Call after
  // derivatives_outward, with the I_c of composite_inertias. F, h_c and K_c in data become those of
  // subtrees, and matrix_a is overwritten.
  virtual void fill(const Model& model, Data<double>& data, double scale, double* by_q,
                    double* by_v, int stride) const = 0;

 protected:
  InverseDynamicsRates() = default;
};

// Implementation for the instruction set of this process (base/cpu.h).
const InverseDynamicsRates& inverse_dynamics_rates();

namespace detail {

template <Isa isa>
const InverseDynamicsRates& inverse_dynamics_rates();

}  // namespace detail

}  // namespace robosim

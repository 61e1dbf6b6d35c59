// What inverse dynamics changes by with q and v (dynamics/rnea_derivatives.h), for one state whose
// mass matrix nobody asks for: of two columns all four sums at once, side by side in registers and
// compiled per instruction set. Nothing is fused: the same to the bit on each.
#pragma once

#include "base/isa.h"
#include "model/data.h"

namespace robosim {

class InverseDynamicsRates {
 public:
  virtual ~InverseDynamicsRates() = default;

  // scale d/dq and scale d/dv of rnea(q, v, a) to by_q and by_v, whose rows begin a stride apart
  // and which are zero: on the tree's pattern. After derivatives_outward, and with the I_c of
  // composite_inertias. F, h_c and K_c in data become those of subtrees; matrix_a is used.
  virtual void fill(const Model& model, Data<double>& data, double scale, double* by_q,
                    double* by_v, int stride) const = 0;

 protected:
  InverseDynamicsRates() = default;
};

// For the instruction set that this process uses (base/cpu.h).
const InverseDynamicsRates& inverse_dynamics_rates();

namespace detail {

template <Isa isa>
const InverseDynamicsRates& inverse_dynamics_rates();

}  // namespace detail

}  // namespace robosim

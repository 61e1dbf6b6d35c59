// Solves with the mass matrix of many columns, row by row, by registers of columns and compiled per instruction set. Rows begin padded(columns) numbers
// apart (dynamics/mass_factor.h). Nothing is fused, and each sum is taken in order: a step is the same to the bit on every instruction set.
#pragma once

#include "base/isa.h"
#include "model/model.h"

namespace robosim {

class Columns {
 public:
  virtual ~Columns() = default;

  // B (n_v x stride) becomes M^-1 B. factor: of mass_factor.
  virtual void mass_solve(const Model& model, const double* factor, double* B, int stride) const = 0;

 protected:
  Columns() = default;
};

// For the instruction set that this process uses (base/cpu.h).
const Columns& columns();

namespace detail {

template <Isa isa>
const Columns& columns();

}  // namespace detail

}  // namespace robosim

// Columns: operations on many columns alike, row by row, in SIMD registers of columns, compiled per
// instruction set. Rows begin padded(columns) numbers apart (dynamics/mass_factor.h). Nothing is
// fused and sums keep their order, so a step is the same to the bit on every instruction set.
#pragma once

#include "base/isa.h"
#include "model/model.h"

namespace robosim {

class Columns {
 public:
  virtual ~Columns() = default;

  // Replace B (n_v x stride) by M^-1 B. factor: result of mass_factor.
  virtual void mass_solve(const Model& model, const double* factor, double* B,
                          int stride) const = 0;
  // Advance velocities, `rows` of `count` columns, to the next state: q_next = dt u and v_next = u,
  // with contiguous rows.
  virtual void advance(const double* u, int stride, int rows, int count, double dt, double* q_next,
                       double* v_next) const = 0;
  // The same for one joint with rotating axes and n velocities. u is its n rows. Its rows of q_next
  // and then of v_next are by_u (2 n x n) times u.
  virtual void advance_turning(const double* by_u, int n, const double* u, int stride, int count,
                               double* q_next, double* v_next) const = 0;

 protected:
  Columns() = default;
};

// Implementation for the instruction set of this process (base/cpu.h).
const Columns& columns();

namespace detail {

template <Isa isa>
const Columns& columns();

}  // namespace detail

}  // namespace robosim

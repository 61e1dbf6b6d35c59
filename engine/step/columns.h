// What is done to many columns alike, row by row, by registers of columns and compiled per
// instruction set. Rows begin padded(columns) numbers apart (dynamics/mass_factor.h). Nothing is
// fused, and each sum is taken in order: a step is the same to the bit on every instruction set.
#pragma once

#include "base/isa.h"
#include "model/model.h"

namespace robosim {

class Columns {
 public:
  virtual ~Columns() = default;

  // B (n_v x stride) becomes M^-1 B. factor: of mass_factor.
  virtual void mass_solve(const Model& model, const double* factor, double* B,
                          int stride) const = 0;
  // Velocities, `rows` of `count` columns, on to the next state's: fills q_next = dt u and v_next =
  // u, whose rows follow each other.
  virtual void advance(const double* u, int stride, int rows, int count, double dt, double* q_next,
                       double* v_next) const = 0;
  // The same of one joint whose axes turn, of n velocities: u is its n rows, and its rows of q_next
  // and then of v_next are by_u (2 n x n) times these.
  virtual void advance_turning(const double* by_u, int n, const double* u, int stride, int count,
                               double* q_next, double* v_next) const = 0;

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

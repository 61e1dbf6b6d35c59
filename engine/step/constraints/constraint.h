// What kinds of constraints have in common. A kind is a struct of static functions in a file of its own: its rows, their targets, and the derivatives of
// both; constraint_kinds.h lists all of them. There are kinds with blocks of channels of their own and kinds whose rows look at one coordinate:
//
//   enum Role, roles[]             its rows, and what they are called
//   join(assembly)                 has trees feel each other                                              of blocks
//   add_blocks(assembly, in)       adds blocks and their rows                                             of blocks
//   is_there(step, in, v, i)       whether the coordinate v, i of q or -1, has any of its rows            of coordinates
//   add_rows(assembly, island, in) adds them to the last block                                           of coordinates
//   set_targets / set_target       once X, y_free and L are known
//   add_vjp                        from the gradient of the rows to the parameters, the state, and motions of bodies
//   target_rates                   what a row's target changes by                                        of coordinates
#pragma once

#include "step/assembly.h"
#include "step/motion_adjoint.h"
#include "step/step_gradient.h"

namespace robosim {

// Where the gradient of a step goes.
struct StepAdjoint {
  const StepData& step;
  const StepInput& in;
  MotionAdjoint& bodies;
  StepGradient& gradient;

  double* of(ParameterId kind, int owner = 0) const { return gradient.parameters.of(kind, owner); }
};

// Of a row that looks at one coordinate.
struct CoordinateRow {
  const StepIsland& island;
  const StepIsland::Block& block;
  int i;  // the row

  int v() const { return block.v; }
  int q() const { return block.q; }  // -1: it has no position
  int role() const { return island.rows[static_cast<std::size_t>(i)].role; }
  const ConstraintRow& row() const { return island.problem.rows[static_cast<std::size_t>(i)]; }
  double target_bar() const { return island.gradient.target[static_cast<std::size_t>(i)]; }
  double compliance_bar() const { return island.gradient.compliance[static_cast<std::size_t>(i)]; }
  double bound_bar() const { return island.gradient.upper[static_cast<std::size_t>(i)] - island.gradient.lower[static_cast<std::size_t>(i)]; }
};

// What the target of such a row changes by with the coordinate and what drives it. Zero where it does not see one of these, whatever the gradient is.
struct TargetRates {
  double q = 0, q_target = 0, v_target = 0;

  // use(rate, array) of each that is not zero: 0 of q, 1 of q_target, 2 of v_target.
  template <class Use>
  void for_each(const Use& use) const {
    if (q != 0) use(q, 0);
    if (q_target != 0) use(q_target, 1);
    if (v_target != 0) use(v_target, 2);
  }
};

}  // namespace robosim

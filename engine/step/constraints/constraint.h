// What kinds of constraints have in common. A kind is a struct of static functions in a file of its
// own: its rows, their targets, and the derivatives of both; constraint_kinds.h lists all of them.
// Block kinds have blocks of channels of their own, coordinate kinds have rows that look at one
// coordinate:
//
//   enum Role, roles[]                  its rows, and what they are called
//
// Block kinds also have
//
//   repeats                             true if rows can be redundant with those of such kinds
//                                       before them; they are left out then
//   name(world, item)                   name of one of them in reports, of kinds between bodies
//   join(assembly)                      couples trees, so that they share an island
//   add_blocks(assembly, in)            adds blocks and their rows
//   set_targets(step, in, island, b)    targets of a block's rows, once X, y_free and L are known
//   add_vjp(island, b, to)              adds the gradients of coefficients d and targets t, from
//                                       island.gradient, in parameters, the state, and the motions
//                                       of bodies (MotionAdjoint), as where a row's point moves
//                                       beside the center. StepVjp adds how the channels
//                                       themselves turn, at a center and size that are held.
//                                       Contacts do so per manifold
//
// and coordinate kinds
//
//   is_there(step, in, v, q)            true if coordinate v has rows of this kind; q: its place in
//                                       the position vector or -1
//   add_rows(step, in, v, q, island)    appends them to the last block of the island
//   set_target(step, in, x, row, source)
//                                       the target of one row, and how it keeps its gap
//   target_rates(step, in, x)           partial derivatives of the target by q, q_target and
//                                       v_target; Linearization multiplies them by the row's
//                                       target_bar, for the gradients of state and control
//   add_vjp(x, to)                      adds the gradients of parameters alone
//
// Targets beyond standing still of equalities and normals may be left out (relax in step.cpp):
// target_rates and add_vjp ask is_clipped first. Targets and coefficients of coordinate kinds must
// not depend on v. A kind between bodies has six channels, size omega and v at a center; only
// contacts may do without omega (Block::turns). Jacobians of islands with block kinds other than
// contacts are made of gradients, one for each channel (linearization/impulse_jacobians.cpp). Data
// of a kind's own are with their checks in World, as closures.h, and in the bindings
// (simulation.cpp). Files of a folder are compiled together: functions in unnamed namespaces need
// names of their own.
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
  double bound_bar() const {
    return island.gradient.upper[static_cast<std::size_t>(i)] -
           island.gradient.lower[static_cast<std::size_t>(i)];
  }
};

// What the target of such a row changes by with the coordinate and what drives it. Zero where it
// does not see one of these, whatever the gradient is.
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

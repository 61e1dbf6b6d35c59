// Common interface of the kinds of constraints. A kind is a struct of static functions in a file of
// its own: its rows, their targets, and the derivatives of both. constraint_kinds.h lists all
// kinds. Block kinds have their own blocks of channels. Coordinate kinds have rows on a single
// coordinate. All kinds have
//
//   enum Role, roles[]                  its rows and their names
//
// Block kinds also have
//
//   repeats                             true if rows can be redundant with earlier rows of such
//                                       kinds; redundant rows are left out
//   name(world, item)                   name of one constraint in reports, for kinds between bodies
//   join(assembly)                      couple trees, so that they share an island
//   add_blocks(assembly, in)            add blocks and their rows
//   set_targets(step, in, island, b)    set the targets of a block's rows, once X, y_free and L
//                                       are known
//   add_vjp(island, b, to)              add the gradients through coefficients d and targets t,
//                                       from island.gradient, to parameters, to the state, and to
//                                       the motions of bodies (MotionAdjoint), such as the motion
//                                       of a row's point relative to the center. StepVjp adds the
//                                       rotation of the channels themselves, at constant center
//                                       and size. Contacts have one call per manifold
//
// and coordinate kinds
//
//   is_there(step, in, v, q)            true if coordinate v has rows of this kind. q: its index in
//                                       the configuration or -1
//   add_rows(step, in, v, q, island)    append the rows to the last block of the island
//   set_target(step, in, x, row, source)
//                                       set the target of one row, and its branch of the recovery
//                                       law
//   target_rates(step, in, x)           partial derivatives of the target with respect to q,
//                                       q_target and v_target. Linearization multiplies them by the
//                                       row's target_bar, for the gradients of state and control
//   add_vjp(x, to)                      add the gradients with respect to parameters alone
//
// Relaxed islands set targets of equalities and positive targets of inequalities to zero (relax in
// step.cpp). target_rates and add_vjp must check is_clipped first. Targets and coefficients of
// coordinate kinds must not depend on v. A kind between bodies has six channels, size omega and v
// at a center. Only contacts may do without omega (Block::turns). Jacobians of islands with block
// kinds other than contacts are assembled from gradients, one for each channel
// (linearization/impulse_jacobians.cpp). Data of a kind are stored and checked in World, as in
// closures.h, and set in the bindings (simulation.cpp). Files of a folder are compiled together, so
// functions in unnamed namespaces need unique names.
#pragma once

#include "step/assembly.h"
#include "step/motion_adjoint.h"
#include "step/step_gradient.h"

namespace robosim {

// Output of the gradient of a step, with the step that it belongs to.
struct StepAdjoint {
  const StepData& step;
  const StepInput& in;
  MotionAdjoint& bodies;
  StepGradient& gradient;

  double* of(ParameterId kind, int owner = 0) const { return gradient.parameters.of(kind, owner); }
};

// Row on a single coordinate.
struct CoordinateRow {
  const StepIsland& island;
  const StepIsland::Block& block;
  int i;  // index of the row in the island

  int v() const { return block.v; }
  int q() const { return block.q; }  // -1: no position of its own
  int role() const { return island.rows[i].role; }
  const ConstraintRow& row() const { return island.problem.rows[i]; }
  double target_bar() const { return island.gradient.target[i]; }
  double compliance_bar() const { return island.gradient.compliance[i]; }
  double bound_bar() const { return island.gradient.upper[i] - island.gradient.lower[i]; }
};

// Partial derivatives of the target of a coordinate row with respect to the coordinate and its
// drive. An exact zero means no dependence, even if the gradient is not finite.
struct TargetRates {
  double q = 0, q_target = 0, v_target = 0;

  // Call use(rate, array) for each nonzero derivative. array: 0 for q, 1 for q_target, 2 for
  // v_target.
  template <class Use>
  void for_each(const Use& use) const {
    if (q != 0) use(q, 0);
    if (q_target != 0) use(q_target, 1);
    if (v_target != 0) use(v_target, 2);
  }
};

}  // namespace robosim

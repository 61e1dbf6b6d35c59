// Contacts: rows of each point of the manifolds of two bodies.
//
//   normal    unilateral, with a target by its law (normal_law.h)
//   friction  two axes across the normal (contact_axes.h): w = 0 within mu times the normal's
//             impulse, of each axis or, of a disc, of both together
//   torsion   about the normal, rolling: about the axes across it; likewise
//
// All points of a manifold have its normal and lie on its plane. Two bodies that touch by many
// shapes, or on many triangles of one, have one twist that all of their rows look at: size omega
// and v of b against a, at the middle of all points, in axes of W; of a single point v alone. That
// point and the size are held in derivatives, as the impulses do not depend on them.
#pragma once

#include "geometry/manifolds/manifold_derivatives.h"
#include "step/constraints/constraint.h"

namespace robosim {

struct Contact {
  enum Role : std::uint8_t { normal, friction_1, friction_2, torsion, rolling_1, rolling_2 };
  static constexpr const char* roles[] = {"normal",  "friction_1", "friction_2",
                                          "torsion", "rolling_1",  "rolling_2"};

  static constexpr bool repeats = false;

  static void join(RowAssembly& rows);
  static void add_blocks(RowAssembly& rows, const StepInput& in);
  // Of a normal; of the other rows of its point what they have of it.
  static void set_targets(const StepData& step, const StepInput& in, StepIsland& island,
                          std::size_t block);

  // From the rows of one manifold, whose derivatives these are; center_bar: on where the channels
  // of a single point are.
  static void add_vjp(const StepIsland& island, std::size_t block, int first_row, int last_row,
                      const ManifoldDerivatives& rates, const Vec3d& center_bar,
                      const StepAdjoint& to);

  // True where fill_rates knows all of a block: unless it bounces.
  static bool has_rates(const StepIsland& island, std::size_t block);
  // What rows of one manifold change by with the twist of one side's shape, entry by entry:
  // coefficients (rows x most_block_channels x 6) and targets (rows x 6), as ImpulseRates has them.
  static void fill_rates(const StepData& step, const StepIsland& island, std::size_t block,
                         int side, int first_row, int last_row, const ManifoldDerivatives& rates,
                         double* d, double* target);
};

// Of a contact.
inline bool is_friction(const StepIsland::Row& row) {
  return row.role == Contact::friction_1 || row.role == Contact::friction_2;
}

}  // namespace robosim

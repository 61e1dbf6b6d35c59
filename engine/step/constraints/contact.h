// Contacts: constraint rows of the contact points between two bodies.
//
//   normal    unilateral row; its target follows the law of the normal (normal_law.h)
//   friction  two axes across the normal (contact_axes.h): w = 0 with impulses of at most mu times
//             the normal's impulse, per axis or, for a disc, for both axes together
//   torsion   about the normal; rolling: about the axes across the normal. Bounded in the same way
//
// All points of a manifold share its normal and lie on its plane. Two bodies that touch through
// many shapes, or through many triangles of a mesh, share one block of channels for all rows: size
// omega and v of body b relative to body a, at the mean of all points, in axes of W. A block of a
// single point without moments has v alone. Derivatives hold the mean point and the size constant,
// because the impulses do not depend on them.
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
  // Set the targets of normals. The other rows of a point adopt the law of its normal.
  static void set_targets(const StepData& step, const StepInput& in, StepIsland& island,
                          std::size_t block);

  // Add the gradient through the rows of one manifold. rates: derivatives of the manifold.
  // center_bar: gradient with respect to the position of the channels, for blocks of a single
  // point.
  static void add_vjp(const StepIsland& island, std::size_t block, int first_row, int last_row,
                      const ManifoldDerivatives& rates, const Vec3d& center_bar,
                      const StepAdjoint& to);

  // True if fill_rates covers all rows of a block, that is, if none of them bounces.
  static bool has_rates(const StepIsland& island, std::size_t block);
  // Fill the derivatives of the rows of one manifold with respect to the twist of one side's shape:
  // coefficients (rows x most_block_channels x 6) and targets (rows x 6), laid out as in
  // ImpulseRates.
  static void fill_rates(const StepData& step, const StepIsland& island, std::size_t block,
                         int side, int first_row, int last_row, const ManifoldDerivatives& rates,
                         double* d, double* target);
};

// True if a row of a contact is one of its two friction rows.
inline bool is_friction(const StepIsland::Row& row) {
  return row.role == Contact::friction_1 || row.role == Contact::friction_2;
}

}  // namespace robosim

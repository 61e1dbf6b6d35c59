// Data<S>: workspace of the algorithms over one Model, grouped by stage. It holds no state: each
// algorithm fills the members that its comment names, and reads only these and the ones that its
// comment requires. All memory is allocated here, except for matrices of n_v^2 entries: algorithms
// that use one allocate it in their first call. No later call allocates.
//
// Spatial vectors are in frame G: world axes, with the origin O at body 1's origin, so that their
// size and precision do not depend on the position of a mobile robot in the world. In one common
// frame, forces and inertias of a subtree are plain sums over its bodies. Entries are per body
// unless said otherwise; entry 0 is the world.
#pragma once

#include <vector>

#include "base/aligned.h"
#include "base/lane_math.h"
#include "model/model.h"
#include "spatial/spatial_inertia.h"

namespace robosim {

template <class S>
struct Data {
  // Position stage.
  std::vector<S> angle, sine, cosine;  // per joint of Model::angle_joints; computed by joint_angles
  std::vector<SE3<S>> X_WB;            // body in world; computed by forward_kinematics
  // From O to the body's origin, world axes [m]; computed by motion_subspaces ([0] is not used).
  std::vector<Vec3<S>> p_OB;
  // Per column: motion of the joint's body at unit velocity; computed by motion_subspaces.
  std::vector<Motion<S>> J;
  std::vector<CompositeInertia<S>> I;  // of the body; computed by body_inertias

  // Velocity and acceleration stage, computed by forward_velocities, forward_accelerations, rnea
  // and algorithms built on these.
  std::vector<Motion<S>> V;  // spatial velocity [rad/s, m/s]
  std::vector<Motion<S>> A;  // spatial acceleration, without gravity [rad/s^2, m/s^2]

  // Inverse dynamics, computed by rnea. F: force on the subtree, through its joint [N m, N].
  std::vector<Force<S>> F;
  std::vector<Force<S>> external;  // applied wrenches, summed per body

  // Subtrees, computed by composite_inertias and rnea_derivatives, or by crba in body frames.
  std::vector<CompositeInertia<S>> I_c;  // of the subtree

  // Mass of the subtree [kg], and mass times center of mass from O [kg m]; computed
  // by mass_moments.
  std::vector<S> mass_c;
  std::vector<Vec3<S>> moment_c;

  // Articulated bodies, computed by articulated_factor and articulated_solve.
  std::vector<ArticulatedInertia<S>> I_A;  // of the subtree with free joints
  std::vector<Force<S>> p_A;               // bias force of the subtree
  std::vector<Motion<S>> dA;               // acceleration beyond the velocity products
  std::vector<Force<S>> U, UD;             // per column: I_A J, and I_A J D^-1; forces of crba
  // Per joint, at 6 * column: Cholesky factor of J^T I_A J + armature, or its inverse.
  std::vector<S> D;
  std::vector<S> Du;  // per column: D^-1 (tau - J^T p_A)

  // Factor L^T D L of the mass matrix, computed by mass_factor from M in place.
  Scratch<S> L;  // n_v x n_v, row by row: the strictly lower triangle, on the diagonal 1 / D

  // Derivatives, computed by rnea_derivatives. Per column:
  std::vector<Motion<S>> J_dot;   // V_parent x J, how the column moves with the parent
  std::vector<Motion<S>> J_ddot;  // A_parent x J + V_parent x J_dot
  std::vector<Motion<S>> J_sum;   // J_dot + V x J
  // V x J, the column's derivative in time; computed by composite_rates.
  std::vector<Motion<S>> J_rate;
  // and of the subtree:
  std::vector<Sym3<S>> K_c;   // symmetric part of 2 B
  std::vector<Force<S>> h_c;  // momentum [kg m^2/s, kg m/s]
  std::vector<Force<S>> E_c;  // applied wrenches
  std::vector<Mat3<S>> Y_c;   // sum p f^T - (p . f) 1 of the applied wrenches

  // Products, computed by rnea_jvp (rates along the direction; those of V, A and F in the moving
  // frame) and by rnea_vjp (cotangents). See rnea_products.h.
  std::vector<Motion<S>> X_rate, V_rate, A_rate;
  std::vector<Force<S>> F_rate;
  // Cotangent of the body's force: the velocities due to joint rates tau_bar.
  std::vector<Motion<S>> F_bar;
  // Cotangents of displacement, V and A of the subtree.
  std::vector<Force<S>> X_bar, V_bar, A_bar;

  // Vectors and matrices of intermediate results.
  AlignedVector<S> bias, a;     // n_v entries
  std::vector<S> work_q, work;  // n_q and 8 n_v entries
  Scratch<S> matrix_a, matrix_b;

  S* take_L(const Model& model) {
    return L.take(static_cast<std::size_t>(model.n_v) * static_cast<std::size_t>(model.n_v));
  }

  explicit Data(const Model& model);
  ~Data();
};

// Not inline: long, and compiled once for each S that several files use.
template <class S>
Data<S>::Data(const Model& model) {
  const std::size_t n = static_cast<std::size_t>(model.n_bodies()),
                    n_v = static_cast<std::size_t>(model.n_v);
  const std::size_t n_c = static_cast<std::size_t>(model.n_columns());
  const std::size_t n_a =
      static_cast<std::size_t>(sin_cos_room(static_cast<int>(model.angle_joints.size())));
  angle.resize(n_a);
  sine.resize(n_a);
  cosine.resize(n_a);
  X_WB.resize(n);
  p_OB.resize(n);
  J.resize(n_c);
  I.resize(n);
  V.resize(n);
  A.resize(n);
  F.resize(n);
  external.resize(n);
  I_c.resize(n);
  mass_c.resize(n);
  moment_c.resize(n);
  I_A.resize(n);
  p_A.resize(n);
  dA.resize(n);
  U.resize(n_c);
  UD.resize(n_c);
  D.resize(6 * n_c);
  Du.resize(n_c);
  J_dot.resize(n_c);
  J_ddot.resize(n_c);
  J_sum.resize(n_c);
  J_rate.resize(n_c);
  K_c.resize(n);
  h_c.resize(n);
  E_c.resize(n);
  Y_c.resize(n);
  X_rate.resize(n);
  V_rate.resize(n);
  A_rate.resize(n);
  F_rate.resize(n);
  F_bar.resize(n);
  X_bar.resize(n);
  V_bar.resize(n);
  A_bar.resize(n);
  bias.resize(n_v);
  a.resize(n_v);
  work_q.resize(model.n_q);
  work.resize(8 * n_v);
}

template <class S>
Data<S>::~Data() = default;

extern template struct Data<double>;

}  // namespace robosim

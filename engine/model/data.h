// Data<S>: the workspace of the algorithms over one Model, grouped by stage. Nothing in it is state: each algorithm fills
// what it names and reads only that and what its comment asks for. All memory is taken here, so that no algorithm allocates.
//
// Entries are per body unless said otherwise; entry 0 is the world. Spatial vectors are in the body's own frame.
#pragma once

#include <vector>

#include "model/model.h"
#include "spatial/spatial_inertia.h"

namespace robosim {

template <class S>
struct Data {
  // Position stage, computed by forward_kinematics (X_PC also by rnea, crba and aba).
  std::vector<SE3<S>> X_PC;  // child body in parent body
  std::vector<SE3<S>> X_WB;  // body in world

  // Velocity stage, computed by forward_kinematics with v, rnea and aba.
  std::vector<Motion<S>> V;  // velocity [rad/s, m/s]

  // Acceleration stage.
  std::vector<Motion<S>> A;    // spatial acceleration [rad/s^2, m/s^2], computed by forward_kinematics with a
  std::vector<Motion<S>> A_g;  // the same minus gravity, as if the world fell upwards; computed by rnea and aba

  // Inverse dynamics, computed by rnea.
  std::vector<Force<S>> F;  // through the joint, from parent on body [N m, N]

  // Mass matrix, computed by crba.
  std::vector<CompositeInertia<S>> I_c;  // of the body and everything behind it

  // Forward dynamics, computed by aba.
  std::vector<ArticulatedInertia<S>> I_A;  // of the body with all joints behind it free
  std::vector<Force<S>> p_A;               // force that keeps it from accelerating
  std::vector<Motion<S>> c;                // velocity-product acceleration
  std::vector<Force<S>> U;                 // per v: I_A S
  std::vector<Force<S>> UD;                // per v: U D^-1
  std::vector<S> Du;                       // per v: D^-1 (tau - S^T p_A)

  // Forward dynamics of models with mimic joints, computed by forward_dynamics.
  std::vector<S> M;  // n_v x n_v, row by row, the mass matrix and then its factor
  std::vector<S> h;  // per v, nonlinear effects

  // Forces on bodies that callers of rnea and aba may use to pass external ones; never touched otherwise.
  std::vector<Force<S>> external;

  explicit Data(const Model& model) {
    const std::size_t n = static_cast<std::size_t>(model.n_bodies()), n_v = static_cast<std::size_t>(model.n_v);
    X_PC.resize(n), X_WB.resize(n), V.resize(n), A.resize(n), A_g.resize(n), F.resize(n), I_c.resize(n);
    I_A.resize(n), p_A.resize(n), c.resize(n), U.resize(n_v), UD.resize(n_v), Du.resize(n_v);
    M.resize(model.has_mimic ? n_v * n_v : 0), h.resize(n_v), external.resize(n);
  }
};

}  // namespace robosim

// Operations: inverse and forward dynamics, mass matrix and forces.
#pragma once

#include "dynamics/crba.h"
#include "dynamics/energy.h"
#include "dynamics/forward_dynamics.h"
#include "dynamics/operations/arguments.h"
#include "dynamics/operations/own_forces.h"

namespace robosim {
namespace operations {

struct Rnea {
  static constexpr const char* name = "rnea";
  static constexpr Argument inputs[] = {q, v, a}, outputs[] = {tau};
  static constexpr bool takes_wrenches = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    rnea(model, data, call.in[0], call.in[1], call.in[2], call.out[0], call.wrenches);
    detail::leave_drives(model, data, call, call.in[0], call.in[1], call.out[0]);
  }
};

struct NonlinearEffects {
  static constexpr const char* name = "nonlinear_effects";
  static constexpr Argument inputs[] = {q, v}, outputs[] = {vector("h")};
  static constexpr bool takes_wrenches = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    nonlinear_effects(model, data, call.in[0], call.in[1], call.out[0], call.wrenches);
  }
};

struct GravityForces {
  static constexpr const char* name = "gravity_forces";
  static constexpr Argument inputs[] = {q}, outputs[] = {vector("g")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    gravity_forces(model, data, call.in[0], call.out[0]);
  }
};

struct Crba {
  static constexpr const char* name = "crba";
  static constexpr Argument inputs[] = {q}, outputs[] = {square("M", Pattern::tree_lower)};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    crba_lower(model, data, call.in[0], call.out[0]);
  }
};

struct MassInverse {
  static constexpr const char* name = "mass_matrix_inverse";
  static constexpr Argument inputs[] = {q}, outputs[] = {square("M_inverse", Pattern::upper)};
  static constexpr bool solves = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    S* L = data.take_L(model);
    crba_lower(model, data, call.in[0], L);
    mass_factor(model, L);
    mass_inverse(model, L, data.matrix_a, call.out[0]);
  }
};

struct ForwardDynamics {
  static constexpr const char* name = "forward_dynamics";
  static constexpr Argument inputs[] = {q, v, tau}, outputs[] = {a};
  static constexpr bool takes_wrenches = true, solves = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    const S* all = detail::all_forces(model, data, call, call.in[0], call.in[1], call.in[2]);
    forward_dynamics(model, data, call.in[0], call.in[1], all, call.out[0], call.wrenches);
  }
};

struct JointForces {
  static constexpr const char* name = "joint_forces";
  static constexpr Argument inputs[] = {q, v}, outputs[] = {tau};
  static constexpr bool uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>&, const Call<S>& call) {
    joint_forces(model, call.in[0], call.in[1], call.out[0]);
  }
};

// Diagonals of the derivatives, by the argument of differentiation.
struct JointForceDerivatives {
  static constexpr const char* name = "joint_force_derivatives";
  static constexpr Argument inputs[] = {q, v}, outputs[] = {vector("q"),
                                                            vector("v"),
                                                            vector("damping"),
                                                            vector("friction"),
                                                            vector("friction_width"),
                                                            vector("stiffness"),
                                                            vector("spring_reference")};
  static constexpr bool uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>&, const Call<S>& call) {
    S* const* out = call.out;
    joint_force_slopes(model, call.in[1], out[0], out[1]);
    joint_force_parameter_derivatives(
        model, call.in[0], call.in[1],
        JointForceParameters<S>{out[2], out[3], out[4], out[5], out[6]});
  }
};

struct KineticEnergy {
  static constexpr const char* name = "kinetic_energy";
  static constexpr Argument inputs[] = {q, v}, outputs[] = {{"T", 0, {}}};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    position_stage(model, data, call.in[0]);
    forward_velocities(model, data, call.in[1]);
    call.out[0][0] = kinetic_energy(model, data, call.in[1]);
  }
};

struct PotentialEnergy {
  static constexpr const char* name = "potential_energy";
  static constexpr Argument inputs[] = {q}, outputs[] = {{"U", 0, {}}};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    forward_kinematics(model, data, call.in[0]);
    call.out[0][0] = potential_energy(model, data) + spring_energy(model, call.in[0]);
  }
};

}  // namespace operations

using ValueOperations =
    OperationList<operations::Rnea, operations::NonlinearEffects, operations::GravityForces,
                  operations::Crba, operations::MassInverse, operations::ForwardDynamics,
                  operations::JointForces, operations::JointForceDerivatives,
                  operations::KineticEnergy, operations::PotentialEnergy>;

}  // namespace robosim

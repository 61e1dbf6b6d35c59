// Operations: center of mass, centroidal momentum, the Coriolis matrix, and the gradients of
// gravity forces and energies.
#pragma once

#include "dynamics/centroidal.h"
#include "dynamics/coriolis.h"
#include "dynamics/energy_derivatives.h"
#include "dynamics/operations/arguments.h"

namespace robosim {
namespace operations {

namespace detail {

constexpr Argument point(const char* name) { return {name, 1, {3, 0, 0}}; }
constexpr Argument spatial(const char* name) { return {name, 1, {6, 0, 0}}; }
constexpr Argument spatial_matrix(const char* name) { return {name, 2, {6, dim_v, 0}}; }

template <class S>
void write_point(const Vec3<S>& p, S* out) {
  for (int i = 0; i < 3; ++i) out[i] = p[i];
}

}  // namespace detail

struct CenterOfMass {
  static constexpr const char* name = "center_of_mass";
  static constexpr Argument inputs[] = {q}, outputs[] = {detail::point("c")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    forward_kinematics(model, data, call.in[0]);
    detail::write_point(center_of_mass(model, data), call.out[0]);
  }
};

struct CenterOfMassVelocity {
  static constexpr const char* name = "center_of_mass_velocity";
  static constexpr Argument inputs[] = {q, v}, outputs[] = {detail::point("c_dot")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    position_stage(model, data, call.in[0]);
    forward_velocities(model, data, call.in[1]);
    detail::write_point(center_of_mass_velocity(model, data), call.out[0]);
  }
};

struct CenterOfMassAcceleration {
  static constexpr const char* name = "center_of_mass_acceleration";
  static constexpr Argument inputs[] = {q, v, a}, outputs[] = {detail::point("c_ddot")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    position_stage(model, data, call.in[0]);
    forward_accelerations(model, data, call.in[1], call.in[2]);
    detail::write_point(center_of_mass_acceleration(model, data), call.out[0]);
  }
};

struct CenterOfMassJacobian {
  static constexpr const char* name = "center_of_mass_jacobian";
  static constexpr Argument inputs[] = {q}, outputs[] = {{"J", 2, {3, dim_v, 0}}};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    position_stage(model, data, call.in[0]);
    mass_moments(model, data);
    center_of_mass_jacobian(model, data, call.out[0]);
  }
};

struct CentroidalMomentum {
  static constexpr const char* name = "centroidal_momentum";
  static constexpr Argument inputs[] = {q, v}, outputs[] = {detail::spatial("h")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    centroidal_momentum(model, data, call.in[0], call.in[1], call.out[0]);
  }
};

struct CentroidalMomentumRate {
  static constexpr const char* name = "centroidal_momentum_rate";
  static constexpr Argument inputs[] = {q, v, a},
                            outputs[] = {detail::spatial("h"), detail::spatial("h_dot")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    centroidal_momentum_rate(model, data, call.in[0], call.in[1], call.in[2], call.out[0],
                             call.out[1]);
  }
};

struct CentroidalMomentumMatrix {
  static constexpr const char* name = "centroidal_momentum_matrix";
  static constexpr Argument inputs[] = {q}, outputs[] = {detail::spatial_matrix("A")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    centroidal_momentum_matrix(model, data, call.in[0], call.out[0]);
  }
};

struct CentroidalMomentumMatrixRate {
  static constexpr const char* name = "centroidal_momentum_matrix_dot";
  static constexpr Argument inputs[] = {q, v}, outputs[] = {detail::spatial_matrix("A"),
                                                            detail::spatial_matrix("A_dot")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    centroidal_momentum_matrix_dot(model, data, call.in[0], call.in[1], call.out[0], call.out[1]);
  }
};

struct CentroidalMomentumDerivatives {
  static constexpr const char* name = "centroidal_momentum_derivatives";
  static constexpr Argument inputs[] = {q, v, a}, outputs[] = {detail::spatial_matrix("dh_dq"),
                                                               detail::spatial_matrix("dhdot_dq"),
                                                               detail::spatial_matrix("dhdot_dv"),
                                                               detail::spatial_matrix("dhdot_da")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    centroidal_momentum_derivatives(model, data, call.in[0], call.in[1], call.in[2], call.out[0],
                                    call.out[1], call.out[2], call.out[3]);
  }
};

struct CoriolisMatrix {
  static constexpr const char* name = "coriolis_matrix";
  static constexpr Argument inputs[] = {q, v}, outputs[] = {square("C")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    coriolis_matrix(model, data, call.in[0], call.in[1], call.out[0]);
  }
};

struct GravityForcesDerivatives {
  static constexpr const char* name = "gravity_forces_derivatives";
  static constexpr Argument inputs[] = {q}, outputs[] = {square("dg_dq")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    gravity_forces_derivatives(model, data, call.in[0], call.out[0]);
  }
};

struct KineticEnergyDerivatives {
  static constexpr const char* name = "kinetic_energy_derivatives";
  static constexpr Argument inputs[] = {q, v}, outputs[] = {vector("dT_dq"), vector("dT_dv")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    kinetic_energy_derivatives(model, data, call.in[0], call.in[1], call.out[0], call.out[1]);
  }
};

}  // namespace operations

using MomentumOperations =
    OperationList<operations::CenterOfMass, operations::CenterOfMassVelocity,
                  operations::CenterOfMassAcceleration, operations::CenterOfMassJacobian,
                  operations::CentroidalMomentum, operations::CentroidalMomentumRate,
                  operations::CentroidalMomentumMatrix, operations::CentroidalMomentumMatrixRate,
                  operations::CentroidalMomentumDerivatives, operations::CoriolisMatrix,
                  operations::GravityForcesDerivatives, operations::KineticEnergyDerivatives>;

}  // namespace robosim

// Operations: kinematics and dynamics themselves.
#pragma once

#include "dynamics/energy.h"
#include "dynamics/forward_dynamics.h"
#include "dynamics/jacobian.h"
#include "dynamics/joint_forces.h"
#include "dynamics/operations/arguments.h"

namespace robosim {
namespace operations {

namespace detail {

template <class S>
void positions(const Model& model, Data<S>& data, const Call<S>& call) {
  forward_kinematics(model, data, call.in[0]);
  motion_subspaces(model, data);
}

// Of forward dynamics: tau and, where they act, the joints' own forces, to the place of the result.
template <class S>
void total_forces(const Model& model, const Call<S>& call) {
  S* total = call.out[0];
  if (call.options.joint_forces) joint_forces(model, call.in[0], call.in[1], total);
  for (int k = 0; k < model.n_v; ++k) total[k] = call.options.joint_forces ? total[k] + call.in[2][k] : call.in[2][k];
}

// Public 6-vectors are (linear; angular).
template <class S>
void write_motion(const Motion<S>& V, S* out) {
  for (int i = 0; i < 3; ++i) out[i] = V.linear[i], out[3 + i] = V.angular[i];
}

}  // namespace detail

struct FramePoses {
  static constexpr const char* name = "frame_poses";
  static constexpr Argument inputs[] = {q}, outputs[] = {{"X_WF", 3, {dim_frames, 4, 4}}};
  static constexpr bool takes_frames = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    forward_kinematics(model, data, call.in[0]);
    S* to = call.out[0];
    for (const int f : call.options.frames) {
      const SE3<S> X = frame_placement(model, data, model.frames[static_cast<std::size_t>(f)]);
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) *to++ = X.R(i, j);
        *to++ = X.p[i];
      }
      for (int j = 0; j < 4; ++j) *to++ = S(j == 3 ? 1 : 0);
    }
  }
};

struct FrameVelocities {
  static constexpr const char* name = "frame_velocities";
  static constexpr Argument inputs[] = {q, v}, outputs[] = {{"V", 2, {dim_frames, 6, 0}}};
  static constexpr bool takes_frames = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    detail::positions(model, data, call);
    forward_velocities(model, data, call.in[1]);
    S* to = call.out[0];
    for (const int f : call.options.frames) {
      detail::write_motion(frame_velocity(model, data, model.frames[static_cast<std::size_t>(f)], call.options.axes), to);
      to += 6;
    }
  }
};

struct FrameAccelerations {
  static constexpr const char* name = "frame_accelerations";
  static constexpr Argument inputs[] = {q, v, a}, outputs[] = {{"A", 2, {dim_frames, 6, 0}}};
  static constexpr bool takes_frames = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    detail::positions(model, data, call);
    forward_accelerations(model, data, call.in[1], call.in[2]);
    S* to = call.out[0];
    for (const int f : call.options.frames) {
      detail::write_motion(frame_acceleration(model, data, model.frames[static_cast<std::size_t>(f)], call.options.axes), to);
      to += 6;
    }
  }
};

struct FrameJacobians {
  static constexpr const char* name = "frame_jacobians";
  static constexpr Argument inputs[] = {q}, outputs[] = {{"J", 3, {dim_frames, 6, dim_v}}};
  static constexpr bool takes_frames = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    detail::positions(model, data, call);
    S* to = call.out[0];
    for (const int f : call.options.frames) {
      frame_jacobian(model, data, model.frames[static_cast<std::size_t>(f)], call.options.axes, to);
      to += 6 * model.n_v;
    }
  }
};

struct Rnea {
  static constexpr const char* name = "rnea";
  static constexpr Argument inputs[] = {q, v, a}, outputs[] = {tau};
  static constexpr bool takes_wrenches = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    rnea(model, data, call.in[0], call.in[1], call.in[2], call.out[0], call.wrenches);
    if (!call.options.joint_forces) return;
    joint_forces(model, call.in[0], call.in[1], data.bias.data());
    for (int k = 0; k < model.n_v; ++k) call.out[0][k] -= data.bias[k];
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
  static constexpr Argument inputs[] = {q}, outputs[] = {square("M")};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    crba(model, data, call.in[0], call.out[0]);
  }
};

struct MassInverse {
  static constexpr const char* name = "mass_matrix_inverse";
  static constexpr Argument inputs[] = {q}, outputs[] = {square("M_inverse")};
  static constexpr bool solves = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    crba(model, data, call.in[0], data.M.data());
    mass_factor(model, data.M.data(), data.L.data());
    mass_inverse(model, data.L.data(), data.matrix_a.data(), call.out[0]);
  }
};

struct ForwardDynamics {
  static constexpr const char* name = "forward_dynamics";
  static constexpr Argument inputs[] = {q, v, tau}, outputs[] = {a};
  static constexpr bool takes_wrenches = true, solves = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    detail::total_forces(model, call);
    forward_dynamics(model, data, call.in[0], call.in[1], call.out[0], call.out[0], call.wrenches);
  }
};

struct KineticEnergy {
  static constexpr const char* name = "kinetic_energy";
  static constexpr Argument inputs[] = {q, v}, outputs[] = {{"T", 0, {}}};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    detail::positions(model, data, call);
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

struct MassMoment {
  static constexpr const char* name = "mass_moment";
  static constexpr Argument inputs[] = {q}, outputs[] = {{"mp", 1, {3, 0, 0}}};
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    forward_kinematics(model, data, call.in[0]);
    const Vec3<S> moment = mass_moment(model, data);
    for (int i = 0; i < 3; ++i) call.out[0][i] = moment[i];
  }
};

}  // namespace operations

using ValueOperations =
    OperationList<operations::FramePoses, operations::FrameVelocities, operations::FrameAccelerations, operations::FrameJacobians,
                  operations::Rnea, operations::NonlinearEffects, operations::GravityForces, operations::Crba,
                  operations::MassInverse, operations::ForwardDynamics, operations::KineticEnergy, operations::PotentialEnergy,
                  operations::MassMoment>;

}  // namespace robosim

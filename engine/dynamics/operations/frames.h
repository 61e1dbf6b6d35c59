// Operations: poses, velocities, accelerations and Jacobians of frames, or of points fixed in them,
// with their derivatives. `points` are in the frames' own coordinates. Results are at the point, in
// the axes of Options.
#pragma once

#include "dynamics/kinematics_derivatives.h"
#include "dynamics/operations/arguments.h"

namespace robosim {
namespace operations {

namespace detail {

inline constexpr Argument points{"point", 2, {dim_frames, 3, 0}};

constexpr Argument frame_vector(const char* name) { return {name, 2, {dim_frames, 6, 0}}; }
constexpr Argument frame_matrix(const char* name) { return {name, 3, {dim_frames, 6, dim_v}}; }

// Call f(frame, its point, its index among the frames) for each frame.
template <class S, class F>
void for_each_frame(const Model& model, const Call<S>& call, const S* of_frame, F&& f) {
  const int n = static_cast<int>(call.options.frames.size());
  for (int k = 0; k < n; ++k, of_frame += 3)
    f(model.frames[call.options.frames[k]], Vec3<S>{of_frame[0], of_frame[1], of_frame[2]}, k);
}

// Public 6-vectors are (linear; angular).
template <class S>
void write_motion(const Motion<S>& V, S* out) {
  for (int i = 0; i < 3; ++i) {
    out[i] = V.linear[i];
    out[3 + i] = V.angular[i];
  }
}

}  // namespace detail

struct FramePoses {
  static constexpr const char* name = "frame_poses";
  static constexpr Argument inputs[] = {q}, outputs[] = {{"X_WF", 3, {dim_frames, 4, 4}}};
  static constexpr bool takes_frames = true, uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    forward_kinematics(model, data, call.in[0]);
    S* to = call.out[0];
    for (const int f : call.options.frames) {
      const SE3<S> X = frame_placement(model, data, model.frames[f]);
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
  static constexpr Argument inputs[] = {q, v, detail::points},
                            outputs[] = {detail::frame_vector("V")};
  static constexpr bool takes_frames = true, uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    position_stage(model, data, call.in[0]);
    forward_velocities(model, data, call.in[1]);
    detail::for_each_frame(
        model, call, call.in[2], [&](const Frame& frame, const Vec3<S>& point, int k) {
          detail::write_motion(frame_velocity(model, data, frame, call.options.axes, point),
                               call.out[0] + 6 * k);
        });
  }
};

struct FrameAccelerations {
  static constexpr const char* name = "frame_accelerations";
  static constexpr Argument inputs[] = {q, v, a, detail::points},
                            outputs[] = {detail::frame_vector("A")};
  static constexpr bool takes_frames = true, uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    position_stage(model, data, call.in[0]);
    forward_accelerations(model, data, call.in[1], call.in[2]);
    detail::for_each_frame(
        model, call, call.in[3], [&](const Frame& frame, const Vec3<S>& point, int k) {
          detail::write_motion(frame_acceleration(model, data, frame, call.options.axes, point),
                               call.out[0] + 6 * k);
        });
  }
};

struct FrameJacobians {
  static constexpr const char* name = "frame_jacobians";
  static constexpr Argument inputs[] = {q, detail::points}, outputs[] = {detail::frame_matrix("J")};
  static constexpr bool takes_frames = true, uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    position_stage(model, data, call.in[0]);
    detail::for_each_frame(model, call, call.in[1],
                           [&](const Frame& frame, const Vec3<S>& point, int k) {
                             frame_jacobian(model, data, frame, call.options.axes,
                                            call.out[0] + 6 * model.n_v * k, point);
                           });
  }
};

struct FrameJacobianRates {
  static constexpr const char* name = "frame_jacobians_dot";
  static constexpr Argument inputs[] = {q, v, detail::points},
                            outputs[] = {detail::frame_matrix("J_dot")};
  static constexpr bool takes_frames = true, uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    position_stage(model, data, call.in[0]);
    forward_velocities(model, data, call.in[1]);
    detail::for_each_frame(model, call, call.in[2],
                           [&](const Frame& frame, const Vec3<S>& point, int k) {
                             frame_jacobian_dot(model, data, frame, call.options.axes,
                                                call.out[0] + 6 * model.n_v * k, point);
                           });
  }
};

struct FrameVelocityDerivatives {
  static constexpr const char* name = "frame_velocity_derivatives";
  static constexpr Argument inputs[] = {q, v, detail::points},
                            outputs[] = {detail::frame_matrix("dV_dq"),
                                         detail::frame_matrix("dV_dv")};
  static constexpr bool takes_frames = true, uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    position_stage(model, data, call.in[0]);
    forward_velocities(model, data, call.in[1]);
    detail::for_each_frame(model, call, call.in[2],
                           [&](const Frame& frame, const Vec3<S>& point, int k) {
                             const int at = 6 * model.n_v * k;
                             frame_velocity_derivatives(model, data, frame, call.options.axes,
                                                        call.out[0] + at, call.out[1] + at, point);
                           });
  }
};

struct FrameAccelerationDerivatives {
  static constexpr const char* name = "frame_acceleration_derivatives";
  static constexpr Argument inputs[] = {q, v, a, detail::points},
                            outputs[] = {
                                detail::frame_matrix("dV_dq"), detail::frame_matrix("dA_dq"),
                                detail::frame_matrix("dA_dv"), detail::frame_matrix("dA_da")};
  static constexpr bool takes_frames = true, uses_inertia = false;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    position_stage(model, data, call.in[0]);
    forward_accelerations(model, data, call.in[1], call.in[2]);
    detail::for_each_frame(
        model, call, call.in[3], [&](const Frame& frame, const Vec3<S>& point, int k) {
          const int at = 6 * model.n_v * k;
          frame_acceleration_derivatives(model, data, frame, call.options.axes, call.out[0] + at,
                                         call.out[1] + at, call.out[2] + at, call.out[3] + at,
                                         point);
        });
  }
};

}  // namespace operations

using FrameOperations =
    OperationList<operations::FramePoses, operations::FrameVelocities,
                  operations::FrameAccelerations, operations::FrameJacobians,
                  operations::FrameJacobianRates, operations::FrameVelocityDerivatives,
                  operations::FrameAccelerationDerivatives>;

}  // namespace robosim

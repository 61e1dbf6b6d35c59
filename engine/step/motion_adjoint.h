// MotionAdjoint: gradient with respect to the motion of bodies. Covectors on motions of frames,
// shapes and velocities are collected on the joints that cause these motions.
//
// Let J_c be the columns of the joints, F a covector on a block's channels (a force on a body,
// constant in the world), and V the velocities of the bodies. The product F . V_b changes by
//
//   d(F . V_b)/dq_c = F . (J_c x (V_b - V_p)) = J_c . ((V_b - V_p) x* F)
//
// with c a joint on the path to body b, and p the parent of that joint.
//
// These forces are summed per joint in `turned`. Forces that move with a body are summed in
// `carried`, for all joints on the path to the body. gather projects both on the columns and, if
// requested, on the placements of the joints, which move the same bodies.
#pragma once

#include <vector>

#include "step/step_data.h"
#include "step/step_gradient.h"

namespace robosim {

struct MotionAdjoint {
  std::vector<Force<double>> turned, carried;  // per body

  void reset(int n_bodies) {
    for (auto* x : {&turned, &carried})
      x->assign(static_cast<std::size_t>(n_bodies), Force<double>());
  }

  // Add the product of a force F with the velocity of a body. rates: joint velocities. Return the
  // body's angular velocity.
  Vec3d add_velocity(const StepData& step, int body, const Force<double>& F, const double* rates);
  // Add a force and its moment about the origin of W on the motion of a frame: to the frame's own
  // twist [linear; angular], and to the body that carries the frame.
  void add_frame(const StepData& step, int body, const SE3d& X_WF, const Vec3d& linear,
                 const Vec3d& about_W, double* pose_bar);
  // Add a covector on the twist of an object's piece, [linear; angular] in the piece's frame.
  void add_shape(const StepData& step, int object, int piece, const double* twist_bar,
                 StepGradient& gradient);

  void gather(const StepData& step, double* q_bar, double* placement_bar);
};

// Covector on the channels of a block, as a force about O on body b. Body a has the opposite force.
Force<double> channel_force(const StepData& step, const StepIsland& island, std::size_t block,
                            const double* covector);

}  // namespace robosim

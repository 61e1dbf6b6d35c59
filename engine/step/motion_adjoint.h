// How a loss changes as bodies move: covectors on motions of frames, shapes and velocities,
// gathered on the joints that make these move.
//
// With the channels' columns J_c a covector F on a block's channels (a force on a body, held in the
// world) meets the velocities V of the bodies as F . V_b, and
//
//   d(F . V_b)/dq_c = F . (J_c x (V_b - V_p)) = J_c . ((V_b - V_p) x* F)      c of a joint on the
//                                                                             way to body b, p the
//                                                                             joint's parent
//
// Per joint these forces are summed in `turned`, and in `carried` what moves with a body, for all
// joints on the way to it; gather puts both on the columns and, where it is asked for, on the
// joints' placement, which moves the same bodies.
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

  // A force F on a body that meets its velocity, that of the joints' rates. Returns the body's
  // angular velocity.
  Vec3d add_velocity(const StepData& step, int body, const Force<double>& F, const double* rates);
  // A force and its moment about the origin of W on the motion of a frame: on the frame's own twist
  // [linear; angular], and on the body that carries it.
  void add_frame(const StepData& step, int body, const SE3d& X_WF, const Vec3d& linear,
                 const Vec3d& about_W, double* pose_bar);
  // A covector on the twist of an object's piece, [linear; angular] in the piece's frame.
  void add_shape(const StepData& step, int object, int piece, const double* twist_bar,
                 StepGradient& gradient);

  void gather(const StepData& step, double* q_bar, double* placement_bar);
};

// A covector on the channels of a block, as a force about O on the one body, and its opposite on
// the other.
Force<double> channel_force(const StepData& step, const StepIsland& island, std::size_t block,
                            const double* covector);

}  // namespace robosim

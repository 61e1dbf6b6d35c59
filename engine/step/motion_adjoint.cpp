#include "step/motion_adjoint.h"

#include "base/index.h"
#include "dynamics/kinematics.h"
#include "dynamics/parameter_derivatives.h"

namespace robosim {

Force<double> channel_force(const StepData& step, const StepIsland& island, std::size_t b,
                            const double* covector) {
  const StepIsland::Block& block = island.blocks[b];
  const Vec3d linear = vec3_at(covector + block.linear());
  return {(block.turns ? block.size * vec3_at(covector) : Vec3d()) +
              cross(block.center - step.dynamics.X_WB[1].p, linear),
          linear};
}

Vec3d MotionAdjoint::add_velocity(const StepData& step, int body, const Force<double>& F,
                                  const double* rates) {
  const Model& m = step.model();
  Motion<double> V;  // of the body relative to joint i's parent
  for (int i = body; i > 0; i = m.joints[i].parent) {
    V = V + joint_motion(step.dynamics, m.joints[i], rates + m.joints[i].v_index);
    turned[i] += cross(V, F);
  }
  return V.angular;
}

void MotionAdjoint::add_frame(const StepData& step, int body, const SE3d& X_WF, const Vec3d& linear,
                              const Vec3d& about_W, double* pose_bar) {
  const Vec3d own_linear = transpose_times(X_WF.R, linear),
              own_angular = transpose_times(X_WF.R, about_W - cross(X_WF.p, linear));
  for (int k = 0; k < 3; ++k) {
    pose_bar[k] += own_linear[k];
    pose_bar[3 + k] += own_angular[k];
  }
  if (body > 0)
    carried[body] += Force<double>{about_W - cross(step.dynamics.X_WB[1].p, linear), linear};
}

void MotionAdjoint::add_shape(const StepData& step, int object, int piece, const double* twist_bar,
                              StepGradient& gradient) {
  const SceneObject& o = step.object(object);
  const SE3d &X_WO = step.query.X_WO(object),
             X = o.geometry.body().with_piece(
                 piece, [&](const Compound::Piece&p) { return X_WO * p.X_BP; });
  const Vec3d linear = X.R * vec3_at(twist_bar),
              about_W = X.R * vec3_at(twist_bar + 3) + cross(X.p, linear);
  add_frame(step, o.body, X_WO, linear, about_W, gradient.parameters.of("pose", object));
}

void MotionAdjoint::gather(const StepData& step, double* q_bar, double* placement_bar) {
  const Model& m = step.model();
  for (int i = m.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = m.joints[i];
    const Force<double> X = turned[i] + carried[i];
    if (joint.parent > 0) carried[joint.parent] += carried[i];
    for (int k = 0; k < joint.n_v; ++k)
      q_bar[joint.v_index + k] += dot(step.dynamics.J[joint.column + k], X);
    if (!placement_bar) continue;
    double along[6];
    detail::along_placement(m, step.dynamics, i, X, along);
    for (int k = 0; k < 6; ++k) placement_bar[6 * (i - 1) + k] += along[k];
  }
}

}  // namespace robosim

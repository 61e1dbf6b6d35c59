#include "step/constraints/frame_closure.h"

#include <algorithm>

#include "base/index.h"
#include "spatial/lie.h"
#include "step/constraints/constraint_kinds.h"
#include "step/constraints/recovery.h"

namespace robosim {
namespace {

// Frames F and G in the world, and their errors e and theta.
struct Apart {
  SE3d X_WF, X_WG;
  Vec3d e, theta;

  Apart(const FrameClosure& closure, const Data<double>& data)
      : X_WF(data.X_WB[closure.a] * closure.X_AF), X_WG(data.X_WB[closure.b] * closure.X_BG) {
    e = transpose_times(X_WF.R, X_WG.p - X_WF.p);
    if (closure.is_weld) theta = log_rotation(transpose(X_WF.R) * X_WG.R);
  }
  double error(int k) const { return k < 3 ? e[k] : theta[k - 3]; }
  Vec3d axis(int k) const { return {X_WF.R(0, k % 3), X_WF.R(1, k % 3), X_WF.R(2, k % 3)}; }
};

}  // namespace

void ClosureOfFrames::join(RowAssembly& rows) {
  const World& world = *rows.step().world;
  for (const FrameClosure& closure : world.closures().frames)
    rows.join(world.tree_of_body(closure.a), world.tree_of_body(closure.b));
}

void ClosureOfFrames::add_blocks(RowAssembly& rows, const StepInput&) {
  const StepData& step = rows.step();
  const std::vector<FrameClosure>& closures = step.world->closures().frames;
  for (std::size_t c = 0; c < closures.size(); ++c) {
    const FrameClosure& closure = closures[c];
    const Apart apart(closure, step.dynamics);
    StepIsland& island = rows.island_of_bodies(closure.a, closure.b);
    StepIsland::Block block;
    block.item = static_cast<int>(c);
    block.a = closure.a;
    block.b = closure.b;
    block.center = apart.X_WG.p;
    // Size: the longer distance of the center from the two bodies' joints.
    const auto arm = [&](int body) {
      return body > 0 ? norm(apart.X_WG.p - step.dynamics.X_WB[body].p) : 0.0;
    };
    const double longest = std::max(arm(closure.a), arm(closure.b));
    if (longest > 0) block.size = longest;
    RowAssembly::add_block<ClosureOfFrames>(island, block, 6);
    for (int k = 0; k < (closure.is_weld ? 6 : 3); ++k) {
      if (k < 3 && !closure.is_held[k]) continue;
      ConstraintRow& row = RowAssembly::add_row<ClosureOfFrames>(island, held, k);
      row.kind = RowKind::equality;
      const Vec3d axis = apart.axis(k);
      for (int i = 0; i < 3; ++i) row.d[k < 3 ? 3 + i : i] = k < 3 ? axis[i] : axis[i] / block.size;
    }
  }
}

void ClosureOfFrames::set_targets(const StepData& step, const StepInput&, StepIsland& island,
                                  std::size_t b) {
  const Apart apart(step.world->closures().frames[island.blocks[b].item], step.dynamics);
  const RowBlock& rows = island.problem.blocks[b];
  for (int i = rows.first_row; i < rows.last_row; ++i) {
    const Recovery taken = take_back(step, apart.error(island.rows[i].point));
    island.problem.rows[i].target = taken.target;
    island.rows[i].keeping = taken.keeping;
  }
}

void ClosureOfFrames::add_vjp(const StepIsland& island, std::size_t b, const StepAdjoint& to) {
  const StepIsland::Block& block = island.blocks[b];
  const RowBlock& rows = island.problem.blocks[b];
  const FrameClosure& closure = to.step.world->closures().frames[block.item];
  const Apart apart(closure, to.step.dynamics);
  // Gradients with respect to F's axes, G's origin, e and theta.
  Vec3d turning_F, p_bar, e_bar, theta_bar;
  for (int i = rows.first_row; i < rows.last_row; ++i) {
    const int k = island.rows[i].point;
    const Recovery taken = take_back(to.step, apart.error(k));
    const double target_bar = is_clipped(island, i) ? 0 : island.gradient.target[i],
                 error_bar = taken.rate * target_bar;
    *to.of("dt") += taken.by_dt * target_bar;
    const double* const d_bar = &island.gradient.d[i * most_block_channels];
    const Vec3d axis = apart.axis(k), angular_bar = (1 / block.size) * vec3_at(d_bar);
    if (k < 3) {
      turning_F += cross(axis, vec3_at(d_bar + 3));
      p_bar += cross(axis, angular_bar);
      e_bar[k] = error_bar;
    } else {
      turning_F += cross(axis, angular_bar);
      theta_bar[k - 3] = error_bar;
    }
  }
  // As a force at G's origin and a moment: e and theta depend on the motion of G relative to F
  // there.
  const Vec3d force = apart.X_WF.R * e_bar,
              moment = apart.X_WF.R * inverse_left_jacobian_times(-apart.theta, theta_bar);
  double twist_bar[2][6] = {};  // for F and for G
  const auto about_W = [&](const Vec3d& about, const Vec3d& linear) {
    return about + cross(apart.X_WG.p, linear);
  };
  to.bodies.add_frame(to.step, closure.b, apart.X_WG, force + p_bar, about_W(moment, force + p_bar),
                      twist_bar[1]);
  to.bodies.add_frame(to.step, closure.a, apart.X_WF, -force, about_W(turning_F - moment, -force),
                      twist_bar[0]);
  double* const frames_bar = to.of("frames", block.item);
  for (int k = 0; k < 6; ++k)
    for (const int frame : {0, 1}) frames_bar[2 * k + frame] += twist_bar[frame][k];
}

}  // namespace robosim

// Rows of closures (closures.h): equalities, of which a part `erp` of what is apart is taken back in a step.
//
// Of two frames F and G the channels are size omega and v of b against a at G's origin, as of a contact. With e = R_F^T (p_G - p_F) and
// theta = log(R_F^T R_G)
//   de/dt = R_F^T v(p_G),   d theta/dt = Jl^-1(theta) R_F^T omega        (v, omega: of b against a; Jl as in spatial/lie.h)
// so the rows are F's axes, exactly so for e however far the frames have come apart, and  R_F^T omega = -(erp/dt) theta  turns back along theta.
//
// Of two joints the channels are the two coordinates, and the row is (1, -slope).
#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "spatial/lie.h"
#include "step/step.h"

namespace robosim {
namespace {

// F and G in the world, and how far they are from each other: e and theta.
struct Apart {
  SE3d X_WF, X_WG;
  Vec3d e, theta;

  Apart(const FrameClosure& closure, const Data<double>& data) : X_WF(data.X_WB[at(closure.a)] * closure.X_AF), X_WG(data.X_WB[at(closure.b)] * closure.X_BG) {
    e = transpose_times(X_WF.R, X_WG.p - X_WF.p);
    if (closure.is_weld) theta = log_rotation(transpose(X_WF.R) * X_WG.R);
  }
  double error(int k) const { return k < 3 ? e[k] : theta[k - 3]; }
  Vec3d axis(int k) const { return {X_WF.R(0, k % 3), X_WF.R(1, k % 3), X_WF.R(2, k % 3)}; }
};

}  // namespace

JointEquality::Value Stepper::law_of(const JointEquality& closure, const double* q) const {
  return closure.at(closure.a < 0 ? 0.0 : q[world_->coordinate(closure.a).q]);
}

void Stepper::add_closures(const double* q) {
  const Closures& closures = world_->closures();
  for (std::size_t c = 0; c < closures.frames.size(); ++c) {
    const FrameClosure& closure = closures.frames[c];
    const Apart apart(closure, data_);
    const int tree = world_->tree_of_body(closure.a);
    StepIsland& island = island_of(tree >= 0 ? tree : world_->tree_of_body(closure.b));
    StepIsland::Block block;
    block.closure = static_cast<int>(c), block.a = closure.a, block.b = closure.b, block.centre = apart.X_WG.p;
    // By the arms that turn about it: from the bodies' joints.
    const auto arm = [&](int body) { return body > 0 ? norm(apart.X_WG.p - data_.X_WB[at(body)].p) : 0.0; };
    const double longest = std::max(arm(closure.a), arm(closure.b));
    if (longest > 0) block.size = longest;
    add_block(island, block, 6);
    for (int k = 0; k < (closure.is_weld ? 6 : 3); ++k) {
      if (k < 3 && !closure.is_held[k]) continue;
      ConstraintRow& row = add_row(island, RowSource::closure, k);
      row.kind = RowKind::equality;
      const Vec3d axis = apart.axis(k);
      for (int i = 0; i < 3; ++i) row.d[k < 3 ? 3 + i : i] = k < 3 ? axis[i] : axis[i] / block.size;
    }
  }
  for (std::size_t c = 0; c < closures.joints.size(); ++c) {
    const JointEquality& closure = closures.joints[c];
    StepIsland& island = island_of(world_->tree_of_v(closure.b));
    StepIsland::Block block;
    block.equality = static_cast<int>(c), block.v = closure.b, block.v_of = closure.a;
    add_block(island, block, closure.a < 0 ? 1 : 2);
    ConstraintRow& row = add_row(island, RowSource::equality);
    row.kind = RowKind::equality, row.d[0] = 1;
    if (closure.a >= 0) row.d[1] = -law_of(closure, q).slope;
  }
}

void Stepper::fill_closure(StepIsland& island, std::size_t b, const double* q) {
  const StepIsland::Block& block = island.blocks[b];
  const RowBlock& rows = island.problem.blocks[b];
  const double rate = options_.erp / options_.dt;
  if (rows.first_row == rows.last_row) return;
  if (block.closure >= 0) {
    const Apart apart(world_->closures().frames[at(block.closure)], data_);
    for (int i = rows.first_row; i < rows.last_row; ++i) island.problem.rows[at(i)].target = -rate * apart.error(island.rows[at(i)].point);
    return;
  }
  const JointEquality& closure = world_->closures().joints[at(block.equality)];
  ConstraintRow& row = island.problem.rows[at(rows.first_row)];
  row.target = -rate * (q[world_->coordinate(closure.b).q] - law_of(closure, q).value);
}

void Stepper::add_closure_vjp(const StepIsland& island, std::size_t b, const double* q, StepGradient& gradient) {
  const StepIsland::Block& block = island.blocks[b];
  const RowBlock& rows = island.problem.blocks[b];
  if (rows.first_row == rows.last_row) return;
  const double dt = options_.dt, rate = options_.erp / dt;
  // By what a row's target takes back.
  const auto error_bar = [&](int i) {
    const double target_bar = island.is_relaxed && island.problem.rows[at(i)].target == 0 ? 0 : island.gradient.target[at(i)];
    *gradient.parameters.of("dt") -= island.problem.rows[at(i)].target / dt * target_bar;
    return -rate * target_bar;
  };
  const auto d_bar = [&](int i) { return &island.gradient.d[at(i * most_block_channels)]; };
  if (block.closure < 0) {
    const JointEquality& closure = world_->closures().joints[at(block.equality)];
    double* const bar = gradient.parameters.of("coefficients", block.equality);
    const double of_error = error_bar(rows.first_row);
    gradient.q[at(closure.b)] += of_error;
    bar[0] -= of_error;
    if (closure.a < 0) return;
    const double q_a = q[world_->coordinate(closure.a).q], of_slope = -d_bar(rows.first_row)[1];
    const JointEquality::Value p = law_of(closure, q);
    gradient.q[at(closure.a)] += p.curvature * of_slope - p.slope * of_error;
    double power = 1;  // q_a^(k-1)
    for (int k = 1; k < JointEquality::terms; ++k, power *= q_a) bar[k] += k * power * of_slope - power * q_a * of_error;
    return;
  }

  const FrameClosure& closure = world_->closures().frames[at(block.closure)];
  const Apart apart(closure, data_);
  // On F's axes, G's origin, e and theta.
  Vec3d turning_F, p_bar, e_bar, theta_bar;
  for (int i = rows.first_row; i < rows.last_row; ++i) {
    const int k = island.rows[at(i)].point;
    const double of_error = error_bar(i);
    const Vec3d axis = apart.axis(k), angular_bar = (1 / block.size) * vec3_at(d_bar(i));
    if (k < 3) {
      turning_F += cross(axis, vec3_at(d_bar(i) + 3)), p_bar += cross(axis, angular_bar);
      e_bar[k] = of_error;
    } else {
      turning_F += cross(axis, angular_bar);
      theta_bar[k - 3] = of_error;
    }
  }
  // As forces at G's origin and moments: e and theta see the motion of G against F there.
  const Vec3d force = apart.X_WF.R * e_bar, moment = apart.X_WF.R * inverse_left_jacobian_times(-apart.theta, theta_bar);
  double twist_bar[2][6] = {};  // of F and of G
  const auto about_W = [&](const Vec3d& about, const Vec3d& linear) { return about + cross(apart.X_WG.p, linear); };
  add_frame_motion(closure.b, apart.X_WG, force + p_bar, about_W(moment, force + p_bar), twist_bar[1]);
  add_frame_motion(closure.a, apart.X_WF, -force, about_W(turning_F - moment, -force), twist_bar[0]);
  double* const frames_bar = gradient.parameters.of("frames", block.closure);
  for (int k = 0; k < 6; ++k)
    for (const int frame : {0, 1}) frames_bar[2 * k + frame] += twist_bar[frame][k];
}

}  // namespace robosim

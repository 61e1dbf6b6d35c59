// What the next state changes by along one direction of everything that a step is a function of, without a matrix.
//
// As of the Jacobians (step_jacobians.cpp): with the impulses z held the new velocity u changes by
//   alpha = M^^-1 (-dr + dX^T z)
// which is one sweep of inverse dynamics' rates (rnea_products.h, parameter_derivatives.h) and one solve, and the impulses answer
//   du = alpha + Y dz,   dz_c = (d z_c / d y_free) . X alpha + (row c's gradient) . direction
// by one adjoint of the rows for each channel: six for two bodies, three where they touch at one point. Where impulses act within the step
// (impacts.cpp) the rows of the Jacobians are made, one gradient each, and multiplied.
#include <algorithm>

#include "base/index.h"
#include "dynamics/configuration.h"
#include "dynamics/mass_factor.h"
#include "dynamics/parameter_derivatives.h"
#include "geometry/bodies/compound_derivatives.h"
#include "step/step.h"

namespace robosim {
namespace {

Motion<double> twist(const double* linear_angular) {
  return {{linear_angular[3], linear_angular[4], linear_angular[5]}, {linear_angular[0], linear_angular[1], linear_angular[2]}};
}

}  // namespace

// -dr at fixed u, and where bodies go: displaced_.
void Stepper::add_free_motion_jvp(const double* q, const double* v, const StepControl& control, const StepGradient& direction, double* change) {
  const Model& m = world_->model();
  const ParameterVector& of = direction.parameters;
  const double d_dt = *of.of("dt");
  const double dt = options_.dt;
  const std::size_t n = at(m.n_v);
  turning_rates(m, v, a_.data());
  for (std::size_t k = 0; k < n; ++k) a_[k] += (moved_[k] - v[k]) / dt, d_acceleration_[k] = -direction.v[k] / dt;
  add_turning_rates_jvp(m, v, direction.v.data(), d_acceleration_.data());
  // Before the sweeps, which leave other forces in data_.
  for (std::size_t k = 0; k < n; ++k) {
    const double tau = control.tau ? control.tau[k] : 0.0;
    change[k] += dt * direction.tau[k] - d_dt * (data_.bias[k] + m.damping[k] * moved_[k] - tau) - dt * of.of("damping")[k] * moved_[k];
  }
  for (const World::Coordinate& c : world_->coordinates()) {
    const std::size_t k = at(c.v);
    const double K = m.stiffness[k], stretch = q[c.q] - m.spring_reference[k];
    change[k] -= dt * (K * (direction.q[k] - of.of("spring_reference")[k]) + of.of("stiffness")[k] * (stretch + dt * moved_[k]));
    change[k] -= d_dt * K * (stretch + 2 * dt * moved_[k]);
  }
  rnea_jvp(m, data_, q, v, a_.data(), direction.q.data(), direction.v.data(), d_acceleration_.data(), q_part_.data());
  displaced_ = data_.X_rate;
  detail::add_parameter_jvp<double>(
      m, data_, v, a_.data(), {of.of("mass"), of.of("com"), of.of("inertia"), of.of("placement"), of.of("armature"), vec3_at(of.of("gravity"))}, q_part_.data());
  for (std::size_t i = 0; i < displaced_.size(); ++i) displaced_[i] = displaced_[i] + data_.X_rate[i];
  for (std::size_t k = 0; k < n; ++k) change[k] -= dt * q_part_[k];
}

// Where a contact of one point goes.
Vec3d Stepper::point_jvp(const StepIsland::Block& block, const StepGradient& direction) {
  const SceneQuery::PairManifold& pair = manifolds_[at(block.manifold)];
  const ManifoldDerivatives& rates = manifold_rates_[at(block.manifold)];
  const ManifoldPointDerivatives& point = rates.points[0];
  Vec3d moved;
  for (const int side : {0, 1}) {
    const int object = side ? pair.b : pair.a, piece = side ? pair.piece_b : pair.piece_a;
    const SceneObject& o = world_->scene().object(object);
    const SE3d& X_WO = query_.X_WO(object);
    const SE3d X = o.geometry.body().with_piece(piece, [&](const Compound::Piece& p) { return X_WO * p.X_BP; });
    Motion<double> V = X_WO * twist(direction.parameters.of("pose", object));
    if (o.body > 0) V = V + at_point(displaced_[at(o.body)], -data_.X_WB[1].p);
    const Motion<double> own = inverse_times(X, V);
    for (int k = 0; k < 3; ++k) moved += own.linear[k] * point.twist[6 * side + k].p_W + own.angular[k] * point.twist[6 * side + 3 + k].p_W;
    if (!direction.parameters.vertices.empty() && point.n_corners[side] > 0)
      if (const int row = world_->vertices().first(object, piece); row >= 0)
        for (int c = 0; c < point.n_corners[side]; ++c) {
          const Vec3d step = direction.parameters.vertices.of(row + point.vertex[side][c]);
          for (int k = 0; k < 3; ++k) moved += step[k] * point.corner[side][c][k].p_W;
        }
    if (o.geometry.compound) continue;  // by whose sizes there is no derivative
    for (int k = 0; k < rates.n_sizes[side]; ++k) moved += direction.parameters.of("sizes", object)[k] * point.size[side][k].p_W;
    moved += *direction.parameters.of("scale", object) * point.scale[side].p_W;
  }
  return moved;
}

// dX^T z: what contacts and closures push on bodies is held in the world, and what acts at a single point goes where that goes (step_jacobians.cpp).
// carried_: the pushes; turned_: what they change by.
void Stepper::add_impulses_jvp(const StepGradient& direction, double* change) {
  const Model& m = world_->model();
  carry_impulses();
  turned_.assign(at(m.n_bodies()), Force<double>());
  for (int i = 0; i < n_islands_; ++i)
    for (std::size_t b = 0; b < islands_[at(i)].blocks.size(); ++b) {
      const StepIsland::Block& block = islands_[at(i)].blocks[b];
      if (block.manifold < 0 || block.turns) continue;
      const double* const z = &islands_[at(i)].solution.z[at(islands_[at(i)].problem.blocks[b].first_channel)];
      const Vec3d moment = cross(point_jvp(block, direction), Vec3d{z[0], z[1], z[2]});
      turned_[at(block.b)].angular += moment, turned_[at(block.a)].angular -= moment;
    }
  for (int i = m.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = m.joints[at(i)];
    if (joint.parent > 0) carried_[at(joint.parent)] += carried_[at(i)], turned_[at(joint.parent)] += turned_[at(i)];
    for (int k = 0; k < joint.n_v; ++k) {
      const Motion<double>& J = data_.J[at(joint.column + k)];
      change[joint.v_index + k] += dot(cross(displaced_[at(i)], J), carried_[at(i)]) + dot(J, turned_[at(i)]);
    }
  }
}

bool Stepper::jvp(const double* q, const double* v, const StepControl& control, const StepGradient& direction, double* q_next, double* v_next) {
  const Model& m = world_->model();
  const std::size_t n = at(m.n_v);
  if (n == 0) return false;
  if (is_diverged_) {
    std::copy(direction.q.begin(), direction.q.end(), q_next), std::copy(direction.v.begin(), direction.v.end(), v_next);
    return true;
  }
  if (!is_derived_by_everything_) derive(q, v, control, true);
  if (has_impacts()) {
    unit_.assign(n, 0.0), zero_.assign(n, 0.0);
    for (const bool is_v : {false, true})
      for (std::size_t i = 0; i < n; ++i) {
        unit_[i] = 1;
        exact_vjp(q, v, control, (is_v ? zero_ : unit_).data(), (is_v ? unit_ : zero_).data(), of_impulse_);
        unit_[i] = 0;
        (is_v ? v_next : q_next)[i] = along(of_impulse_, direction);
      }
    return is_one_sided_;
  }
  resize_adjoint();
  change_.assign(n, 0.0), d_acceleration_.resize(n);
  add_free_motion_jvp(q, v, control, direction, change_.data());
  add_impulses_jvp(direction, change_.data());
  mass_solve(m, data_.L.data(), change_.data(), 1);
  for (int i = 0; i < n_islands_; ++i) {
    StepIsland& island = islands_[at(i)];
    const std::size_t k = at(island.problem.channels);
    const double* const Y = ask_for_moving(island);
    const std::size_t w = at(impulse_rates_.width());
    channels_by_.assign(k, 0.0), impulses_by_.resize(w), impulse_bar_.assign(k, 0.0);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < k; ++c) channels_by_[c] += island.X[r * k + c] * change_[r];
    for (std::size_t c = 0; c < w; ++c) {
      const std::size_t channel = at(impulse_rates_.asked[c]);
      StepGradient& row = of_impulse_;
      row.set_zero(*world_);
      row.wants_vertices = !direction.parameters.vertices.empty();
      resize_adjoint();
      impulse_bar_[channel] = 1;
      add_row_adjoint(island, row);
      add_row_vjp(island, q, v, control, nullptr, row);
      gather_turned(row.q.data(), row.parameters.of("placement"));
      add_diagonal_vjp(row);
      impulse_bar_[channel] = 0;
      impulses_by_[c] = along(row, direction);
      for (std::size_t other = 0; other < k; ++other) impulses_by_[c] += island.gradient.y_free[other] * channels_by_[other];
    }
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < w; ++c) change_[r] += Y[r * w + c] * impulses_by_[c];
  }
  advance_jvp(m, options_.dt, way_.data(), moved_.data(), direction.q.data(), *direction.parameters.of("dt"), change_.data(), change_.data(), q_next, v_next);
  return is_one_sided_;
}

}  // namespace robosim

// What the next state changes by along one direction of everything that a step is a function of, without a matrix.
//
// As of the Jacobians (linearization_jacobians.cpp): with the impulses z held the new velocity u changes by
//   alpha = M^^-1 (-dr + dX^T z)
// which is one sweep of inverse dynamics' rates (rnea_products.h, parameter_derivatives.h) and one solve, and the impulses answer
//   du = alpha + Y dz,   dz_c = (d z_c / d y_free) . X alpha + (row c's gradient) . direction
// by one adjoint of the rows for each channel: six for two bodies, three where they touch at one point. Where impulses act within the step
// (constraints/normal_law.h) the rows of the Jacobians are made, one gradient each, and multiplied.
#include <algorithm>

#include "base/index.h"
#include "dynamics/configuration.h"
#include "geometry/bodies/compound_derivatives.h"
#include "step/constraints/constraint_kinds.h"
#include "step/linearization.h"

namespace robosim {
namespace {

Motion<double> twist(const double* linear_angular) {
  return {{linear_angular[3], linear_angular[4], linear_angular[5]}, {linear_angular[0], linear_angular[1], linear_angular[2]}};
}

}  // namespace

// Where a contact of one point goes.
Vec3d Linearization::point_jvp(const StepIsland::Block& block, const StepGradient& direction) {
  const SceneQuery::PairManifold& pair = step_.manifolds[at(block.item)];
  const ManifoldDerivatives& rates = manifold_rates_[at(block.item)];
  const ManifoldPointDerivatives& point = rates.points[0];
  Vec3d moved;
  for (const int side : {0, 1}) {
    const int object = side ? pair.b : pair.a, piece = side ? pair.piece_b : pair.piece_a;
    const SceneObject& o = step_.object(object);
    const SE3d& X_WO = step_.query.X_WO(object);
    const SE3d X = o.geometry.body().with_piece(piece, [&](const Compound::Piece& p) { return X_WO * p.X_BP; });
    Motion<double> V = X_WO * twist(direction.parameters.of("pose", object));
    if (o.body > 0) V = V + at_point(displaced_[at(o.body)], -step_.dynamics.X_WB[1].p);
    const Motion<double> own = inverse_times(X, V);
    for (int k = 0; k < 3; ++k) moved += own.linear[k] * point.twist[6 * side + k].p_W + own.angular[k] * point.twist[6 * side + 3 + k].p_W;
    if (!direction.parameters.vertices.empty() && point.n_corners[side] > 0)
      if (const int row = step_.world->vertices().first(object, piece); row >= 0)
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

// dX^T z: what contacts and closures push on bodies is held in the world, and what acts at a single point goes where that goes (linearization_jacobians.cpp).
// bodies_.carried: the pushes; bodies_.turned: what they change by.
void Linearization::add_impulses_jvp(const StepGradient& direction, double* change) {
  const Model& m = step_.model();
  carry_impulses();
  bodies_.turned.assign(at(m.n_bodies()), Force<double>());
  for (int i = 0; i < step_.n_islands; ++i)
    for (std::size_t b = 0; b < step_.islands[at(i)].blocks.size(); ++b) {
      const StepIsland::Block& block = step_.islands[at(i)].blocks[b];
      if (!is_of<Contact>(block) || block.turns) continue;
      const double* const z = &step_.islands[at(i)].solution.z[at(step_.islands[at(i)].problem.blocks[b].first_channel)];
      const Vec3d moment = cross(point_jvp(block, direction), Vec3d{z[0], z[1], z[2]});
      bodies_.turned[at(block.b)].angular += moment, bodies_.turned[at(block.a)].angular -= moment;
    }
  for (int i = m.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = m.joints[at(i)];
    if (joint.parent > 0) bodies_.carried[at(joint.parent)] += bodies_.carried[at(i)], bodies_.turned[at(joint.parent)] += bodies_.turned[at(i)];
    for (int k = 0; k < joint.n_v; ++k) {
      const Motion<double>& J = step_.dynamics.J[at(joint.column + k)];
      change[joint.v_index + k] += dot(cross(displaced_[at(i)], J), bodies_.carried[at(i)]) + dot(J, bodies_.turned[at(i)]);
    }
  }
}

bool Linearization::jvp(const StepInput& in, const StepGradient& direction, double* q_next, double* v_next) {
  const Model& m = step_.model();
  const std::size_t n = at(m.n_v);
  if (n == 0) return false;
  if (step_.is_diverged) {
    std::copy(direction.q.begin(), direction.q.end(), q_next), std::copy(direction.v.begin(), direction.v.end(), v_next);
    return true;
  }
  if (!is_derived_by_everything_) derive(in, true);
  if (step_.has_impacts()) {
    unit_.assign(n, 0.0), zero_.assign(n, 0.0);
    for (const bool is_v : {false, true})
      for (std::size_t i = 0; i < n; ++i) {
        unit_[i] = 1;
        exact_vjp(in, (is_v ? zero_ : unit_).data(), (is_v ? unit_ : zero_).data(), of_impulse_);
        unit_[i] = 0;
        (is_v ? v_next : q_next)[i] = along(of_impulse_, direction);
      }
    return is_one_sided_;
  }
  resize_adjoint();
  change_.assign(n, 0.0);
  integrator_.add_residual_jvp(step_, in, direction, change_.data(), displaced_);
  add_impulses_jvp(direction, change_.data());
  integrator_.solve(step_, change_.data());
  for (int i = 0; i < step_.n_islands; ++i) {
    StepIsland& island = step_.islands[at(i)];
    const std::size_t k = at(island.problem.channels);
    const double* const Y = ask_for_moving(island);
    const std::size_t w = at(impulse_rates_.width());
    channels_by_.assign(k, 0.0), impulses_by_.resize(w), impulse_bar_.assign(k, 0.0);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < k; ++c) channels_by_[c] += island.X[r * k + c] * change_[r];
    for (std::size_t c = 0; c < w; ++c) {
      const std::size_t channel = at(impulse_rates_.asked[c]);
      StepGradient& row = of_impulse_;
      row.set_zero(*step_.world);
      row.wants_vertices = !direction.parameters.vertices.empty();
      resize_adjoint();
      impulse_bar_[channel] = 1;
      add_row_adjoint(island, row);
      add_row_vjp(island, in, nullptr, row);
      bodies_.gather(step_, row.q.data(), row.parameters.of("placement"));
      integrator_.end_operator_vjp(step_, row);
      impulse_bar_[channel] = 0;
      impulses_by_[c] = along(row, direction);
      for (std::size_t other = 0; other < k; ++other) impulses_by_[c] += island.gradient.y_free[other] * channels_by_[other];
    }
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < w; ++c) change_[r] += Y[r * w + c] * impulses_by_[c];
  }
  integrator_.advance_jvp(step_, direction.q.data(), *direction.parameters.of("dt"), change_.data(), q_next, v_next);
  return is_one_sided_;
}

}  // namespace robosim

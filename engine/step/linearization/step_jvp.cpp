// Change of the next state along one direction of all arguments and parameters, without a matrix.
//
// As in step_jacobians.cpp, the velocity u at the end changes at fixed impulses z by
//   alpha = M^^-1 (-dr + dX^T z)
// This takes one sweep of inverse dynamics' derivatives (rnea_products.h, parameter_derivatives.h)
// and one solve. The impulses respond,
//   du = alpha + Y dz,   dz_c = (d z_c / d y_free) . X alpha + (row c's gradient) . direction
// by one adjoint of the rows per channel: six for two bodies, three if they touch at one point.
// Position corrections respond likewise, starting from u. If impulses act within the step
// (constraints/impacts.h), Linearization computes the rows of the Jacobians, one gradient each, and
// multiplies them with the direction.
#include <algorithm>

#include "base/index.h"
#include "base/linalg/zeros.h"
#include "geometry/bodies/compound_derivatives.h"
#include "step/constraints/constraint_kinds.h"
#include "step/linearization/step_jvp.h"

namespace robosim {
namespace {

Motion<double> twist(const double* linear_angular) {
  return {{linear_angular[3], linear_angular[4], linear_angular[5]},
          {linear_angular[0], linear_angular[1], linear_angular[2]}};
}

}  // namespace

// Displacement of the point of a single-point contact along the direction.
Vec3d StepJvp::point_jvp(const StepIsland::Block& block, const StepGradient& direction) const {
  const SceneQuery::PairManifold& pair = step_.manifolds[block.item];
  const ManifoldDerivatives& rates = shared_.manifolds[block.item];
  const ManifoldPointDerivatives& point = rates.points[0];
  Vec3d moved;
  for (const int side : {0, 1}) {
    const int object = side ? pair.b : pair.a, piece = side ? pair.piece_b : pair.piece_a;
    const SceneObject& o = step_.object(object);
    const SE3d& X_WO = step_.query.X_WO(object);
    const SE3d X = o.geometry.body().with_piece(
        piece, [&](const Compound::Piece& p) { return X_WO * p.X_BP; });
    // Motion of the shape.
    Motion<double> V = X_WO * twist(direction.parameters.of("pose", object));
    if (o.body > 0) V = V + at_point(displaced_[o.body], -step_.dynamics.X_WB[1].p);
    const Motion<double> own = inverse_times(X, V);
    for (int k = 0; k < 3; ++k)
      moved += own.linear[k] * point.twist[6 * side + k].p_W +
               own.angular[k] * point.twist[6 * side + 3 + k].p_W;
    // Changes of the shape: its vertices, sizes and scale.
    if (!direction.parameters.vertices.empty() && point.n_corners[side] > 0)
      if (const int row = step_.world->vertices().first(object, piece); row >= 0)
        for (int c = 0; c < point.n_corners[side]; ++c) {
          const Vec3d step = direction.parameters.vertices.of(row + point.vertex[side][c]);
          for (int k = 0; k < 3; ++k) moved += step[k] * point.corner[side][c][k].p_W;
        }
    if (o.geometry.compound) continue;  // no derivative with respect to its sizes
    for (int k = 0; k < rates.n_sizes[side]; ++k)
      moved += direction.parameters.of("sizes", object)[k] * point.size[side][k].p_W;
    moved += *direction.parameters.of("scale", object) * point.scale[side].p_W;
  }
  return moved;
}

// Add dX^T z. The forces of contacts and closures on bodies are held constant in the world, and
// forces at a single point move with their point (step_jacobians.cpp).
void StepJvp::add_impulses_jvp(const StepGradient& direction) {
  const Model& m = step_.model();
  carry_impulses(step_, carried_);
  turned_.assign(m.n_bodies(), Force<double>());
  step_.for_each_island([&](const StepIsland& island) {
    for (std::size_t b = 0; b < island.blocks.size(); ++b) {
      const StepIsland::Block& block = island.blocks[b];
      if (!is_of<Contact>(block) || block.turns) continue;
      const double* const z = &island.solution.z[island.problem.blocks[b].first_channel];
      const Vec3d moment = cross(point_jvp(block, direction), Vec3d{z[0], z[1], z[2]});
      turned_[block.b].angular += moment;
      turned_[block.a].angular -= moment;
    }
  });
  for (int i = m.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = m.joints[i];
    if (joint.parent > 0) {
      carried_[joint.parent] += carried_[i];
      turned_[joint.parent] += turned_[i];
    }
    for (int k = 0; k < joint.n_v; ++k) {
      const Motion<double>& J = step_.dynamics.J[joint.column + k];
      change_[joint.v_index + k] += dot(cross(displaced_[i], J), carried_[i]) + dot(J, turned_[i]);
    }
  }
}

void StepJvp::jvp(const StepInput& in, const StepGradient& direction, const TangentSpan& next) {
  const std::size_t n = step_.size();
  make_zeros(change_, n);
  integrator_.add_residual_jvp(step_, in, direction, change_.data(), displaced_);
  residual_change_ = change_;
  add_impulses_jvp(direction);
  integrator_.solve(step_, change_.data());
  for (int i = 0; i < step_.n_islands; ++i) add_answer(step_.islands[i], in, direction);
  const double d_dt = *direction.parameters.of("dt");
  if (!step_.has_corrections())
    return integrator_.advance_jvp(step_, direction.q.data(), d_dt, change_.data(), change_.data(),
                                   next);

  // Positions advance by u + Y c. dr is linear in u, so -dA Y c is the difference of dr at both
  // velocities.
  velocity_change_ = change_;
  step_.exchange_corrections();
  make_zeros(change_, n);
  integrator_.add_residual_jvp(step_, in, direction, change_.data(), displaced_);
  for (std::size_t k = 0; k < n; ++k) change_[k] -= residual_change_[k];
  add_impulses_jvp(direction);
  integrator_.solve(step_, change_.data());
  for (std::size_t k = 0; k < n; ++k) change_[k] += velocity_change_[k];
  for (std::size_t next_one = 0; next_one < step_.corrected_islands.size(); ++next_one)
    add_answer(step_.corrections[next_one], in, direction);
  step_.exchange_corrections();
  integrator_.advance_jvp(step_, direction.q.data(), d_dt, change_.data(), velocity_change_.data(),
                          next);
}

// Add Y dz to change_.
void StepJvp::add_answer(StepIsland& island, const StepInput& in, const StepGradient& direction) {
  const std::size_t n = step_.size(), k = at(island.problem.channels);
  seeds_.find(step_, island);
  const std::size_t w = at(seeds_.count);
  make_zeros(channels_by_, k);
  impulses_by_.resize(w);
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = 0; c < k; ++c) channels_by_[c] += island.X[r * k + c] * change_[r];
  for (std::size_t c = 0; c < w; ++c) {
    row_.set_zero(*step_.world);
    row_.wants_vertices = !direction.parameters.vertices.empty();
    vjp_.impulse_vjp(island, &seeds_.seeds[c * k], in, true, row_);
    impulses_by_[c] = along(row_, direction);
    for (std::size_t other = 0; other < k; ++other)
      impulses_by_[c] += island.gradient.y_free[other] * channels_by_[other];
  }
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = 0; c < w; ++c) change_[r] += seeds_.moves[r * w + c] * impulses_by_[c];
}

}  // namespace robosim

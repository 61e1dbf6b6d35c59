// Jacobians of a step, all columns at once.
//
// At fixed impulses z the velocity u at the end changes by (step_vjp.cpp)
//   alpha = M^^-1 (-d_x r + d_x X^T z)
// which is computed forward, from the derivatives of inverse dynamics (rnea_derivatives.h) and a
// solve with M^^. The impulses respond through the rows (impulse_jacobians.cpp),
//   du = alpha + Y dz,   dz = V (X alpha + dX u) + Z_d : dd + Z_t : dt,   Y = M^^-1 X^T
// If impulses act within the step (constraints/impacts.h), `way` (the displacement per dt) is not
// u, and the Jacobians are assembled from gradients. Cost: O(n depth) and 3 n solves with M^^, plus
// O(n^2 channels). Blocks that are not requested are not computed.
#include <algorithm>
#include <array>

#include "base/index.h"
#include "base/linalg/small_matrices.h"
#include "base/linalg/zeros.h"
#include "geometry/bodies/compound_derivatives.h"
#include "step/columns.h"
#include "step/constraints/constraint_kinds.h"
#include "step/linearization/step_jacobians.h"

namespace robosim {

JacobianBlocks JacobianBlocks::of(const Model& m, std::ptrdiff_t step) const {
  const auto own = [&](double* block, int columns) {
    return block ? block + step * 2 * m.n_v * columns : nullptr;
  };
  return {own(q, m.n_v),
          own(v, m.n_v),
          own(tau, m.n_v),
          own(q_target, m.n_q),
          own(v_target, m.n_v),
          own(parameters, selection ? selection->size() : 0),
          selection};
}

JacobianBlocks StepJacobians::resize(const Model& m) {
  const std::size_t n = at(m.n_v);
  for (auto* x : {&q, &v, &tau, &v_target}) x->resize(2 * n * n);
  q_target.resize(2 * n * at(m.n_q));
  return {q.data(), v.data(), tau.data(), q_target.data(), v_target.data(), nullptr, nullptr};
}

// Add d_x X^T z at fixed impulses. The forces of contacts and closures on bodies are held constant
// in the world, and the columns turn with the joints before them,
//   d(J_i . F)/dq_c = F . (J_c x J_i) = J_c . (J_i x* F)        c: joint i or a joint before it;
//                                                               F: force on all bodies behind i
void JacobianMaker::add_turning_of_impulses(double* by_q, int stride) {
  const Model& m = step_.model();
  carry_impulses(step_, carried_);
  for (int i = m.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = m.joints[i];
    if (joint.parent > 0) carried_[joint.parent] += carried_[i];
    for (int c = joint.column; c < joint.column + joint.n_v; ++c) {
      const Force<double> turned = cross(step_.dynamics.J[c], carried_[i]);
      double* const row = by_q + m.column_v[c] * stride;
      for_each_on_path(m, i,
                       [&](int l) { row[m.column_v[l]] += dot(step_.dynamics.J[l], turned); });
    }
  }
}

// Add the motion of forces at a single point, which move with their point. In other contacts the
// rows account for the motion of the points (constraints/contact.cpp).
//   (J_b - J_a)^T z at p:   d/dp = z x (omega_b - omega_a)        for each column
void JacobianMaker::add_moving_of_impulses(const StepIsland& island, std::size_t b, double* by_q,
                                           int stride) {
  const Model& m = step_.model();
  const int n = padded(m.n_v);
  const StepIsland::Block& block = island.blocks[b];
  const SceneQuery::PairManifold& pair = step_.manifolds[block.item];
  const ManifoldPointDerivatives& rates = shared_.manifolds[block.item].points[0];
  const SmallMatrices& matrices = small_matrices();
  make_zeros(point_by_, at(3 * n));
  make_zeros(per_point_, at(3 * n));
  for (const int side : {0, 1}) {
    if (step_.object(side ? pair.b : pair.a).body == 0) continue;
    // Derivative of the point with respect to the joints.
    double moved[6][3];
    for (int k = 0; k < 6; ++k)
      for (int c = 0; c < 3; ++c) moved[k][c] = rates.twist[6 * side + k].p_W[c];
    matrices.add_product(LeftFactor::transposed(moved[0], 3, 6),
                         twists_.of(step_, block.item, side), n, point_by_.data(), n, n);
  }
  const double* const z = &island.solution.z[island.problem.blocks[b].first_channel];
  for (const int side : {0, 1})
    for_each_on_path(m, side ? block.b : block.a, [&](int c) {
      const Vec3d turned =
          (side ? 1.0 : -1.0) * cross(Vec3d{z[0], z[1], z[2]}, step_.dynamics.J[c].angular);
      for (int k = 0; k < 3; ++k) per_point_[3 * m.column_v[c] + k] += turned[k];
    });
  matrices.add_product({per_point_.data(), m.n_v, 3}, point_by_.data(), n, by_q, stride, n);
}

// Copy n_v columns of a wider matrix to a matrix of their own.
void JacobianMaker::copy_columns(const double* from, int stride, std::vector<double>& to) const {
  const int n_v = step_.model().n_v, n = padded(n_v);
  make_zeros(to, at(n_v * n));
  for (int i = 0; i < n_v; ++i) std::copy_n(from + i * stride, n_v, &to[i * n]);
}

// Compute alpha in the requested columns.
void JacobianMaker::free_jacobians(const StepInput& in) {
  const Model& m = step_.model();
  const double dt = step_.options.dt;
  const std::size_t n = at(m.n_v);
  const JacobianColumns& by = columns_;
  const int stride = by.stride;
  make_zeros(moved_by_, n * at(stride));
  for (int i = 0; by.tau >= 0 && i < m.n_v; ++i) moved_by_[i * stride + by.tau + i] = dt;
  if (by.q >= 0 || by.v >= 0) {
    if (by.q < 0 || by.v < 0) make_zeros(unasked_, n * at(stride));
    double* const by_q = by.q >= 0 ? &moved_by_[by.q] : unasked_.data();
    double* const by_v = by.v >= 0 ? &moved_by_[by.v] : unasked_.data();
    integrator_.fill_residual_rates(step_, in, by_q, by_v, stride);
    if (by.q >= 0 && step_.has_corrections()) copy_columns(by_q, stride, corrected_by_);
    if (by.q >= 0) add_held_impulses(by_q, stride);
  }
  integrator_.solve_columns(step_, moved_by_.data(), stride);
  if (by.v >= 0) integrator_.add_carried_velocity(step_, in, &moved_by_[by.v], stride);
}

// Add d_x X^T z at fixed impulses, in the columns of q.
void JacobianMaker::add_held_impulses(double* by_q, int stride) {
  if (step_.n_islands == 0) return;
  add_turning_of_impulses(by_q, stride);
  step_.for_each_island([&](const StepIsland& island) {
    for (std::size_t b = 0; b < island.blocks.size(); ++b)
      if (is_of<Contact>(island.blocks[b]) && !island.blocks[b].turns)
        add_moving_of_impulses(island, b, by_q, stride);
  });
}

// Fill moved_by_ with the Jacobian of way = u + Y c at fixed c, from that of u in velocity_by_. The
// additional term A^-1 (-dA Y c + dX^T c) depends on q alone. r is linear in u, so -dA Y c is a
// difference of two derivatives of r.
void JacobianMaker::corrected_jacobians(const StepInput& in) {
  const Model& m = step_.model();
  const JacobianColumns& by = columns_;
  moved_by_ = velocity_by_;
  if (by.q < 0) return;
  // corrected_by_ is -d_q r for u without corrections. by_q_ becomes the additional term.
  const int n = padded(m.n_v);
  make_zeros(by_q_, corrected_by_.size());
  make_zeros(unasked_, corrected_by_.size());
  integrator_.fill_residual_rates(step_, in, by_q_.data(), unasked_.data(), n);
  for (std::size_t i = 0; i < by_q_.size(); ++i) by_q_[i] -= corrected_by_[i];
  add_held_impulses(by_q_.data(), n);
  integrator_.solve_columns(step_, by_q_.data(), n);
  for (int i = 0; i < m.n_v; ++i)
    for (int c = 0; c < m.n_v; ++c) moved_by_[i * by.stride + by.q + c] += by_q_[i * n + c];
}

OneSided JacobianMaker::fill(const StepInput& in, const JacobianBlocks& out) {
  const Model& m = step_.model();
  // Layout of the requested columns.
  bool is_driven = false;
  OneSided one_sided = OneSided::no;
  for (int k = 0; k < m.n_v; ++k) is_driven |= step_.world->motor(k).is_there();
  int end = 0;
  const auto take = [&](const double* block, int count, bool any = true) {
    const int first = end;
    end += block && any ? count : 0;
    return block && any ? first : -1;
  };
  columns_ = {take(out.q, m.n_v),
              take(out.v, m.n_v),
              take(out.tau, m.n_v),
              take(out.q_target, m.n_q, is_driven),
              take(out.v_target, m.n_v, is_driven),
              0};
  columns_.stride = padded(end);
  if (end > 0) {
    // Velocity without and with the response of the impulses, then with position corrections.
    if (out.q) twists_.fill(step_);
    free_jacobians(in);
    for (int i = 0; i < step_.n_islands; ++i)
      one_sided |= impulses_.add(step_.islands[i], in, columns_, twists_, moved_by_);
    if (step_.has_corrections()) {
      velocity_by_ = moved_by_;
      step_.exchange_corrections();
      corrected_jacobians(in);
      for (std::size_t k = 0; k < step_.corrected_islands.size(); ++k)
        one_sided |= impulses_.add(step_.corrections[k], in, columns_, twists_, moved_by_);
      step_.exchange_corrections();
    }
    const double* const velocity_by =
        step_.has_corrections() ? velocity_by_.data() : moved_by_.data();
    // Jacobians of the next state.
    std::array<Integrator::ColumnBlock, 5> parts;
    std::size_t count = 0;
    const auto add = [&](double* block, int columns, int first) {
      if (first >= 0)
        parts[count++] = {&moved_by_[first], velocity_by + first, block, columns, block == out.q};
    };
    add(out.q, m.n_v, columns_.q);
    add(out.v, m.n_v, columns_.v);
    add(out.tau, m.n_v, columns_.tau);
    add(out.q_target, m.n_q, columns_.q_target);
    add(out.v_target, m.n_v, columns_.v_target);
    integrator_.advance_columns(step_, {parts.data(), count}, columns_.stride);
  }
  // Parameters, and targets without any motor.
  if (out.parameters) parameter_jacobian(in, out);
  if (!is_driven && out.q_target) std::fill_n(out.q_target, 2 * at(m.n_v) * at(m.n_q), 0.0);
  if (!is_driven && out.v_target) std::fill_n(out.v_target, 2 * at(m.n_v) * at(m.n_v), 0.0);
  return one_sided;
}

// Jacobian with respect to parameters: one gradient for each entry of the velocity at the end, then
// the integrator column by column.
void JacobianMaker::parameter_jacobian(const StepInput& in, const JacobianBlocks& out) {
  const Model& m = step_.model();
  const std::size_t n = at(m.n_v), columns = at(out.selection->size());
  const auto velocity_by_parameters = [&](std::vector<double>& to, bool of_way) {
    to.resize(n * columns);
    for (std::size_t i = 0; i < n; ++i) {
      row_.set_zero(*step_.world);
      vjp_.velocity_vjp(in, static_cast<int>(i), of_way, row_);
      out.selection->read(row_.parameters, &to[i * columns]);
    }
  };
  velocity_by_parameters(moved_by_, true);
  if (step_.has_corrections()) velocity_by_parameters(velocity_by_, false);
  const std::vector<double>& velocity_by = step_.has_corrections() ? velocity_by_ : moved_by_;
  // Weight of dt itself in each column.
  row_.set_zero(*step_.world);
  *row_.parameters.of("dt") = 1;
  by_dt_.resize(columns);
  unit_.resize(n);
  velocity_.resize(n);
  make_zeros(zero_, n);
  tangent_.resize(2 * n);
  out.selection->read(row_.parameters, by_dt_.data());
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t i = 0; i < n; ++i) {
      unit_[i] = moved_by_[i * columns + c];
      velocity_[i] = velocity_by[i * columns + c];
    }
    integrator_.advance_jvp(step_, zero_.data(), by_dt_[c], unit_.data(), velocity_.data(),
                            {tangent_.data(), tangent_.data() + n});
    for (std::size_t i = 0; i < 2 * n; ++i) out.parameters[i * columns + c] = tangent_[i];
  }
}

}  // namespace robosim

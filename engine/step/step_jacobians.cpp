// The Jacobians of a step, all columns at once.
//
// At fixed impulses z the new velocity u changes by (step_vjp.cpp)
//   alpha = M^^-1 (-d_x r + d_x X^T z)
// forwards, as derivatives of inverse dynamics (rnea_derivatives.h) solved with M^^. The impulses answer through the rows,
//   du = alpha + Y dz,   dz = V (X alpha + dX u) + Z_d : dd + Z_t : dt,   Y = M^^-1 X^T
// (impulse_jacobians.cpp). Where impulses act within the step (impacts.cpp) the way is not u, and the Jacobians are made of gradients.
// Cost: O(n depth) and 3 n solves with M^^, and O(n^2 channels); what is not asked for is not made.
#include <algorithm>
#include <array>
#include <tuple>

#include "base/index.h"
#include "base/linalg/small_matrices.h"
#include "base/linalg/small_sums.h"
#include "dynamics/configuration.h"
#include "dynamics/mass_factor.h"
#include "dynamics/rnea_derivatives.h"
#include "step/columns.h"
#include "step/inverse_dynamics_rates.h"
#include "step/step.h"

namespace robosim {
JacobianBlocks JacobianBlocks::of(const Model& m, int step) const {
  const auto own = [&](double* block, int columns) { return block ? block + static_cast<std::ptrdiff_t>(step) * 2 * m.n_v * columns : nullptr; };
  return {own(q, m.n_v), own(v, m.n_v), own(tau, m.n_v), own(q_target, m.n_q), own(v_target, m.n_v), own(parameters, selection ? selection->size() : 0), selection};
}

JacobianBlocks StepJacobians::resize(const Model& m) {
  const std::size_t n = at(m.n_v);
  for (auto* x : {&q, &v, &tau, &v_target}) x->resize(2 * n * n);
  q_target.resize(2 * n * at(m.n_q));
  return {q.data(), v.data(), tau.data(), q_target.data(), v_target.data(), nullptr, nullptr};
}

// use(row, column, entry) of 1 - dt d(turning_rates)/dv, where it is not zero.
template <class Use>
void Stepper::for_each_turning(const Use& use, const double* v) const {
  detail::for_each_own_joint(world_->model(), [&](auto type, const Joint& joint) {
    const int k = joint.v_index;
    for (int row = 0; row < type.n_v; ++row) {
      double unit[type.n_v] = {}, entries[type.n_v] = {};
      unit[row] = -options_.dt, entries[row] = 1;
      if constexpr (requires { type.turning_rate(v, unit); }) {
        type.add_turning_rate_vjp(v + k, unit, entries);
        for (int c = 0; c < type.n_v; ++c) use(k + row, k + c, entries[c]);
      } else {
        use(k + row, k + row, 1.0);
      }
    }
  });
}

// What contacts and closures push on each body by itself: carried_.
void Stepper::carry_impulses() {
  carried_.assign(at(world_->model().n_bodies()), Force<double>());
  for (int i = 0; i < n_islands_; ++i) {
    const StepIsland& island = islands_[at(i)];
    for (std::size_t b = 0; b < island.blocks.size(); ++b) {
      const StepIsland::Block& block = island.blocks[b];
      if (!block.is_of_bodies()) continue;
      const Force<double> F = channel_force(island, b, &island.solution.z[at(island.problem.blocks[b].first_channel)]);
      carried_[at(block.b)] += F, carried_[at(block.a)] += Force<double>{-F.angular, -F.linear};
    }
  }
}

// d_x X^T z at fixed impulses: what contacts and closures push on bodies is held in the world, and columns turn with the joints before them,
//   d(J_i . F)/dq_c = F . (J_c x J_i) = J_c . (J_i x* F)        c of a joint on the way to i's, or i's own; F on all behind i
void Stepper::add_turning_of_impulses(double* by_q) {
  const Model& m = world_->model();
  carry_impulses();
  for (int i = m.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = m.joints[at(i)];
    if (joint.parent > 0) carried_[at(joint.parent)] += carried_[at(i)];
    for (int c = joint.column; c < joint.column + joint.n_v; ++c) {
      const Force<double> turned = cross(data_.J[at(c)], carried_[at(i)]);
      double* const row = by_q + m.column_v[at(c)] * jacobian_columns_.stride;
      for_each_on_path(m, i, [&](int l) { row[m.column_v[at(l)]] += dot(data_.J[at(l)], turned); });
    }
  }
}

// How the shapes of all contacts move with the joints: of each its twist, [linear; angular] in its own frame, by all of them, and zero in the columns
// that pad these (columns.h). Joints that mimic others share their coordinate: their twists add up.
void Stepper::fill_twists() {
  const Model& m = world_->model();
  const std::size_t n = at(padded(m.n_v));
  twists_by_.assign(2 * manifolds_.size() * 6 * n, 0.0);
  for (std::size_t i = 0; i < manifolds_.size(); ++i)
    for (const int side : {0, 1}) {
      const SceneQuery::PairManifold& pair = manifolds_[i];
      const int object = side ? pair.b : pair.a, piece = side ? pair.piece_b : pair.piece_a;
      const SceneObject& o = world_->scene().object(object);
      if (o.body == 0) continue;
      const SE3d X = o.geometry.body().with_piece(piece, [&](const Compound::Piece& p) { return query_.X_WO(object) * p.X_BP; });
      const Vec3d p = X.p - data_.X_WB[1].p;
      double* const twist = &twists_by_[(2 * i + at(side)) * 6 * n];
      for_each_on_path(m, o.body, [&](int c) {
        const Motion<double> J = at_point(data_.J[at(c)], p);
        const Vec3d linear = transpose_times(X.R, J.linear), angular = transpose_times(X.R, J.angular);
        double* const column = twist + m.column_v[at(c)];
        for (int k = 0; k < 3; ++k) column[at(k) * n] += linear[k], column[at(3 + k) * n] += angular[k];
      });
    }
}

// And what acts at a single point goes where that goes, as rows of other contacts tell by themselves (contact_vjp.cpp):
//   (J_b - J_a)^T z at p:   d/dp = z x (omega_b - omega_a)        of each column
void Stepper::add_moving_of_impulses(const StepIsland& island, std::size_t b, double* by_q) {
  const Model& m = world_->model();
  const int n = padded(m.n_v);
  const StepIsland::Block& block = island.blocks[b];
  const SceneQuery::PairManifold& pair = manifolds_[at(block.manifold)];
  const ManifoldPointDerivatives& rates = manifold_rates_[at(block.manifold)].points[0];
  const SmallMatrices& matrices = small_matrices();
  point_by_.assign(at(3 * n), 0.0), per_point_.assign(at(3 * n), 0.0);
  for (const int side : {0, 1}) {
    if (world_->scene().object(side ? pair.b : pair.a).body == 0) continue;
    double moved[6][3];
    for (int k = 0; k < 6; ++k)
      for (int c = 0; c < 3; ++c) moved[k][c] = rates.twist[6 * side + k].p_W[c];
    matrices.add_product(LeftFactor::transposed(moved[0], 3, 6), twists_by(block.manifold, side), n, point_by_.data(), n, n);
  }
  const double* const z = &island.solution.z[at(island.problem.blocks[b].first_channel)];
  for (const int side : {0, 1})
    for_each_on_path(m, side ? block.b : block.a, [&](int c) {
      const Vec3d turned = (side ? 1.0 : -1.0) * cross(Vec3d{z[0], z[1], z[2]}, data_.J[at(c)].angular);
      for (int k = 0; k < 3; ++k) per_point_[at(3 * m.column_v[at(c)] + k)] += turned[k];
    });
  matrices.add_product({per_point_.data(), m.n_v, 3}, point_by_.data(), n, by_q, jacobian_columns_.stride, n);
}

// alpha, in the columns that are asked for. By v, with T what the turning of axes changes by with it (turning_rates),
//   M^^-1 (M (1 - dt T) - dt dh/dv) = W + M^^-1 (-dt dh/dv - (M^ - M) W),   W = 1 - dt T,
// so that M itself is not needed; M^ - M is what is implicit of damping and springs.
void Stepper::free_jacobians(const double* v) {
  const Model& m = world_->model();
  const double dt = options_.dt;
  const std::size_t n = at(m.n_v);
  const JacobianColumns& by = jacobian_columns_;
  const int stride = by.stride;
  moved_by_.assign(n * at(stride), 0.0);
  for (int i = 0; by.tau >= 0 && i < m.n_v; ++i) moved_by_[at(i * stride + by.tau + i)] = dt;
  if (by.q >= 0 || by.v >= 0) {
    turning_rates(m, v, a_.data());
    for (std::size_t k = 0; k < n; ++k) a_[k] += (moved_[k] - v[k]) / dt;
    detail::derivatives_outward<true>(m, data_, v, a_.data(), Vec3d(m.gravity));
    if (by.q < 0 || by.v < 0) unasked_.assign(n * at(stride), 0.0);
    double* const by_q = by.q >= 0 ? &moved_by_[at(by.q)] : unasked_.data();
    double* const by_v = by.v >= 0 ? &moved_by_[at(by.v)] : unasked_.data();
    inverse_dynamics_rates().fill(m, data_, -dt, by_q, by_v, stride);
    for (const World::Coordinate& c : world_->coordinates()) by_q[c.v * (stride + 1)] -= dt * m.stiffness[at(c.v)];
    for_each_turning([&](int row, int column, double W) { by_v[row * stride + column] -= dt * (m.damping[at(row)] + dt * m.stiffness[at(row)]) * W; }, v);
    if (by.q >= 0 && n_islands_ > 0) {
      add_turning_of_impulses(by_q);
      for (int i = 0; i < n_islands_; ++i)
        for (std::size_t b = 0; b < islands_[at(i)].blocks.size(); ++b) {
          const StepIsland::Block& block = islands_[at(i)].blocks[b];
          if (block.manifold >= 0 && !block.turns) add_moving_of_impulses(islands_[at(i)], b, by_q);
        }
    }
  }
  columns().mass_solve(m, data_.L.data(), moved_by_.data(), stride);
  if (by.v >= 0) for_each_turning([&](int row, int column, double W) { moved_by_[at(row * stride + by.v + column)] += W; }, v);
}

// From u to the next state: q_next = q + dt u and v_next = u, but where joints move freely in axes that turn (advance of configuration.h).
void Stepper::advance_jacobians(const JacobianBlocks& out) {
  const Model& m = world_->model();
  const JacobianColumns& by = jacobian_columns_;
  const int n = m.n_v;
  const auto for_each_block = [&](auto&& use) {  // use(block, columns, where the first of them is in a row of moved_by_)
    const std::tuple<double*, int, int> blocks[] = {{out.q, n, by.q}, {out.v, n, by.v}, {out.tau, n, by.tau}, {out.q_target, m.n_q, by.q_target}, {out.v_target, n, by.v_target}};
    for (const auto& [block, count, first] : blocks)
      if (first >= 0) use(block, count, first);
  };
  for_each_block([&](double* block, int count, int first) { columns().advance(&moved_by_[at(first)], by.stride, n, count, options_.dt, block, block + n * count); });
  detail::for_each_own_joint(m, [&](auto type, const Joint& joint) {
    const int k = joint.v_index, w = joint.n_v;
    if constexpr (requires { type.turning_rate(way_.data(), way_.data()); }) {
      AdvanceRates<double, decltype(type)> rates(options_.dt, &way_[at(k)], &moved_[at(k)]);
      for (int row = 0; row < 2 * w; ++row) add_scaled<type.n_v>(1.0, rates.by_v[row], rates.by_u[row]);  // both are u
      for_each_block([&](double* block, int count, int first) {
        columns().advance_turning(rates.by_u[0], w, &moved_by_[at(k * by.stride + first)], by.stride, count, block + k * count, block + (n + k) * count);
      });
      for (int row = 0; by.q >= 0 && row < 2 * w; ++row)
        for (int c = 0; c < w; ++c) out.q[at((row < w ? k + row : n + k + row - w) * n + k + c)] += rates.by_q[row][c];
    } else {
      for (int c = k; by.q >= 0 && c < k + w; ++c) out.q[at(c * n + c)] += 1;
    }
  });
}

bool Stepper::has_impacts() const {
  return std::any_of(islands_.begin(), islands_.begin() + n_islands_, [](const StepIsland& island) { return island.has_impacts; });
}

bool Stepper::jacobians(const double* q, const double* v, const StepControl& control, const JacobianBlocks& out) {
  const Model& m = world_->model();
  if (m.n_v == 0) return false;
  if (!is_diverged_ && (out.parameters ? !is_derived_by_everything_ : !is_derived_)) derive(q, v, control, has_impacts() || out.parameters);
  if (is_diverged_ || has_impacts()) return jacobians_by_gradients(q, v, control, out), is_diverged_ || is_one_sided_;
  resize_adjoint();
  bool is_driven = false;
  for (int k = 0; k < m.n_v; ++k) is_driven |= world_->motor(k).is_there();
  int end = 0;
  const auto take = [&](const double* block, int count, bool any = true) {
    const int first = end;
    end += block && any ? count : 0;
    return block && any ? first : -1;
  };
  jacobian_columns_ = {take(out.q, m.n_v), take(out.v, m.n_v), take(out.tau, m.n_v), take(out.q_target, m.n_q, is_driven), take(out.v_target, m.n_v, is_driven), 0};
  jacobian_columns_.stride = padded(end);
  if (end > 0) {
    if (out.q) fill_twists();
    free_jacobians(v);
    for (int i = 0; i < n_islands_; ++i) add_impulse_jacobians(i, q, v, control);
    advance_jacobians(out);
  }
  if (out.parameters) parameter_jacobian(q, v, control, out);
  if (!is_driven && out.q_target) std::fill_n(out.q_target, 2 * at(m.n_v) * at(m.n_q), 0.0);
  if (!is_driven && out.v_target) std::fill_n(out.v_target, 2 * at(m.n_v) * at(m.n_v), 0.0);
  return is_one_sided_;
}

// Of each velocity at the end one gradient, which has all parameters; from there on column by column.
void Stepper::parameter_jacobian(const double* q, const double* v, const StepControl& control, const JacobianBlocks& out) {
  const Model& m = world_->model();
  const std::size_t n = at(m.n_v), columns = at(out.selection->size());
  StepGradient& row = of_impulse_;
  moved_by_.resize(n * columns);
  for (std::size_t i = 0; i < n; ++i) {
    row.set_zero(*world_);
    resize_adjoint();
    std::fill(v_bar_.begin(), v_bar_.end(), 0.0), std::fill(way_bar_.begin(), way_bar_.end(), 0.0);
    v_bar_[i] = 1;
    pull_back_velocity(q, v, control, row);
    out.selection->read(row.parameters, &moved_by_[i * columns]);
  }
  // How far dt itself goes in each column.
  row.set_zero(*world_);
  *row.parameters.of("dt") = 1;
  std::vector<double>& by_dt = unasked_;
  by_dt.resize(columns), unit_.resize(n), zero_.assign(n, 0.0), d_acceleration_.resize(2 * n);
  out.selection->read(row.parameters, by_dt.data());
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t i = 0; i < n; ++i) unit_[i] = moved_by_[i * columns + c];
    double *const q_next = d_acceleration_.data(), *const v_next = q_next + n;
    advance_jvp(m, options_.dt, way_.data(), moved_.data(), zero_.data(), by_dt[c], unit_.data(), unit_.data(), q_next, v_next);
    for (std::size_t i = 0; i < 2 * n; ++i) out.parameters[i * columns + c] = d_acceleration_[i];
  }
}

void Stepper::jacobians_by_gradients(const double* q, const double* v, const StepControl& control, const JacobianBlocks& out) {
  const std::size_t n = at(world_->model().n_v);
  unit_.assign(n, 0.0), zero_.assign(n, 0.0);
  for (std::size_t i = 0; i < 2 * n; ++i) {
    unit_[i % n] = 1;
    exact_vjp(q, v, control, (i < n ? unit_ : zero_).data(), (i < n ? zero_ : unit_).data(), of_impulse_);
    unit_[i % n] = 0;
    const auto put = [&](const std::vector<double>& row, double* block) {
      if (block) std::copy(row.begin(), row.end(), block + i * row.size());
    };
    const StepGradient& row = of_impulse_;
    put(row.q, out.q), put(row.v, out.v), put(row.tau, out.tau), put(row.q_target, out.q_target), put(row.v_target, out.v_target);
    if (out.parameters) out.selection->read(row.parameters, out.parameters + i * at(out.selection->size()));
  }
}

}  // namespace robosim

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

#include "contact/small_matrices.h"
#include "contact/small_sums.h"
#include "dynamics/configuration.h"
#include "dynamics/mass_factor.h"
#include "dynamics/rnea_derivatives.h"
#include "step/columns.h"
#include "step/step.h"

namespace robosim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

JacobianBlocks JacobianBlocks::of(const Model& m, int step) const {
  const auto own = [&](double* block, int columns) { return block ? block + static_cast<std::ptrdiff_t>(step) * 2 * m.n_v * columns : nullptr; };
  return {own(q, m.n_v), own(v, m.n_v), own(tau, m.n_v), own(q_target, m.n_q), own(v_target, m.n_v)};
}

JacobianBlocks StepJacobians::resize(const Model& m) {
  const std::size_t n = at(m.n_v);
  for (auto* x : {&q, &v, &tau, &v_target}) x->resize(2 * n * n);
  q_target.resize(2 * n * at(m.n_q));
  return {q.data(), v.data(), tau.data(), q_target.data(), v_target.data()};
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
  const std::size_t n = at(m.n_v);
  carry_impulses();
  for (int i = m.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = m.joints[at(i)];
    if (joint.parent > 0) carried_[at(joint.parent)] += carried_[at(i)];
    for (int c = joint.column; c < joint.column + joint.n_v; ++c) {
      const Force<double> turned = cross(data_.J[at(c)], carried_[at(i)]);
      double* const row = by_q + at(m.column_v[at(c)]) * n;
      for_each_on_path(m, i, [&](int l) { row[m.column_v[at(l)]] += dot(data_.J[at(l)], turned); });
    }
  }
}

// How the shapes of all contacts move with the joints: of each its twist, [linear; angular] in its own frame, by all of them.
// Joints that mimic others share their coordinate: their twists add up.
void Stepper::fill_twists() {
  const Model& m = world_->model();
  const std::size_t n = at(m.n_v);
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
  const int n = m.n_v;
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
  matrices.add_product({per_point_.data(), n, 3}, point_by_.data(), n, by_q, n, n);
}

// alpha, in the columns that are asked for.
void Stepper::free_jacobians(const double* v) {
  const Model& m = world_->model();
  const double dt = options_.dt;
  const std::size_t n = at(m.n_v), stride = at(jacobian_columns_.stride);
  const auto [q_begin, v_begin, tau_begin] = std::array{jacobian_columns_.q, jacobian_columns_.v, jacobian_columns_.tau};
  moved_by_.assign(n * stride, 0.0);
  for (std::size_t i = 0; tau_begin >= 0 && i < n; ++i) moved_by_[i * stride + at(tau_begin) + i] = dt;
  if (q_begin >= 0 || v_begin >= 0) {
    for (auto* x : {&by_q_, &by_v_, &mass_}) x->assign(n * n, 0.0);
    turning_rates(m, v, a_.data());
    for (std::size_t k = 0; k < n; ++k) a_[k] += (moved_[k] - v[k]) / dt;
    const bool turns = std::any_of(m.joints.begin(), m.joints.end(), [](const Joint& joint) { return joint.n_v > 1; });
    detail::rnea_derivatives_sweep<false>(m, data_, v, a_.data(), by_q_.data(), by_v_.data(), m.n_v, mass_.data(), Wrenches<double>());
    for (std::size_t i = 0; i < n; ++i) {
      double *const row_q = &by_q_[i * n], *const row_v = &by_v_[i * n];
      const double* const M = &mass_[i * n];
      for (std::size_t c = 0; c < n; ++c) row_q[c] *= -dt, row_v[c] = M[c] - dt * row_v[c];
      if (!turns) continue;
      for (std::size_t c = 0; c < n; ++c) a_bar_[c] = -dt * M[c];
      add_turning_rates_vjp(m, v, a_bar_.data(), row_v);
    }
    for (const World::Coordinate& c : world_->coordinates()) by_q_[at(c.v) * (n + 1)] -= dt * m.stiffness[at(c.v)];
    if (q_begin >= 0 && n_islands_ > 0) {
      add_turning_of_impulses(by_q_.data());
      for (int i = 0; i < n_islands_; ++i)
        for (std::size_t b = 0; b < islands_[at(i)].blocks.size(); ++b) {
          const StepIsland::Block& block = islands_[at(i)].blocks[b];
          if (block.manifold >= 0 && !block.turns) add_moving_of_impulses(islands_[at(i)], b, by_q_.data());
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (q_begin >= 0) std::copy_n(&by_q_[i * n], n, &moved_by_[i * stride + at(q_begin)]);
      if (v_begin >= 0) std::copy_n(&by_v_[i * n], n, &moved_by_[i * stride + at(v_begin)]);
    }
  }
  columns().mass_solve(m, data_.L.data(), moved_by_.data(), jacobian_columns_.stride);
}

// From u to the next state: joint by joint, where they move freely in axes that turn (advance of configuration.h).
void Stepper::advance_jacobians(const JacobianBlocks& out) {
  const Model& m = world_->model();
  const JacobianColumns& columns = jacobian_columns_;
  const std::size_t n = at(m.n_v), n_q = at(m.n_q), stride = at(columns.stride);
  // use(block, x, count) of all blocks that are asked for: x, as many as the block has columns, of row `from` of moved_by_.
  const auto for_each_block = [&](std::size_t from, auto&& use) {
    const double* const x = &moved_by_[from * stride];
    const auto one = [&](int first, std::size_t count, double* block) {
      if (first >= 0) use(block, x + first, count);
    };
    one(columns.q, n, out.q), one(columns.v, n, out.v), one(columns.tau, n, out.tau);
    one(columns.q_target, n_q, out.q_target), one(columns.v_target, n, out.v_target);
  };
  // scale times that in this row of all blocks, added but for the first.
  const auto put_row = [&](std::size_t row, std::size_t from, double scale, bool is_first) {
    for_each_block(from, [&](double* block, const double* x, std::size_t count) {
      double* const to = block + row * count;
      if (is_first) std::fill_n(to, count, 0.0);
      add_scaled(scale, x, static_cast<int>(count), to);
    });
  };
  int most = 0;
  detail::for_each_own_joint(m, [&](auto, const Joint& joint) {
    if (joint.n_v > 1) most = std::max(most, joint.n_v);
    if (joint.n_v != 1) return;
    // q_next = q + dt u, v_next = u
    const std::size_t k = at(joint.v_index);
    for_each_block(k, [&](double* block, const double* __restrict x, std::size_t count) {
      double *const __restrict to_q = block + k * count, *const __restrict to_v = block + (n + k) * count;
      for (std::size_t c = 0; c < count; ++c) to_q[c] = options_.dt * x[c], to_v[c] = x[c];
    });
    if (columns.q >= 0) out.q[k * n + k] += 1;
  });
  if (most == 0) return;
  unit_.resize(n), zero_.assign(n, 0.0);
  for (int s = 0; s < most; ++s) {  // entry s of all other joints at once
    const auto each = [&](const auto& use) {
      detail::for_each_own_joint(m, [&](auto, const Joint& joint) {
        if (joint.n_v > 1 && s < joint.n_v) use(joint);
      });
    };
    std::fill(unit_.begin(), unit_.end(), 0.0);
    each([&](const Joint& joint) { unit_[at(joint.v_index + s)] = 1; });
    for (const bool is_v : {false, true}) {
      advance_vjp(m, options_.dt, way_.data(), moved_.data(), (is_v ? zero_ : unit_).data(), (is_v ? unit_ : zero_).data(), q_part_.data(), way_bar_.data(),
                  v_bar_.data());
      each([&](const Joint& joint) {
        const std::size_t row = at(joint.v_index + s) + (is_v ? n : 0);
        const std::size_t first = at(joint.v_index), end = first + at(joint.n_v);
        for (std::size_t l = first; l < end; ++l)
          if (const double scale = way_bar_[l] + v_bar_[l]; scale != 0 || l == first) put_row(row, l, scale, l == first);
        for (std::size_t l = first; columns.q >= 0 && l < end; ++l) out.q[row * n + l] += q_part_[l];
      });
    }
  }
}

bool Stepper::has_impacts() const {
  return std::any_of(islands_.begin(), islands_.begin() + n_islands_, [](const StepIsland& island) { return island.has_impacts; });
}

bool Stepper::jacobians(const double* q, const double* v, const StepControl& control, const JacobianBlocks& out) {
  const Model& m = world_->model();
  if (m.n_v == 0) return false;
  if (!is_diverged_ && !is_derived_) derive(q, v, control, has_impacts());
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
  if (out.q) fill_twists();
  free_jacobians(v);
  for (int i = 0; i < n_islands_; ++i) add_impulse_jacobians(i, q, v, control);
  advance_jacobians(out);
  if (!is_driven && out.q_target) std::fill_n(out.q_target, 2 * at(m.n_v) * at(m.n_q), 0.0);
  if (!is_driven && out.v_target) std::fill_n(out.v_target, 2 * at(m.n_v) * at(m.n_v), 0.0);
  return is_one_sided_;
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
  }
}

}  // namespace robosim

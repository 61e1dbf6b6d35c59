// The Jacobians of a step, all columns at once.
//
// At fixed impulses z the new velocity u changes by (step_vjp.cpp)
//   alpha = M^^-1 (-d_x r + d_x X^T z)
// forwards, as derivatives of inverse dynamics (rnea_derivatives.h) solved with M^^. The impulses answer through the rows,
//   du = alpha + Y dz,   dz = Z_y (X alpha + dX u) + Z_d : dd + Z_t : dt + G : dL,   Y = M^^-1 X^T,   Z = dz of the rows alone
// and of each channel's impulse that is one adjoint, which goes back to the configuration through the contacts' geometry: as many as there are
// channels, six for two bodies or three where they touch at one point, instead of 2 n_v gradients. Where impulses act within the step (impacts.cpp) the way is not u, and the Jacobians are
// made of gradients.
// Cost: O(n depth) and 3 n solves with M^^, a gradient of the rows per channel, and O(n^2 channels).
#include <algorithm>

#include "dynamics/configuration.h"
#include "dynamics/mass_factor.h"
#include "dynamics/rnea_derivatives.h"
#include "step/step.h"

namespace robosim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// to += sum_i a_i B_i over rows of B, of which many a_i may be zero: four rows at a time, so that `to` is read and written less often.
class RowSum {
 public:
  RowSum(double* to, std::size_t columns) : to_(to), columns_(columns) {}
  ~RowSum() { flush(); }
  RowSum(const RowSum&) = delete;
  RowSum& operator=(const RowSum&) = delete;

  void add(double a, const double* row) {
    if (a == 0) return;
    a_[count_] = a, row_[count_] = row;
    if (++count_ == together) flush();
  }

 private:
  static constexpr int together = 4;

  void flush() {
    if (count_ == 0) return;
    for (int i = count_; i < together; ++i) a_[i] = 0, row_[i] = row_[0];
    double* __restrict const to = to_;
    const double a = a_[0], b = a_[1], c = a_[2], d = a_[3];
    const double *const A = row_[0], *const B = row_[1], *const C = row_[2], *const D = row_[3];
    for (std::size_t i = 0, n = columns_; i < n; ++i) to[i] += a * A[i] + b * B[i] + (c * C[i] + d * D[i]);
    count_ = 0;
  }

  double* to_;
  std::size_t columns_;
  double a_[together];
  const double* row_[together] = {};
  int count_ = 0;
};

// C += A B, all row by row: rows x inner, inner x columns.
void add_product(const double* A, std::size_t rows, std::size_t inner, const double* B, std::size_t columns, double* C) {
  for (std::size_t r = 0; r < rows; ++r) {
    RowSum sum(C + r * columns, columns);
    for (std::size_t i = 0; i < inner; ++i) sum.add(A[r * inner + i], B + i * columns);
  }
}

// C += A^T B: A is inner x rows.
void add_transposed_product(const double* A, std::size_t inner, std::size_t rows, const double* B, std::size_t columns, double* C) {
  for (std::size_t r = 0; r < rows; ++r) {
    RowSum sum(C + r * columns, columns);
    for (std::size_t i = 0; i < inner; ++i) sum.add(A[i * rows + r], B + i * columns);
  }
}

}  // namespace

void StepJacobians::resize(const Model& m) {
  const std::size_t n = at(m.n_v);
  for (auto* x : {&q, &v, &tau, &v_target}) x->resize(2 * n * n);
  q_target.resize(2 * n * at(m.n_q));
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

// And what acts at a single point goes where that goes, as rows of other contacts tell by themselves (contact_vjp.cpp):
//   (J_b - J_a)^T z at p:   d/dp = z x (omega_b - omega_a)        of each column
void Stepper::add_moving_of_impulses(const StepIsland& island, std::size_t b, double* by_q) {
  const Model& m = world_->model();
  const std::size_t n = at(m.n_v);
  const StepIsland::Block& block = island.blocks[b];
  const SceneQuery::PairManifold& pair = manifolds_[at(block.manifold)];
  const ManifoldPointDerivatives& rates = manifold_rates_[at(block.manifold)].points[0];
  point_by_.assign(3 * n, 0.0);
  for (const int side : {0, 1}) {
    const int object = side ? pair.b : pair.a, piece = side ? pair.piece_b : pair.piece_a;
    const SceneObject& o = world_->scene().object(object);
    const SE3d X = o.geometry.body().with_piece(piece, [&](const Compound::Piece& p) { return query_.X_WO(object) * p.X_BP; });
    for_each_on_path(m, o.body, [&](int c) {
      const Motion<double> J = at_point(data_.J[at(c)], X.p - data_.X_WB[1].p);
      const Vec3d linear = transpose_times(X.R, J.linear), angular = transpose_times(X.R, J.angular);
      Vec3d moved;
      for (int k = 0; k < 3; ++k) moved += linear[k] * rates.twist[6 * side + k].p_W + angular[k] * rates.twist[6 * side + 3 + k].p_W;
      for (int k = 0; k < 3; ++k) point_by_[at(k) * n + at(m.column_v[at(c)])] += moved[k];
    });
  }
  const double* const z = &island.solution.z[at(island.problem.blocks[b].first_channel)];
  for (const int side : {0, 1})
    for_each_on_path(m, side ? block.b : block.a, [&](int c) {
      const Vec3d per_point = (side ? 1.0 : -1.0) * cross(Vec3d{z[0], z[1], z[2]}, data_.J[at(c)].angular);
      double* const row = by_q + at(m.column_v[at(c)]) * n;
      for (int k = 0; k < 3; ++k)
        for (std::size_t j = 0; j < n; ++j) row[j] += per_point[k] * point_by_[at(k) * n + j];
    });
}

// alpha, in columns of q, v and tau.
void Stepper::free_jacobians(const double* v, std::size_t width) {
  const Model& m = world_->model();
  const double dt = options_.dt;
  const std::size_t n = at(m.n_v);
  for (auto* x : {&by_q_, &by_v_, &mass_}) x->assign(n * n, 0.0);
  turning_rates(m, v, a_.data());
  for (std::size_t k = 0; k < n; ++k) a_[k] += (moved_[k] - v[k]) / dt;
  detail::rnea_derivatives_sweep<false>(m, data_, v, a_.data(), by_q_.data(), by_v_.data(), m.n_v, mass_.data(), Wrenches<double>());
  for (std::size_t i = 0; i < n; ++i) {
    double *const row_q = &by_q_[i * n], *const row_v = &by_v_[i * n];
    const double* const M = &mass_[i * n];
    for (std::size_t c = 0; c < n; ++c) row_q[c] *= -dt, row_v[c] = M[c] - dt * row_v[c], a_bar_[c] = -dt * M[c];
    add_turning_rates_vjp(m, v, a_bar_.data(), row_v);
  }
  for (const World::Coordinate& c : world_->coordinates()) by_q_[at(c.v) * (n + 1)] -= dt * m.stiffness[at(c.v)];
  add_turning_of_impulses(by_q_.data());
  bool on_tree = !m.has_mimic;  // what moves a point on one branch pushes the other
  for (int i = 0; i < n_islands_; ++i)
    for (std::size_t b = 0; b < islands_[at(i)].blocks.size(); ++b) {
      const StepIsland::Block& block = islands_[at(i)].blocks[b];
      if (block.manifold < 0 || block.turns) continue;
      add_moving_of_impulses(islands_[at(i)], b, by_q_.data());
      on_tree &= block.a == 0 || block.b == 0;
    }

  const double* const L = data_.L.data();
  if (on_tree) {
    mass_solve_tree(m, L, {by_q_.data(), by_v_.data()}, {0, 0}, m.n_v);
  } else {
    for (auto* x : {&by_q_, &by_v_}) mass_solve(m, L, x->data(), m.n_v);
  }
  double* const inverse = mass_.data();  // its upper triangle
  mass_inverse(m, L, data_.matrix_a, inverse);
  moved_by_.assign(n * width, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = &moved_by_[i * width];
    std::copy_n(&by_q_[i * n], n, row), std::copy_n(&by_v_[i * n], n, row + n);
    for (std::size_t c = 0; c < n; ++c) row[2 * n + c] = dt * (c < i ? inverse[c * n + i] : inverse[i * n + c]);
  }
}

// Adds Y dz of an island, in columns of q, v and tau, and of targets where there are motors. An island moves no other's coordinates.
void Stepper::add_impulse_jacobians(StepIsland& island, const double* q, const double* v, const StepControl& control, std::size_t width) {
  const std::size_t n = at(world_->model().n_v), n_q = at(world_->model().n_q), k = at(island.problem.channels);
  StepGradient& row = of_impulse_;
  impulses_by_.assign(k * width, 0.0), by_free_.resize(k * k);
  impulse_bar_.assign(k, 0.0);
  for (std::size_t c = 0; c < k; ++c) {
    for (auto* x : {&row.q, &row.v, &row.q_target, &row.v_target}) std::fill(x->begin(), x->end(), 0.0);
    for (auto* x : {&turned_, &carried_}) std::fill(x->begin(), x->end(), Force<double>());
    impulse_bar_[c] = 1;
    add_row_adjoint(island, row);
    add_row_vjp(island, q, v, control, nullptr, row);
    gather_turned(row.q.data(), nullptr);
    impulse_bar_[c] = 0;
    std::copy_n(island.gradient.y_free.data(), k, &by_free_[c * k]);
    double* to = &impulses_by_[c * width];
    to = std::copy_n(row.q.data(), n, to), to = std::copy_n(row.v.data(), n, to) + n;
    if (width > 3 * n) std::copy_n(row.v_target.data(), n, std::copy_n(row.q_target.data(), n_q, to));
  }
  channels_by_.assign(k * width, 0.0);
  add_transposed_product(island.X.data(), n, k, moved_by_.data(), width, channels_by_.data());
  add_product(by_free_.data(), k, k, channels_by_.data(), width, impulses_by_.data());
  add_product(island.Y.data(), n, k, impulses_by_.data(), width, moved_by_.data());
}

// From u to the next state: joint by joint, where they move freely in axes that turn (advance of configuration.h).
void Stepper::advance_jacobians(std::size_t width, StepJacobians& out) {
  const Model& m = world_->model();
  const std::size_t n = at(m.n_v), n_q = at(m.n_q);
  const auto put = [](const double* from, std::size_t columns, double scale, bool is_first, double* to) {
    if (is_first)
      for (std::size_t c = 0; c < columns; ++c) to[c] = scale * from[c];
    else
      for (std::size_t c = 0; c < columns; ++c) to[c] += scale * from[c];
  };
  const auto put_row = [&](std::size_t row, std::size_t from, double scale, bool is_first) {
    const double* x = &moved_by_[from * width];
    for (auto* block : {&out.q, &out.v, &out.tau}) put(x, n, scale, is_first, block->data() + row * n), x += n;
    if (width == 3 * n) return;
    put(x, n_q, scale, is_first, out.q_target.data() + row * n_q), put(x + n_q, n, scale, is_first, out.v_target.data() + row * n);
  };
  int most = 0;
  for (const Joint& joint : m.joints) most = std::max(most, joint.n_v);
  unit_.resize(n), zero_.assign(n, 0.0);
  for (int s = 0; s < most; ++s) {  // entry s of all joints at once
    const auto each = [&](const auto& use) {
      detail::for_each_own_joint(m, [&](auto, const Joint& joint) {
        if (s < joint.n_v) use(joint);
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
        for (std::size_t l = first; l < end; ++l) out.q[row * n + l] += q_part_[l];
      });
    }
  }
}

bool Stepper::has_impacts() const {
  return std::any_of(islands_.begin(), islands_.begin() + n_islands_, [](const StepIsland& island) { return island.has_impacts; });
}

void Stepper::jacobians(const double* q, const double* v, const StepControl& control, StepJacobians& out) {
  const Model& m = world_->model();
  const std::size_t n = at(m.n_v), n_q = at(m.n_q);
  out.resize(m);
  out.is_one_sided = false;
  if (n == 0) return;
  if (!is_derived_) derive(q, v, control);
  out.is_one_sided = is_one_sided_;
  if (has_impacts()) return jacobians_by_gradients(q, v, control, out);
  resize_adjoint();
  of_impulse_.set_zero(*world_);
  of_impulse_.wants_vertices = false;
  bool is_driven = false;
  for (int k = 0; k < m.n_v; ++k) is_driven |= world_->motor(k).is_there();
  const std::size_t width = 3 * n + (is_driven ? n_q + n : 0);
  free_jacobians(v, width);
  for (int i = 0; i < n_islands_; ++i) add_impulse_jacobians(islands_[at(i)], q, v, control, width);
  advance_jacobians(width, out);
  if (!is_driven)
    for (auto* x : {&out.q_target, &out.v_target}) std::fill(x->begin(), x->end(), 0.0);
}

void Stepper::jacobians_by_gradients(const double* q, const double* v, const StepControl& control, StepJacobians& out) {
  const std::size_t n = at(world_->model().n_v), n_q = at(world_->model().n_q);
  unit_.assign(n, 0.0), zero_.assign(n, 0.0);
  for (std::size_t i = 0; i < 2 * n; ++i) {
    unit_[i % n] = 1;
    exact_vjp(q, v, control, (i < n ? unit_ : zero_).data(), (i < n ? zero_ : unit_).data(), of_impulse_);
    unit_[i % n] = 0;
    const StepGradient& row = of_impulse_;
    std::copy_n(row.q.data(), n, &out.q[i * n]), std::copy_n(row.v.data(), n, &out.v[i * n]);
    std::copy_n(row.tau.data(), n, &out.tau[i * n]), std::copy_n(row.v_target.data(), n, &out.v_target[i * n]);
    std::copy_n(row.q_target.data(), n_q, out.q_target.data() + i * n_q);
  }
}

}  // namespace robosim

// What the impulses of an island answer to, in the columns of the Jacobians (step_jacobians.cpp).
//
// Solved rows tell what their impulses change by with each of their numbers (contact/impulse_rates.h): of a contact these move with the twists of both
// shapes, twelve numbers, and shapes with the joints before them, so that a block of channels costs twelve columns, however many joints there
// are. Channels turn with the joints as well: with V a body's velocity against the parent of joint c's,
//   d(X u)/dq_c = J_c x V      at the channels' point
// Of rows that have no such rates, as sweeps, sliding discs, bounces and closures, each channel's impulse has one adjoint (step_vjp.cpp) instead.
#include <algorithm>

#include "dynamics/kinematics.h"
#include "step/columns.h"
#include "step/contact_axes.h"
#include "step/step.h"

namespace robosim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void put(const Vec3d& x, double* to) {
  for (int k = 0; k < 3; ++k) to[k] = x[k];
}

}  // namespace

bool Stepper::has_rates(StepIsland& island) {
  if (options_.solver == RowSolver::pgs || !island.has_modes) return false;
  for (const StepIsland::Block& block : island.blocks)
    if (block.closure >= 0 || block.equality >= 0) return false;
  for (const StepIsland::Row& row : island.rows)
    if (row.law == NormalLaw::bounce) return false;
  return island.modes->rates(island.problem, impulse_rates_);
}

// Adds Y dz of an island. An island moves no other's coordinates.
void Stepper::add_impulse_jacobians(StepIsland& island, const double* q, const double* v, const StepControl& control) {
  const int n = world_->model().n_v, k = island.problem.channels, stride = jacobian_columns_.stride;
  const Columns& columns = robosim::columns();
  impulses_by_.assign(at(k * stride), 0.0), channels_by_.assign(at(k * stride), 0.0);
  columns.add_product(island.X.data(), 1, k, k, n, moved_by_.data(), channels_by_.data(), stride);
  if (has_rates(island)) add_rates(island, control);
  else add_adjoints(island, q, v, control);
  columns.add_product(impulse_rates_.by_velocity.data(), 1, k, k, k, channels_by_.data(), impulses_by_.data(), stride);
  columns.add_product(island.Y.data(), k, 1, n, k, impulses_by_.data(), moved_by_.data(), stride);
}

// By one adjoint for each channel: what it goes back to in its row, and in by_velocity.
void Stepper::add_adjoints(StepIsland& island, const double* q, const double* v, const StepControl& control) {
  const std::size_t k = at(island.problem.channels), stride = at(jacobian_columns_.stride);
  StepGradient& row = of_impulse_;
  row.set_zero(*world_);
  row.wants_vertices = false;
  impulse_bar_.assign(k, 0.0), impulse_rates_.by_velocity.resize(k * k);
  for (std::size_t c = 0; c < k; ++c) {
    for (auto* x : {&row.q, &row.v, &row.q_target, &row.v_target}) std::fill(x->begin(), x->end(), 0.0);
    for (auto* x : {&turned_, &carried_}) std::fill(x->begin(), x->end(), Force<double>());
    impulse_bar_[c] = 1;
    add_row_adjoint(island, row);
    add_row_vjp(island, q, v, control, nullptr, row);
    gather_turned(row.q.data(), nullptr);
    impulse_bar_[c] = 0;
    for (std::size_t other = 0; other < k; ++other) impulse_rates_.by_velocity[other * k + c] = island.gradient.y_free[other];
    const auto put_block = [&](const std::vector<double>& x, int first) {
      if (first >= 0) std::copy(x.begin(), x.end(), &impulses_by_[c * stride + at(first)]);
    };
    put_block(row.q, jacobian_columns_.q), put_block(row.v, jacobian_columns_.v);
    put_block(row.q_target, jacobian_columns_.q_target), put_block(row.v_target, jacobian_columns_.v_target);
  }
}

// By the rates of its rows, and what the turning of channels adds to what they see.
void Stepper::add_rates(const StepIsland& island, const StepControl& control) {
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    if (!island.blocks[b].is_of_bodies()) {
      add_coordinate_rates(island, b, control.q_target != nullptr);
    } else if (jacobian_columns_.q >= 0) {
      add_turning_of_channels(island, b);
      island.for_each_manifold(b, [&](int first_row, int last_row) { add_contact_rates(island, b, first_row, last_row); });
    }
  }
}

void Stepper::add_turning_of_channels(const StepIsland& island, std::size_t b) {
  const Model& m = world_->model();
  const StepIsland::Block& block = island.blocks[b];
  const Vec3d p = block.centre - data_.X_WB[1].p;  // from O (data.h)
  double* const first = &channels_by_[at(island.problem.blocks[b].first_channel * jacobian_columns_.stride + jacobian_columns_.q)];
  for (const int side : {0, 1}) {
    Motion<double> V;  // of the body against joint i's parent
    for (int i = side ? block.b : block.a; i > 0; i = m.joints[at(i)].parent) {
      const Joint& joint = m.joints[at(i)];
      V = V + joint_motion(data_, joint, moved_.data() + joint.v_index);
      for (int c = joint.column; c < joint.column + joint.n_v; ++c) {
        const Motion<double> turned = at_point(cross(data_.J[at(c)], V), p);
        const double sign = side ? 1 : -1;
        double* const column = first + m.column_v[at(c)];
        for (int k = 0; k < block.linear(); ++k) column[k * jacobian_columns_.stride] += sign * block.size * turned.angular[k];
        for (int k = 0; k < 3; ++k) column[(block.linear() + k) * jacobian_columns_.stride] += sign * turned.linear[k];
      }
    }
  }
}

// Of the rows of one manifold.
void Stepper::add_contact_rates(const StepIsland& island, std::size_t b, int first_row, int last_row) {
  const Model& model = world_->model();
  const RowProblem& problem = island.problem;
  const StepIsland::Block& block = island.blocks[b];
  RowBlock rows = problem.blocks[b];
  rows.first_row = first_row, rows.last_row = last_row;
  const int manifold = island.rows[at(first_row)].manifold;
  const SceneQuery::PairManifold& pair = manifolds_[at(manifold)];
  const ManifoldDerivatives& rates = manifold_rates_[at(manifold)];
  const Manifold& m = pair.manifold;
  const int k = problem.channels, count = last_row - first_row, stride = jacobian_columns_.stride;
  const double scale = 1 / block.size;
  const Vec3d n = m.normal();
  const ContactAxes axes = contact_axes(n);

  // Of a single point the channels go with it: y changes by omega x dp.
  Vec3d omega;
  if (!block.turns)
    for (const int side : {0, 1})
      for_each_on_path(model, side ? block.b : block.a, [&](int c) { omega += ((side ? 1 : -1) * moved_[at(model.column_v[at(c)])]) * data_.J[at(c)].angular; });

  const auto body_of = [&](int side) { return world_->scene().object(side ? pair.b : pair.a).body; };
  twist_rates_.assign(at(12 * k), 0.0), row_rates_.resize(at(count * most_block_channels)), target_rates_.resize(at(count));
  for (int t = 0; t < 12; ++t) {
    if (body_of(t / 6) == 0) continue;  // no joint moves it
    const Vec3d& dn = rates.points[0].twist[t].normal;
    const ContactAxes d_axes = contact_axes_moved(n, dn);
    for (int i = 0; i < count; ++i) {
      const StepIsland::Row& row = island.rows[at(rows.first_row + i)];
      const ManifoldRate& rate = rates.points[row.point].twist[t];
      const Vec3d arm = scale * (m.points[row.point].p_W - block.centre), d_arm = scale * rate.p_W;
      double *const d = &row_rates_[at(i * most_block_channels)], &target = target_rates_[at(i)];
      const auto on_axes = [&](const ContactAxes& x) { return row.on[0] * x.t[0] + row.on[1] * x.t[1]; };
      const auto along = [&](const Vec3d& u, const Vec3d& du) {
        if (block.turns) put(cross(d_arm, u) + cross(arm, du), d);
        put(du, d + block.linear());
      };
      const auto about = [&](const Vec3d& du) { put(scale * du, d), put(Vec3d(), d + 3); };
      target = 0;
      switch (row.source) {
        case RowSource::normal: {
          along(n, dn);
          const bool is_clipped = island.is_relaxed && problem.rows[at(rows.first_row + i)].target == 0;
          if (!is_clipped) target = -(row.law == NormalLaw::ahead ? 1 : options_.erp) / options_.dt * rate.distance;
          break;
        }
        case RowSource::friction_1:
        case RowSource::friction_2: along(on_axes(axes), on_axes(d_axes)); break;
        case RowSource::torsion: about(dn); break;
        default: about(on_axes(d_axes));
      }
    }
    double* const dz = &twist_rates_[at(t * k)];
    impulse_rates_.add(problem, island.solution, rows, row_rates_.data(), target_rates_.data(), dz);
    if (block.turns) continue;
    const Vec3d dy = cross(omega, rates.points[0].twist[t].p_W);
    for (int i = 0; i < 3; ++i)
      for (int c = 0; c < k; ++c) dz[c] += dy[i] * impulse_rates_.by_velocity[at((rows.first_channel + i) * k + c)];
  }

  // From both shapes' twists, [linear; angular] in their own frames, to the joints that move them.
  for (const int side : {0, 1}) {
    const int object = side ? pair.b : pair.a, piece = side ? pair.piece_b : pair.piece_a;
    const SceneObject& o = world_->scene().object(object);
    if (o.body == 0) continue;
    const SE3d X = o.geometry.body().with_piece(piece, [&](const Compound::Piece& p) { return query_.X_WO(object) * p.X_BP; });
    const double* const by_twist = &twist_rates_[at(6 * side * k)];
    for_each_on_path(model, o.body, [&](int c) {
      const Motion<double> J = at_point(data_.J[at(c)], X.p - data_.X_WB[1].p);
      const Vec3d linear = transpose_times(X.R, J.linear), angular = transpose_times(X.R, J.angular);
      double* const column = &impulses_by_[at(jacobian_columns_.q + model.column_v[at(c)])];
      for (int channel = 0; channel < k; ++channel) {
        double sum = 0;
        for (int i = 0; i < 3; ++i) sum += linear[i] * by_twist[i * k + channel] + angular[i] * by_twist[(3 + i) * k + channel];
        column[channel * stride] += sum;
      }
    });
  }
}

// Limits' and motors' targets: as in add_coordinate_vjp.
void Stepper::add_coordinate_rates(const StepIsland& island, std::size_t b, bool has_targets) {
  const StepIsland::Block& block = island.blocks[b];
  const int k = island.problem.channels, stride = jacobian_columns_.stride;
  const auto add = [&](int row, double by, int first, int place) {
    for (int c = 0; first >= 0 && c < k; ++c) impulses_by_[at(c * stride + first + place)] += by * impulse_rates_.by_target[at(row * k + c)];
  };
  for (int i = island.problem.blocks[b].first_row; i < island.problem.blocks[b].last_row; ++i) {
    const RowSource source = island.rows[at(i)].source;
    if (source == RowSource::lower_limit || source == RowSource::upper_limit) {
      const double rate = options_.erp / options_.dt;
      if (!(island.is_relaxed && island.problem.rows[at(i)].target == 0))
        add(i, source == RowSource::lower_limit ? -rate : rate, jacobian_columns_.q, block.v);
    } else if (source == RowSource::motor) {
      const Motor& motor = world_->motor(block.v);
      const double sum = motor.position_gain * options_.dt + motor.velocity_gain;
      if (block.q >= 0 && has_targets) {
        add(i, -motor.position_gain / sum, jacobian_columns_.q, block.v);
        add(i, motor.position_gain / sum, jacobian_columns_.q_target, block.q);
      }
      add(i, motor.velocity_gain / sum, jacobian_columns_.v_target, block.v);
    }
  }
}

}  // namespace robosim

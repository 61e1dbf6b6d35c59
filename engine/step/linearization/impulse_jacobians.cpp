// Response of an island's impulses, in the columns of the Jacobians (step_jacobians.cpp).
//
// Solved rows have derivatives of their impulses with respect to each of their numbers
// (contact/impulse_rates.h). The numbers of a contact change with the twists of both shapes, which
// have twelve components, and the shapes move with the joints before them. A block of channels
// therefore costs twelve columns, however many joints there are. Channels turn with the joints as
// well. With V a body's velocity relative to the parent of joint c,
//   d(X u)/dq_c = J_c x V      at the point of the channels
// Rows without such derivatives, such as those of sweeps, sliding discs, bounces and closures, take
// one adjoint per seed (moving_channels.h) instead.
#include <algorithm>

#include "base/index.h"
#include "base/linalg/small_matrices.h"
#include "base/linalg/zeros.h"
#include "dynamics/kinematics.h"
#include "dynamics/mass_factor.h"
#include "geometry/bodies/compound_derivatives.h"
#include "step/constraints/constraint_kinds.h"
#include "step/linearization/impulse_jacobians.h"
#include "step/linearization/torn_rows.h"

namespace robosim {
namespace {

void put(const Vec3d& x, double* to) {
  for (int k = 0; k < 3; ++k) to[k] = x[k];
}

}  // namespace

bool ImpulseJacobians::has_rates(StepIsland& island) {
  // Among the block kinds, only contacts have such derivatives.
  for (std::size_t b = 0; b < island.blocks.size(); ++b)
    if (is_of<Contact>(island.blocks[b]) ? !Contact::has_rates(island, b)
                                         : island.blocks[b].kind != StepIsland::of_coordinate)
      return false;
  return island.solved->rates(island.problem, rates_);
}

// Islands do not move each other's coordinates. For linearly dependent rows, the derivative of
// their inconsistency is one more row of impulses_by_. It requires the columns of q and v, and rows
// with derivatives.
OneSided ImpulseJacobians::add(StepIsland& island, const StepInput& in,
                               const JacobianColumns& columns, const ShapeTwists& twists,
                               std::vector<double>& moved_by) {
  // Choose between derivatives of the rows and adjoints, and how dependent rows are tested.
  rates_.of_dependences = false;
  const double* const Y = moving_.find(step_, island, rates_.asked);
  const int n = step_.model().n_v, k = island.problem.channels, asked = rates_.width(),
            stride = columns.stride;
  const bool has_dependences =
      !shared_.has_everything && island.solved->has_dependences(island.problem);
  rates_.of_dependences = asked > 0 && has_dependences && columns.q >= 0 && columns.v >= 0;
  const bool by_rates = asked > 0 && has_rates(island);
  rates_.of_dependences &= by_rates;
  bool torn = has_dependences && !rates_.of_dependences && is_torn(step_, island, in, vjp_, row_);
  if (asked == 0) return one_sided_if(torn, OneSided::torn);
  if (!by_rates) seeds_.find(step_, island);
  const int told = by_rates ? asked : seeds_.count, w = by_rates ? rates_.width() : told;
  const SmallMatrices& matrices = small_matrices();
  make_zeros(impulses_by_, at(w * stride));
  make_zeros(channels_by_, at(k * stride));
  if (by_rates)
    add_rates(island, in, columns, twists);
  else
    add_adjoints(island, in, columns);
  const auto add_seen = [&](int first, int end) {  // response to the velocities in channels_by_
    LeftFactor by_velocity(&rates_.by_velocity[first], end - first, k);
    by_velocity.by_row = 1;
    by_velocity.by_column = w;
    matrices.add_product(by_velocity, channels_by_.data(), stride, &impulses_by_[first * stride],
                         stride, stride);
  };
  // Dependent rows that exert no net force depend only on the rotation of the channels. The free
  // motion would add rounding errors.
  const bool is_held =
      rates_.of_dependences && !pushes(step_, island, &rates_.by_velocity[asked], w);
  if (is_held) add_seen(asked, w);
  matrices.add_sparse_product(LeftFactor::transposed(island.X.data(), k, n), moved_by.data(),
                              stride, channels_by_.data(), stride, stride);
  add_seen(0, is_held ? asked : w);
  // Change of the velocity by the impulses.
  matrices.add_product({by_rates ? Y : seeds_.moves.data(), n, told}, impulses_by_.data(), stride,
                       moved_by.data(), stride, stride);
  if (rates_.of_dependences) {
    const double* const missed = &impulses_by_[asked * stride];
    torn |= is_torn_by(step_, island, &rates_.by_target[asked], w, missed + columns.q,
                       missed + columns.v);
  }
  return one_sided_if(torn, OneSided::torn);
}

// Fill impulses_by_ and by_velocity by one adjoint per seed.
void ImpulseJacobians::add_adjoints(StepIsland& island, const StepInput& in,
                                    const JacobianColumns& columns) {
  const std::size_t k = at(island.problem.channels), w = at(seeds_.count),
                    stride = at(columns.stride);
  row_.set_zero(*step_.world);
  row_.wants_vertices = false;
  rates_.by_velocity.resize(k * w);
  for (std::size_t c = 0; c < w; ++c) {
    for (auto* x : {&row_.q, &row_.v, &row_.q_target, &row_.v_target})
      std::fill(x->begin(), x->end(), 0.0);
    vjp_.impulse_vjp(island, &seeds_.seeds[c * k], in, false, row_);
    for (std::size_t other = 0; other < k; ++other)
      rates_.by_velocity[other * w + c] = island.gradient.y_free[other];
    const auto put_block = [&](const std::vector<double>& x, int first) {
      if (first >= 0) std::copy(x.begin(), x.end(), &impulses_by_[c * stride + at(first)]);
    };
    put_block(row_.q, columns.q);
    put_block(row_.v, columns.v);
    put_block(row_.q_target, columns.q_target);
    put_block(row_.v_target, columns.v_target);
  }
}

// Fill impulses_by_ from the derivatives of the rows, and channels_by_ with the rotation of the
// channels.
void ImpulseJacobians::add_rates(const StepIsland& island, const StepInput& in,
                                 const JacobianColumns& columns, const ShapeTwists& twists) {
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    if (!island.blocks[b].is_of_bodies()) {
      add_coordinate_rates(island, b, in, columns);
    } else if (columns.q >= 0) {
      add_turning_of_channels(island, b, columns);
      island.for_each_manifold(b, [&](int first_row, int last_row) {
        add_contact_rates(island, b, first_row, last_row, columns, twists);
      });
    }
  }
}

void ImpulseJacobians::add_turning_of_channels(const StepIsland& island, std::size_t b,
                                               const JacobianColumns& columns) {
  const Model& m = step_.model();
  const StepIsland::Block& block = island.blocks[b];
  const Vec3d p = block.center - step_.dynamics.X_WB[1].p;  // from O (data.h)
  double* const first =
      &channels_by_[island.problem.blocks[b].first_channel * columns.stride + columns.q];
  for (const int side : {0, 1}) {
    Motion<double> V;  // of the body relative to joint i's parent
    for (int i = side ? block.b : block.a; i > 0; i = m.joints[i].parent) {
      const Joint& joint = m.joints[i];
      V = V + joint_motion(step_.dynamics, joint, step_.u.data() + joint.v_index);
      for (int c = joint.column; c < joint.column + joint.n_v; ++c) {
        const Motion<double> turned = at_point(cross(step_.dynamics.J[c], V), p);
        const double sign = side ? 1 : -1;
        double* const column = first + m.column_v[c];
        for (int k = 0; k < block.linear(); ++k)
          column[k * columns.stride] += sign * block.size * turned.angular[k];
        for (int k = 0; k < 3; ++k)
          column[(block.linear() + k) * columns.stride] += sign * turned.linear[k];
      }
    }
  }
}

// Add the response to the rows of one manifold: derivatives with respect to the twists of both
// shapes times the Jacobians of these twists.
void ImpulseJacobians::add_contact_rates(const StepIsland& island, std::size_t b, int first_row,
                                         int last_row, const JacobianColumns& columns,
                                         const ShapeTwists& twists) {
  const Model& model = step_.model();
  const RowProblem& problem = island.problem;
  const StepIsland::Block& block = island.blocks[b];
  RowBlock rows = problem.blocks[b];
  rows.first_row = first_row;
  rows.last_row = last_row;
  constexpr int entries = ImpulseRates::at_once;
  const int manifold = island.rows[first_row].manifold, w = rates_.width(),
            count = last_row - first_row;
  const SceneQuery::PairManifold& pair = step_.manifolds[manifold];
  const SmallMatrices& matrices = small_matrices();

  // Channels of a single point move with it: y changes by omega x dp.
  Vec3d omega;
  if (!block.turns)
    for (const int side : {0, 1})
      for_each_on_path(model, side ? block.b : block.a, [&](int c) {
        omega += ((side ? 1 : -1) * step_.u[model.column_v[c]]) * step_.dynamics.J[c].angular;
      });

  // Derivatives by the twist of each shape, times the Jacobian of the twist.
  row_rates_.resize(at(count * most_block_channels * entries));
  target_rates_.resize(at(count * entries));
  for (const int side : {0, 1}) {
    if (step_.object(side ? pair.b : pair.a).body == 0) continue;  // no joint moves it
    Contact::fill_rates(step_, island, b, side, first_row, last_row, shared_.manifolds[manifold],
                        row_rates_.data(), target_rates_.data());
    make_zeros(twist_rates_, at(entries * w));
    rates_.add(island.solution, rows, row_rates_.data(), target_rates_.data(), twist_rates_.data());
    if (!block.turns) {
      double dy[entries][3];
      for (int t = 0; t < entries; ++t)
        put(cross(omega, shared_.manifolds[manifold].points[0].twist[entries * side + t].p_W),
            dy[t]);
      matrices.add_product({dy[0], entries, 3}, &rates_.by_velocity[rows.first_channel * w], w,
                           twist_rates_.data(), w, w);
    }
    matrices.add_product(LeftFactor::transposed(twist_rates_.data(), w, entries),
                         twists.of(step_, manifold, side), padded(model.n_v),
                         &impulses_by_[columns.q], columns.stride, padded(model.n_v));
  }
}

// Add the response to the targets of coordinate rows.
void ImpulseJacobians::add_coordinate_rates(const StepIsland& island, std::size_t b,
                                            const StepInput& in, const JacobianColumns& columns) {
  const StepIsland::Block& block = island.blocks[b];
  const int w = rates_.width(), stride = columns.stride;
  const int first[] = {columns.q, columns.q_target, columns.v_target},
            place[] = {block.v, block.q, block.v};
  for (int i = island.problem.blocks[b].first_row; i < island.problem.blocks[b].last_row; ++i)
    visit_kind<CoordinateKinds>(island.rows[i], [&](auto kind) {
      kind.target_rates(step_, in, {island, block, i}).for_each([&](double rate, int which) {
        for (int c = 0; first[which] >= 0 && c < w; ++c)
          impulses_by_[c * stride + first[which] + place[which]] +=
              rate * rates_.by_target[i * w + c];
      });
    });
}

}  // namespace robosim

// Gradient of a step, by one transposed solve.
//
// With the impulses z of the channels, the velocity u = v+ in the axes at the start solves
//   M^(u - v) + dt (...) - X^T z = 0
// The impulses z respond to y = X u, to the rows' coefficients d and to their targets t. Let g be
// the gradient of the loss with respect to u. Let y_bar, L_bar, d_bar and t_bar be the results of
// the rows' adjoint for z_bar = X M^^-1 g. Then
//   lambda = M^^-1 (g + X^T y_bar),   G = L_bar - y_bar z^T
//   dloss = -lambda . d_x r + lambda . dX^T z + y_bar . (dX u) + G : dL + d_bar . dd + t_bar . dt
// with r = M(u - v) + dt (...) at fixed u: inverse dynamics at the velocity v and the acceleration
// (u - v)/dt, contracted with lambda (rnea_products.h, parameter_derivatives.h). dA/dq is never
// formed.
//
// The adjoint of solved rows (contact/class_factor.h) depends on L only through y = y_free + L z,
// so G is zero. The adjoint of sweeps (contact/projected_gauss_seidel.h) depends on L itself. The
// geometry of contacts enters through d and the gaps: points, normal and axes of friction move with
// both bodies (constraints/contact.cpp). The point and the size of the channels are held constant,
// because the impulses do not depend on them. The active set is held as well, so the derivative at
// degenerate rows is one-sided. See Carpentier and Mansard (RSS 2018) for r, Werling et al. (RSS
// 2021) and Qiao et al. (ICML 2021) for the idea.
//
// Position corrections and impacts start from the velocity of the solves before them. Each of them
// adds Y z to a sum with a covector g of the loss. This sum is `way` (the displacement per dt) or
// the velocity of later stages. With its own y_bar and lambda = A^-T (g + X^T y_bar), its part of
// dloss is
//   lambda . (-dA Y z + dX^T z) + y_bar . dX u        u: the velocity after it
//
// Cost: about two products with the derivatives of RNEA, and the derivatives of the manifolds. The
// adjoint of sweeps needs one more such product per channel.
#include <algorithm>
#include <type_traits>

#include "base/index.h"
#include "base/linalg/zeros.h"
#include "step/constraints/constraint_kinds.h"
#include "step/constraints/impacts.h"
#include "step/constraints/normal_law.h"
#include "step/linearization/step_vjp.h"
#include "step/linearization/torn_rows.h"

namespace robosim {

void StepVjp::reset() {
  corrected_ = {};
  n_impacts_ = 0;
  for (auto* x : {&v_bar_, &way_bar_, &pushed_}) x->resize(step_.size());
  bodies_.reset(step_.model().n_bodies());
  integrator_.begin_operator_vjp(step_);
}

void StepVjp::dependence_vjp(StepIsland& island, const StepInput& in, StepGradient& gradient) {
  reset();
  for (auto* x : {&v_bar_, &way_bar_}) std::fill(x->begin(), x->end(), 0.0);
  if (step_.takes_back) {  // the island is one of corrections
    add_row_adjoint(island, gradient, true);
    for (std::size_t k = 0; k < step_.corrected_islands.size(); ++k)
      step_.islands[step_.corrected_islands[k]].corrected_bar.clear();
    // Dependent rows exert no net force unless something slides. Without a net force the free
    // motion does not affect them.
    if (!pushes(step_, island, island.gradient.y_free.data(), 1))
      return add_held_dependence(island, in, gradient);
    make_zeros(corrected_bar_, step_.size());
    pull_back_corrections({&island, 1});
    v_bar_ = corrected_bar_;
    step_.exchange_corrections();
    pull_back_velocity(in, gradient);
    step_.exchange_corrections();
    return;
  }
  for (int i = 0; i < step_.n_islands; ++i) {
    Impacts& impacts = step_.impacts[i];
    for (int n = 0; n < impacts.n; ++n) {
      // Gradient back to the impact that owns these rows, then over all impacts before it.
      bool is_of_it = false;
      impacts.each[n].for_each_solved(
          [&](const StepIsland& solved) { is_of_it |= &solved == &island; });
      if (!is_of_it) continue;
      make_zeros(late_bar_, step_.size());
      pull_back_impacts(i, n + 1, &island, gradient);
      return pull_back_rested(i, i + 1, in, gradient);
    }
    if (&step_.islands[i] != &island) continue;
    add_row_adjoint(island, gradient, true);
    if (!pushes(step_, island, island.gradient.y_free.data(), 1))
      return add_held_dependence(island, in, gradient);
    return pull_back(i, i + 1, in, gradient);
  }
}

void StepVjp::add_held_dependence(const StepIsland& island, const StepInput& in,
                                  StepGradient& gradient) {
  add_row_vjp(island, in, {{&island.gradient.y_free, seen_by(island)}, {&island.before_bar, in.v}},
              gradient);
  bodies_.gather(step_, gradient.q.data(), nullptr);
}

void StepVjp::impulse_vjp(StepIsland& island, const double* seed, const StepInput& in,
                          bool with_parameters, StepGradient& gradient) {
  reset();
  impulse_bar_.assign(seed, seed + island.problem.channels);
  add_row_adjoint(island, gradient);
  add_row_vjp(island, in, {{&island.gradient.y_free, step_.u.data()}, {&island.before_bar, in.v}},
              gradient);
  bodies_.gather(step_, gradient.q.data(),
                 with_parameters ? gradient.parameters.of("placement") : nullptr);
  if (with_parameters) integrator_.end_operator_vjp(step_, gradient);
}

void StepVjp::velocity_vjp(const StepInput& in, int entry, bool of_way, StepGradient& gradient) {
  reset();
  std::fill(v_bar_.begin(), v_bar_.end(), 0.0);
  std::fill(way_bar_.begin(), way_bar_.end(), 0.0);
  make_zeros(corrected_bar_, step_.size());
  (of_way ? corrected_bar_ : v_bar_)[entry] = 1;
  if (of_way) pull_back_corrections(gradient);
  pull_back_velocity(in, gradient);
}

// Fill island.gradient for the loss's impulse_bar_, or for the inconsistency of dependent rows, and
// add the gradients through the laws of the normals.
void StepVjp::add_row_adjoint(StepIsland& island, StepGradient& gradient, bool of_dependences) {
  const RowProblem& problem = island.problem;
  const std::size_t k = at(problem.channels);
  island.gradient.set_zero(problem,
                           island.solved->sees_delassus() || !island.corrected_bar.empty());
  for (auto* x : {&f_bar_, &island.gap_bar}) make_zeros(*x, problem.rows.size());
  make_zeros(island.before_bar, k);
  for (std::size_t r = 0; r < island.corrected_bar.size(); ++r)
    f_bar_[r] += island.corrected_bar[r];
  if (of_dependences)
    island.solved->add_dependence_vjp(problem, island.solution, island.gradient);
  else
    island.solved->add_vjp(problem, island.solution, f_bar_.data(), impulse_bar_.data(),
                           island.gradient);
  for (std::size_t b = 0; b < island.blocks.size(); ++b)
    for (int i = problem.blocks[b].first_row; i < problem.blocks[b].last_row; ++i)
      if (is_of<Contact>(island.rows[i], Contact::normal))
        add_normal_vjp(step_, island, b, i, gradient);
}

// Add the gradient through the rotation of a block's channels, for a covector on the channels and
// the joint velocity `rates` that they measure. Channels of coordinates do not rotate. Channels of
// a single point move with it: F . (v + omega x dp). In blocks with angular channels, the rows
// account for the motion of their points relative to the center, which is held constant.
void StepVjp::add_turned_channels(const StepIsland& island, std::size_t b, const double* covector,
                                  const double* rates) {
  const StepIsland::Block& block = island.blocks[b];
  if (!block.is_of_bodies()) return;
  if (std::all_of(covector, covector + block.width(), [](double x) { return x == 0; })) return;
  const Force<double> F = channel_force(step_, island, b, covector);
  const Vec3d omega =
      bodies_.add_velocity(step_, block.b, F, rates) -
      bodies_.add_velocity(step_, block.a, Force<double>{-F.angular, -F.linear}, rates);
  if (!block.turns) center_bar_[b] += cross(F.linear, omega);
}

// Add the gradients of several covectors on the channels, as the channels rotate with the bodies.
void StepVjp::add_looks(const StepIsland& island, std::initializer_list<Look> looks) {
  center_bar_.assign(island.blocks.size(), Vec3d());
  for (std::size_t b = 0; b < island.blocks.size(); ++b)
    for (const Look& look : looks)
      add_turned_channels(island, b, &(*look.covector)[island.problem.blocks[b].first_channel],
                          look.rates);
}

// Add these gradients and those through coefficients, targets and L. Call after add_row_adjoint.
void StepVjp::add_row_vjp(const StepIsland& island, const StepInput& in,
                          std::initializer_list<Look> looks, StepGradient& gradient) {
  const std::size_t k = at(island.problem.channels);
  add_looks(island, looks);
  if (!island.gradient.L.empty()) add_delassus_vjp(island, gradient);

  // Gradients through the coefficients and targets of each kind of constraint.
  const StepAdjoint to{step_, in, bodies_, gradient};
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    const StepIsland::Block& block = island.blocks[b];
    const RowBlock& rows = island.problem.blocks[b];
    if (rows.first_row == rows.last_row) continue;
    visit_kind(block, [&](auto kind) {
      if constexpr (std::is_same_v<decltype(kind), Contact>) {
        island.for_each_manifold(b, [&](int first_row, int last_row) {
          kind.add_vjp(island, b, first_row, last_row,
                       shared_.manifolds[island.rows[first_row].manifold], center_bar_[b], to);
        });
      } else {
        kind.add_vjp(island, b, to);
      }
    });
    for (int i = rows.first_row; block.kind == StepIsland::of_coordinate && i < rows.last_row;
         ++i) {
      const CoordinateRow row{island, block, i};
      visit_kind<CoordinateKinds>(island.rows[i], [&](auto kind) {
        double* const to_each[] = {&gradient.q[block.v],
                                   block.q >= 0 ? &gradient.q_target[block.q] : nullptr,
                                   &gradient.v_target[block.v]};
        kind.target_rates(step_, in, row).for_each([&](double rate, int which) {
          *to_each[which] += rate * row.target_bar();
        });
        kind.add_vjp(row, to);
      });
    }
  }
  // Velocity before the step.
  for (std::size_t r = 0; r < step_.size(); ++r)
    for (std::size_t c = 0; c < k; ++c) gradient.v[r] += island.X[r * k + c] * island.before_bar[c];
}

void StepVjp::next_state_vjp(const StepInput& in, const TangentView& next_bar,
                             StepGradient& gradient) {
  reset();
  *gradient.parameters.of("dt") =
      integrator_.advance_vjp(step_, next_bar, gradient.q.data(), way_bar_.data(), v_bar_.data());
  corrected_bar_ = whole_bar_ = way_bar_;
  for (std::size_t k = 0; k < step_.size(); ++k) whole_bar_[k] += v_bar_[k];
  pull_back_corrections(gradient);
  pull_back_velocity(in, gradient);
}

// Propagate corrected_bar_ to v_bar_, and compute the gradient of the corrections' bounds with
// respect to the impulses that they correct.
void StepVjp::pull_back_corrections(StepGradient& gradient) {
  if (step_.has_corrections()) {
    step_.exchange_corrections();
    const std::span<StepIsland> all(step_.corrections.data(), step_.corrected_islands.size());
    for (StepIsland& corrections : all) {
      if (corrections.is_left_out) continue;
      fill_impulse_bar(corrections, corrected_bar_);
      add_row_adjoint(corrections, gradient);
      StepIsland& island = step_.islands[step_.corrected_islands[&corrections - all.data()]];
      make_zeros(island.corrected_bar, island.rows.size());
      for (std::size_t r = 0; r < corrections.rows.size(); ++r)
        if (corrections.problem.rows[r].kind == RowKind::box)
          island.corrected_bar[corrections.rows[r].corrects] = -corrections.gradient.lower[r];
    }
    pull_back_corrections(all);
    step_.exchange_corrections();
  }
  for (std::size_t k = 0; k < step_.size(); ++k) v_bar_[k] += corrected_bar_[k];
}

// Propagate corrected_bar_ through the adjoints of these corrections, while they are exchanged for
// the velocity. With lambda = A^-1 (g + X^T y_bar), way = u + Y c has the gradient
//   g . du + lambda . (-dA Y c + dX^T c) + y_bar . dX (u + Y c)
// Adds the gradient with respect to u to corrected_bar_.
void StepVjp::pull_back_corrections(std::span<StepIsland> all) {
  const std::size_t n = step_.size();
  for (const StepIsland& corrections : all) {
    if (corrections.is_left_out) continue;
    const std::size_t k = at(corrections.problem.channels);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < k; ++c)
        corrected_bar_[r] += corrections.X[r * k + c] * corrections.gradient.y_free[c];
  }
  corrected_lambda_ = corrected_bar_;
  corrected_ = all;
  integrator_.solve_transposed(step_, corrected_lambda_.data());
}

// Add the terms of the corrections that contain lambda, after the adjoint of the residual.
void StepVjp::add_corrections(const StepInput& in, StepGradient& gradient) {
  if (corrected_.empty()) return;
  step_.exchange_corrections();
  for (std::size_t r = 0; r < step_.size(); ++r) pushed_[r] = step_.u[r] - step_.u_corrected[r];
  integrator_.add_operator_vjp(step_, corrected_lambda_.data(), pushed_.data(), 1, bodies_,
                               gradient);
  for (const StepIsland& corrections : corrected_)
    if (!corrections.is_left_out)
      add_row_vjp(corrections, in,
                  {{&corrections.gradient.y_free, step_.u.data()},
                   {&corrections.before_bar, in.v},
                   {&corrections.solution.z, corrected_lambda_.data()}},
                  gradient);
  step_.exchange_corrections();
}

// Fill impulse_bar_: gradient with respect to an island's impulses, from `bar` on the joint
// velocity.
void StepVjp::fill_impulse_bar(const StepIsland& island, const std::vector<double>& bar) {
  const std::size_t k = at(island.problem.channels);
  make_zeros(impulse_bar_, k);
  for (std::size_t r = 0; r < bar.size(); ++r)
    for (std::size_t c = 0; c < k; ++c) impulse_bar_[c] += island.Y[r * k + c] * bar[r];
}

// Propagate v_bar_ and way_bar_ through impacts, rows and free motion.
void StepVjp::pull_back_velocity(const StepInput& in, StepGradient& gradient) {
  pull_back_impacts(gradient);
  pull_back_rested(0, step_.n_islands, in, gradient);
}

// Propagate v_bar_, the gradient with respect to the velocity before impacts, through the rows of
// islands [begin, end) and the free motion.
void StepVjp::pull_back_rested(int begin, int end, const StepInput& in, StepGradient& gradient) {
  for (int i = begin; i < end; ++i) {
    fill_impulse_bar(step_.islands[i], v_bar_);
    add_row_adjoint(step_.islands[i], gradient);
    step_.islands[i].corrected_bar.clear();
  }
  pull_back(begin, end, in, gradient);
}

// Propagate v_bar_, on the velocity before impacts, and the adjoints of the rows of these islands
// through the free motion, with lambda = M^^-1 (g + X^T y_bar) over the islands.
void StepVjp::pull_back(int begin, int end, const StepInput& in, StepGradient& gradient) {
  const std::size_t n = step_.size();
  lambda_ = v_bar_;
  for (int i = begin; i < end; ++i) {
    const StepIsland& island = step_.islands[i];
    const std::size_t k = at(island.problem.channels);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < k; ++c)
        lambda_[r] += island.X[r * k + c] * island.gradient.y_free[c];
  }
  integrator_.solve_transposed(step_, lambda_.data());
  // The residual holds at the velocity before impacts.
  const bool has_impacts = step_.has_impacts();
  if (has_impacts) std::swap(step_.u, step_.u_rested);
  integrator_.add_residual_vjp(step_, in, lambda_, gradient);
  if (has_impacts) std::swap(step_.u, step_.u_rested);
  add_corrections(in, gradient);
  add_impacts(in, gradient);
  for (int i = begin; i < end; ++i) {
    const StepIsland& island = step_.islands[i];
    add_row_vjp(island, in,
                {{&island.gradient.y_free, seen_by(island)},
                 {&island.before_bar, in.v},
                 {&island.solution.z, lambda_.data()}},
                gradient);
  }
  bodies_.gather(step_, gradient.q.data(), gradient.parameters.of("placement"));
  integrator_.end_operator_vjp(step_, gradient);
}

// Joint velocity at the solution of an island's rows.
const double* StepVjp::seen_by(const StepIsland& island) const {
  const bool is_rested = &island >= step_.islands.data() &&
                         &island < step_.islands.data() + step_.n_islands && step_.has_impacts();
  return (is_rested ? step_.u_rested : step_.u).data();
}

// Propagate v_bar_ on the velocity at the end, and way_bar_, to the velocity before impacts.
void StepVjp::pull_back_impacts(StepGradient& gradient) {
  if (!step_.has_impacts()) return;
  late_bar_.resize(step_.size());
  for (std::size_t r = 0; r < step_.size(); ++r) late_bar_[r] = -way_bar_[r];
  for (int i = 0; i < step_.n_islands; ++i)
    pull_back_impacts(i, step_.impacts[i].n, nullptr, gradient);
}

// Propagate the gradient backward over the first `count` impacts of an island. missed: the solved
// rows of the last impact to start from with the inconsistency of their dependent rows, or null.
// With u+ = u + Y z and late+ = late + s Y z, covectors g on u+ and l on late+ (v_bar_, late_bar_)
// become covectors on u and late.
void StepVjp::pull_back_impacts(int i, int count, const StepIsland* missed,
                                StepGradient& gradient) {
  const std::size_t n = step_.size();
  Impacts& impacts = step_.impacts[i];
  const auto add_seen = [n](const StepIsland& island, const std::vector<double>& channels,
                            std::vector<double>& to) {
    const std::size_t k = at(island.problem.channels);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < k; ++c) to[r] += island.X[r * k + c] * channels[c];
  };
  const auto respond = [n](const StepIsland& island, double scale, std::vector<double>& to) {
    const std::size_t k = at(island.problem.channels);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < k; ++c)
        to[r] += scale * island.Y[r * k + c] * island.solution.z[c];
  };
  // Forward: velocities before and after each impact.
  const std::size_t first = n_impacts_;
  n_impacts_ += at(count);
  if (impacts_.size() < n_impacts_) impacts_.resize(n_impacts_);
  for (int k = 0; k < count; ++k) {
    ImpactAdjoint& own = impacts_[first + at(k)];
    const ImpactAdjoint* const last = k > 0 ? &impacts_[first + at(k - 1)] : nullptr;
    own.met = &impacts.each[k];
    own.before = last ? last->after : step_.u_rested;
    own.after = own.before;
    respond(*own.met, 1, own.after);
    if (last) {
      own.late = last->late;
      respond(*last->met, last->met->share, own.late);
    } else
      make_zeros(own.late, n);
  }

  // Backward: through impulses, rows, targets and shares of each impact.
  make_zeros(rested_bar_, n);
  double share_bar = 0;
  for (int k = count - 1; k >= 0; --k) {
    ImpactAdjoint& own = impacts_[first + at(k)];
    Impact& met = impacts.each[k];
    whole_ = v_bar_;
    for (std::size_t r = 0; r < n; ++r) {
      whole_[r] += met.share * late_bar_[r];
      share_bar += late_bar_[r] * (own.after[r] - own.before[r]);
    }
    // Gradient with respect to the impulses, and to the work that limits the restitution.
    fill_impulse_bar(met, whole_);
    loss_bar_ = impulse_bar_;
    const double by_work = work_bar(met, loss_bar_);
    make_zeros(own.work_bar, loss_bar_.size());
    for (std::size_t c = 0; by_work != 0 && c < loss_bar_.size(); ++c)
      own.work_bar[c] = 0.5 * by_work * met.solution.z[c];
    own.lambda = whole_;
    add_seen(met, own.work_bar, own.lambda);
    add_seen(met, own.work_bar, v_bar_);
    // Adjoint of the rows, or of both parts of a divided impact.
    if (!met.is_limited()) {
      add_row_adjoint(met, gradient, &met == missed);
      add_seen(met, met.gradient.y_free, own.lambda);
      add_seen(met, met.gradient.y_free, v_bar_);
    } else {
      for (int p = 0; p < 2; ++p) {
        StepIsland& part = met.parts[p];
        const double share = p == 0 ? met.restored : 1 - met.restored;
        for (std::size_t c = 0; c < loss_bar_.size(); ++c)
          impulse_bar_[c] = share * (loss_bar_[c] + by_work * met.solution.y[c]);
        fill_work_rates(met, part.corrected_bar);  // gradient of the rows' own impulses
        for (double& x : part.corrected_bar) x *= share * by_work;
        add_row_adjoint(part, gradient, &part == missed);
        own.part_after[p] = own.before;
        respond(part, 1, own.part_after[p]);
        make_zeros(own.part_lambda[p], n);
        add_seen(part, part.gradient.y_free, own.part_lambda[p]);
        add_seen(part, part.gradient.y_free, v_bar_);
        integrator_.solve_transposed(step_, own.part_lambda[p].data());
      }
    }
    integrator_.solve_transposed(step_, own.lambda.data());
    // Targets and time of the impact.
    share_bar = add_impact_vjp(step_, met, share_bar, by_work, gradient);
    add_seen(met, met.seen_bar, v_bar_);
    add_seen(met, met.late_bar, late_bar_);
    add_seen(met, met.rested_bar, rested_bar_);
  }
  for (std::size_t r = 0; r < n; ++r) v_bar_[r] += rested_bar_[r];
}

// Add the terms of the impacts that contain lambda, after the adjoint of the residual.
void StepVjp::add_impacts(const StepInput& in, StepGradient& gradient) {
  for (std::size_t k = 0; k < n_impacts_; ++k) {
    const ImpactAdjoint& own = impacts_[k];
    const Impact& met = *own.met;
    const auto push = [&](const std::vector<double>& lambda, const std::vector<double>& after) {
      for (std::size_t r = 0; r < step_.size(); ++r) pushed_[r] = after[r] - own.before[r];
      integrator_.add_operator_vjp(step_, lambda.data(), pushed_.data(), 1, bodies_, gradient);
    };
    push(own.lambda, own.after);
    const StepIsland& rows = met.is_limited() ? met.parts[0] : met;
    const double* const lambda = (met.is_limited() ? own.part_lambda[0] : own.lambda).data();
    add_row_vjp(rows, in,
                {{&rows.gradient.y_free, (met.is_limited() ? own.part_after[0] : own.after).data()},
                 {&met.seen_bar, own.before.data()},
                 {&met.late_bar, own.late.data()},
                 {&met.rested_bar, step_.u_rested.data()},
                 {&rows.before_bar, in.v},
                 {&rows.solution.z, lambda}},
                gradient);
    if (!met.is_limited()) continue;
    // A divided impact: add both parts, and the impulses between them.
    const StepIsland& landed = met.parts[1];
    push(own.part_lambda[0], own.part_after[0]);
    push(own.part_lambda[1], own.part_after[1]);
    add_row_vjp(landed, in,
                {{&landed.gradient.y_free, own.part_after[1].data()},
                 {&landed.solution.z, own.part_lambda[1].data()}},
                gradient);
    add_looks(met, {{&own.work_bar, own.after.data()}, {&met.solution.z, own.lambda.data()}});
  }
}

// Add the gradient through L itself, which the sweeps of pgs see beyond y = y_free + L z. With G
// the gradient beyond that,
//   sum G_ac dL_ac,   L = X M^^-1 X^T:   2 dX_a . p_a - Y_a . dM^ p_a,   p_a = sum_c G_ac Y_c,
//                                        Y = M^^-1 X^T
// for each channel a. The integrator differentiates the second term.
void StepVjp::add_delassus_vjp(const StepIsland& island, StepGradient& gradient) {
  const RowProblem& problem = island.problem;
  const std::size_t n = step_.size(), k = at(problem.channels);
  const RowGradient& bar = island.gradient;
  beyond_.resize(k * k);
  bool any = false;
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t c = 0; c <= a; ++c) {
      const double G =
          0.5 * (bar.L[a * k + c] + bar.L[c * k + a] - bar.y_free[a] * island.solution.z[c] -
                 bar.y_free[c] * island.solution.z[a]);
      beyond_[a * k + c] = beyond_[c * k + a] = G;
      any |= G != 0;
    }
  if (!any) return;
  // Responses p_a to all channels.
  make_zeros(responses_, n * k);  // column a: p_a
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = 0; c < k; ++c) {
      const double Y = island.Y[r * k + c];
      if (Y == 0) continue;
      for (std::size_t a = 0; a < k; ++a) responses_[r * k + a] += Y * beyond_[c * k + a];
    }
  // First term: rotation of the channels.
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    if (!island.blocks[b].is_of_bodies()) continue;
    for (int channel = 0; channel < problem.blocks[b].width; ++channel) {
      const std::size_t a = at(problem.blocks[b].first_channel + channel);
      for (std::size_t r = 0; r < n; ++r) pushed_[r] = responses_[r * k + a];
      double unit[most_block_channels] = {};
      unit[channel] = 2;
      add_turned_channels(island, b, unit, pushed_.data());
    }
  }
  // The sum of Y_a . dM^ p_a over channels equals the sum over coordinates of unit vectors with
  // sum_a Y_a p_a^T. Use whichever has fewer terms.
  if (k <= n)
    return integrator_.add_operator_vjp(step_, island.Y.data(), responses_.data(), k, bodies_,
                                        gradient);
  make_zeros(units_, n * n);
  make_zeros(by_coordinate_, n * n);
  for (std::size_t r = 0; r < n; ++r) {
    units_[r * n + r] = 1;
    for (std::size_t s = 0; s <= r; ++s) {  // symmetric
      double sum[2] = {};
      for (std::size_t a = 0; a < k; ++a) sum[a % 2] += island.Y[r * k + a] * responses_[s * k + a];
      by_coordinate_[s * n + r] = by_coordinate_[r * n + s] = sum[0] + sum[1];
    }
  }
  integrator_.add_operator_vjp(step_, units_.data(), by_coordinate_.data(), n, bodies_, gradient);
}

}  // namespace robosim

// The gradient of a step, by one transposed solve.
//
// With the impulses z of the channels, the step's velocity u = v+ in the axes at the start solves M^(u - v) + dt (...) - X^T z = 0, and z
// answers y = X u, the rows' coefficients d and their targets. Let g be what the loss changes by with u, and y_bar, L_bar, d_bar, t_bar what
// the rows' adjoint gives for z_bar = X M^^-1 g. Then
//
//   lambda = M^^-1 (g + X^T y_bar),   G = L_bar - y_bar z^T
//   dloss = -lambda . d_x r + lambda . dX^T z + y_bar . (dX u) + G : dL + d_bar . dd + t_bar . dt
//
// with r = M(u - v) + dt (...) taken at fixed u: inverse dynamics at the velocity v and the acceleration (u - v)/dt contracted with lambda
// (rnea_products.h, parameter_derivatives.h). The adjoint of solved rows (contact/mode_factor.h) sees L only through y = y_free + L z, so
// that G is zero; that of sweeps (contact/projected_gauss_seidel.h) does not, nor do impacts (impacts.cpp). The contacts' geometry comes
// through d and the gaps: points, normal and axes of friction move with both bodies (contact_vjp.cpp). The channels' point and size are
// held, as the impulses do not depend on them. Classes are held, so the derivative of tied rows is one-sided. See Carpentier and Mansard (RSS 2018) for r, Werling et al. (RSS
// 2021) and Qiao et al. (ICML 2021) for the idea; dA/dq is never formed.
// Cost: about two products with the derivatives of RNEA, and what the manifolds' derivatives cost; of sweeps one such product more for every
// channel.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/index.h"
#include "base/linalg/small_sums.h"
#include "dynamics/configuration.h"
#include "dynamics/forward_dynamics.h"
#include "dynamics/parameter_derivatives.h"
#include "geometry/bodies/compound_derivatives.h"
#include "step/step.h"

namespace robosim {
namespace {

// Impulses that differ by this part of the largest are not those of the classes.
constexpr double same_impulses = 1e-6;
// Of what rows that depend on each other come to by themselves: more is missed beside the state.
constexpr double torn = 1e-6;
// What impulses that balance come to beside each of them by itself: dependences of rows are as good (row_basis.cpp, class_factor.cpp). Far below `torn`.
constexpr double rounding_of_balance = 1e-10;

}  // namespace

// What all gradients of one step share: how the contacts' geometry moves, and the factors of the rows. Jacobians need no shapes, nor what
// moves with objects that no joint moves; and they tell by themselves what is torn.
void Stepper::derive(const double* q, const double* v, const StepControl& control, bool by_everything) {
  is_derived_ = true, is_derived_by_everything_ = by_everything, is_one_sided_ = false;
  if (manifold_rates_.size() < manifolds_.size()) manifold_rates_.resize(manifolds_.size());
  for (std::size_t i = 0; i < manifolds_.size(); ++i) {
    const SceneQuery::PairManifold& pair = manifolds_[i];
    ManifoldDerivatives& rates = manifold_rates_[i];
    const SceneObject &A = world_->scene().object(pair.a), &B = world_->scene().object(pair.b);
    const DerivativesWanted wanted{{by_everything || A.body > 0, by_everything || B.body > 0}, by_everything};
    manifold_derivatives(pair.manifold, A.geometry.body(), query_.X_WO(pair.a), pair.piece_a, B.geometry.body(), query_.X_WO(pair.b), pair.piece_b, rates,
                         wanted);
    for (int k = 0; k < pair.manifold.n_points; ++k) is_one_sided_ |= rates.points[k].one_sided;
  }
  for (int i = 0; i < n_islands_; ++i) {
    StepIsland& island = islands_[at(i)];
    is_one_sided_ |= options_.bounce == Bounce::time_of_impact && coupled_bounces(island) > 0;
    if (options_.solver == RowSolver::pgs) {
      is_one_sided_ |= island.sweeps.is_tied();
      continue;
    }
    if (!island.is_factored) island.has_modes = island.modes->solve(island.problem, island.solution.classes.data(), island.solution.f.data(), again_);
    is_one_sided_ |= !island.has_modes || !island.modes->is_differentiable(island.problem) || ties_.any(island.problem, island.sizes, island.solution);
    if (!island.has_modes) continue;
    is_one_sided_ |= by_everything && is_torn(i, q, v, control);
    if (island.is_factored) continue;
    double largest = 0, off = 0;
    for (std::size_t r = 0; r < again_.f.size(); ++r)
      largest = std::max(largest, std::abs(again_.f[r])), off = std::max(off, std::abs(again_.f[r] - island.solution.f[r]));
    is_one_sided_ |= !(off <= same_impulses * largest);
  }
}

void Stepper::resize_adjoint() {
  const std::size_t n = at(world_->model().n_v), bodies = at(world_->model().n_bodies());
  for (auto* x : {&v_bar_, &way_bar_, &a_, &a_bar_, &q_part_, &v_part_, &virtual_, &pushed_}) x->resize(n);
  for (auto* x : {&turned_, &carried_}) x->assign(bodies, Force<double>());
  inertia_bar_.assign(n, 0.0);
}

// Whether these impulses of the channels, a stride apart, come to more than rounding.
bool Stepper::pushes(const StepIsland& island, const double* z, int stride) const {
  const std::size_t n = at(world_->model().n_v), k = at(island.problem.channels);
  for (std::size_t r = 0; r < n; ++r) {
    double sum = 0, size = 0;
    for (std::size_t c = 0; c < k; ++c) {
      const double part = island.X[r * k + c] * z[c * at(stride)];
      sum += part, size += std::abs(part);
    }
    if (std::abs(sum) > rounding_of_balance * size) return true;
  }
  return false;
}

// Whether clamping rows that depend on each other, as those of limits and contacts that leave a body no motion at all, contradict each other as soon
// as something moves: the derivative of their solution is then none of the step's.
bool Stepper::is_torn(int i, const double* q, const double* v, const StepControl& control) {
  StepIsland& island = islands_[at(i)];
  if (!island.modes->has_dependences(island.problem)) return false;
  resize_adjoint();
  of_rows_.set_zero(*world_);
  of_rows_.wants_vertices = false;
  for (auto* x : {&v_bar_, &way_bar_}) std::fill(x->begin(), x->end(), 0.0);
  add_row_adjoint(island, of_rows_, true);
  // What moves nothing, as dependences do but where something slides, does not feel how things move freely.
  if (island.has_impacts || pushes(island, island.gradient.y_free.data(), 1)) {
    pull_back(i, i + 1, q, v, control, of_rows_);
  } else {
    add_row_vjp(island, q, v, control, nullptr, of_rows_);
    gather_turned(of_rows_.q.data(), nullptr);
  }
  return is_torn_by(island, island.gradient.target.data(), 1, of_rows_.q.data(), of_rows_.v.data());
}

// Whether what dependences with these multipliers, a stride apart, miss by q and v (n_v each) is more than what their rows come to by themselves,
// without regard to sign, allows for.
bool Stepper::is_torn_by(const StepIsland& island, const double* multipliers, int stride, const double* by_q, const double* by_v) const {
  const RowProblem& problem = island.problem;
  const std::size_t n = at(world_->model().n_v), k = at(problem.channels);
  double size = 0;
  for (const RowBlock& block : problem.blocks)
    for (int r = block.first_row; r < block.last_row; ++r) {
      const double multiplier = std::abs(multipliers[r * stride]);
      if (multiplier == 0) continue;
      double most = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const double along = dot(problem.rows[at(r)].d, &island.X[j * k + at(block.first_channel)], block.width);
        most = std::max(most, std::abs(along));
      }
      size += most * multiplier;
    }
  const auto largest = [n](const double* x) { return std::transform_reduce(x, x + n, 0.0, [](double a, double b) { return std::max(a, b); }, [](double y) { return std::abs(y); }); };
  const double rate = options_.erp / options_.dt + 1;  // [1/s] that targets go with gaps; of gaps that nothing takes back that of slow motion
  return largest(by_q) > torn * rate * size || largest(by_v) > torn * size;
}

// Fills island.gradient for the loss's impulse_bar_ and, where impulses act late, way_bar_, or for what dependences of the rows miss; and what it
// comes to of the points' laws.
void Stepper::add_row_adjoint(StepIsland& island, StepGradient& gradient, bool of_dependences) {
  const RowProblem& problem = island.problem;
  const std::size_t k = at(problem.channels);
  island.gradient.set_zero(problem, options_.solver == RowSolver::pgs);
  for (auto* x : {&f_bar_, &island.gap_bar, &island.share_bar}) x->assign(problem.rows.size(), 0.0);
  for (auto* x : {&island.before_bar, &island.impact_bar}) x->assign(k, 0.0);
  if (island.has_impacts) add_late_vjp(island);
  const auto adjoint_of = [&](auto& solver) { solver.add_vjp(problem, island.solution, f_bar_.data(), impulse_bar_.data(), island.gradient); };
  if (of_dependences) island.modes->add_dependence_vjp(problem, island.solution, island.gradient);
  else if (options_.solver == RowSolver::pgs) adjoint_of(island.sweeps);
  else if (island.has_modes) adjoint_of(*island.modes);
  for (std::size_t b = 0; b < island.blocks.size(); ++b)
    for (int i = problem.blocks[b].first_row; i < problem.blocks[b].last_row; ++i)
      if (island.rows[at(i)].source == RowSource::normal) add_normal_vjp(island, b, i, gradient);
  for (std::size_t c = 0; c < k; ++c) island.gradient.y_free[c] += island.impact_bar[c];
}

void Stepper::add_coordinate_vjp(const StepIsland& island, std::size_t b, const double* q, const StepControl& control, StepGradient& gradient) const {
  const double dt = options_.dt, rate = options_.erp / dt;
  const StepIsland::Block& block = island.blocks[b];
  const std::size_t v = at(block.v);
  double& dt_bar = *gradient.parameters.of("dt");
  for (int i = island.problem.blocks[b].first_row; i < island.problem.blocks[b].last_row; ++i) {
    const ConstraintRow& row = island.problem.rows[at(i)];
    const double target_bar = island.gradient.target[at(i)];
    const bool is_clipped = island.is_relaxed && row.target == 0;
    const double bound_bar = island.gradient.upper[at(i)] - island.gradient.lower[at(i)];
    const RowSource source = island.rows[at(i)].source;
    switch (source) {
      case RowSource::lower_limit:
      case RowSource::upper_limit: {
        if (is_clipped) break;
        const bool is_lower = source == RowSource::lower_limit;
        const double change = (is_lower ? -rate : rate) * target_bar;
        gradient.q[v] += change;
        *(is_lower ? gradient.parameters.of("lower_limit", block.q) : gradient.parameters.of("upper_limit", block.q)) -= change;
        dt_bar -= row.target / dt * target_bar;
        break;
      }
      case RowSource::joint_friction:
        *gradient.parameters.of("joint_friction", block.v) += dt * bound_bar;
        dt_bar += world_->model().friction[v] * bound_bar;
        break;
      case RowSource::motor: {
        const Motor& motor = world_->motor(block.v);
        const double sum = motor.position_gain * dt + motor.velocity_gain;
        const bool is_pulled = block.q >= 0 && control.q_target;
        const double stretch = is_pulled ? control.q_target[block.q] - q[block.q] : 0.0, speed = control.v_target ? control.v_target[block.v] : 0.0;
        const double per_sum = -row.compliance * island.gradient.compliance[at(i)] - row.target * target_bar;  // of sum, times sum
        *gradient.parameters.of("position_gain", block.v) += (stretch * target_bar + dt * per_sum) / sum;
        *gradient.parameters.of("velocity_gain", block.v) += (speed * target_bar + per_sum) / sum;
        if (row.kind == RowKind::box) *gradient.parameters.of("motor_limit", block.v) += dt * bound_bar, dt_bar += motor.limit * bound_bar;
        dt_bar += motor.position_gain / sum * per_sum - row.compliance / dt * island.gradient.compliance[at(i)];
        if (is_pulled) {
          gradient.q[v] -= motor.position_gain / sum * target_bar;
          gradient.q_target[at(block.q)] += motor.position_gain / sum * target_bar;
        }
        gradient.v_target[v] += motor.velocity_gain / sum * target_bar;
        break;
      }
      default:
        break;
    }
  }
}

// -lambda . d r.
void Stepper::add_free_motion_vjp(const double* q, const double* v, const StepControl& control, StepGradient& gradient) {
  const Model& m = world_->model();
  const double dt = options_.dt;
  const std::size_t n = at(m.n_v);
  ParameterVector& of = gradient.parameters;
  double &dt_bar = *of.of("dt"), *const damping_bar = of.of("damping"), *const stiffness_bar = of.of("stiffness"), *const reference_bar = of.of("spring_reference");
  turning_rates(m, v, a_.data());
  for (std::size_t k = 0; k < n; ++k) {
    a_[k] += (moved_[k] - v[k]) / dt, held_[k] = -dt * lambda_[k];
    gradient.tau[k] = dt * lambda_[k];
    dt_bar -= lambda_[k] * (data_.bias[k] + m.damping[k] * moved_[k] - (control.tau ? control.tau[k] : 0.0));
    damping_bar[k] = held_[k] * moved_[k];
  }
  for (const World::Coordinate& c : world_->coordinates()) {
    const std::size_t k = at(c.v);
    const double K = m.stiffness[k], stretch = q[c.q] - m.spring_reference[k];
    gradient.q[k] += K * held_[k];
    stiffness_bar[k] = held_[k] * (stretch + dt * moved_[k]), reference_bar[k] = -K * held_[k];
    dt_bar -= lambda_[k] * K * (stretch + 2 * dt * moved_[k]);
  }
  rnea_vjp(m, data_, q, v, a_.data(), held_.data(), q_part_.data(), v_part_.data(), a_bar_.data());
  for (std::size_t k = 0; k < n; ++k) {
    gradient.q[k] += q_part_[k];
    gradient.v[k] += v_part_[k] - a_bar_[k] / dt;
  }
  add_turning_rates_vjp(m, v, a_bar_.data(), gradient.v.data());
  detail::parameter_vjp_sweep(m, data_, a_.data(), held_.data(), data_.F_bar, 1.0,
                              {of.of("mass"), of.of("com"), of.of("inertia"), of.of("placement"), of.of("armature")});
  double* const gravity_bar = of.of("gravity");
  for (int i = 1; i < m.n_bodies(); ++i)
    for (int k = 0; m.joints[at(i)].parent == 0 && k < 3; ++k) gravity_bar[k] += -1.0 * data_.A_bar[at(i)].linear[k];
}

// What rows look at, as X turns, and where its impulses meet lambda, if there is one; then what rows are made from, after add_row_adjoint.
void Stepper::add_row_vjp(const StepIsland& island, const double* q, const double* v, const StepControl& control, const double* lambda,
                          StepGradient& gradient) {
  const std::size_t k = at(island.problem.channels);
  centre_bar_.assign(island.blocks.size(), Vec3d());
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    const std::size_t first = at(island.problem.blocks[b].first_channel);
    add_turned_channels(island, b, &island.gradient.y_free[first], moved_.data());
    add_turned_channels(island, b, &island.before_bar[first], v);
    if (lambda) add_turned_channels(island, b, &island.solution.z[first], lambda);
  }
  if (options_.solver == RowSolver::pgs) add_admittance_vjp(island, gradient);
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    const StepIsland::Block& block = island.blocks[b];
    if (block.manifold >= 0) island.for_each_manifold(b, [&](int first_row, int last_row) { add_contact_vjp(island, b, first_row, last_row, gradient); });
    else if (block.closure >= 0 || block.equality >= 0) add_closure_vjp(island, b, q, gradient);
    else add_coordinate_vjp(island, b, q, control, gradient);
  }
  for (std::size_t r = 0; r < virtual_.size(); ++r)
    for (std::size_t c = 0; c < k; ++c) gradient.v[r] += island.X[r * k + c] * island.before_bar[c];
}

void Stepper::exact_vjp(const double* q, const double* v, const StepControl& control, const double* q_next_bar, const double* v_next_bar,
                        StepGradient& gradient) {
  const Model& m = world_->model();
  const double dt = options_.dt;
  const std::size_t n = at(m.n_v);
  gradient.set_zero(*world_);
  if (n == 0) return;
  if (is_diverged_) {
    gradient.q.assign(q_next_bar, q_next_bar + n), gradient.v.assign(v_next_bar, v_next_bar + n);
    gradient.is_one_sided = true;
    return;
  }
  if (!is_derived_by_everything_) derive(q, v, control, true);
  gradient.is_one_sided = is_one_sided_;
  resize_adjoint();
  *gradient.parameters.of("dt") = advance_vjp(m, dt, way_.data(), moved_.data(), q_next_bar, v_next_bar, gradient.q.data(), way_bar_.data(), v_bar_.data());
  for (std::size_t k = 0; k < n; ++k) v_bar_[k] += way_bar_[k];  // the way is v+ less what acts late
  pull_back_velocity(q, v, control, gradient);
}

// From v_bar_ and way_bar_.
void Stepper::pull_back_velocity(const double* q, const double* v, const StepControl& control, StepGradient& gradient) {
  const std::size_t n = at(world_->model().n_v);
  for (int i = 0; i < n_islands_; ++i) {
    StepIsland& island = islands_[at(i)];
    const std::size_t k = at(island.problem.channels);
    impulse_bar_.assign(k, 0.0);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < k; ++c) impulse_bar_[c] += island.Y[r * k + c] * v_bar_[r];
    add_row_adjoint(island, gradient);
  }
  pull_back(0, n_islands_, q, v, control, gradient);
}

// From v_bar_, way_bar_ and the adjoints of the rows of these islands, with lambda = M^^-1 (g + X^T y_bar) over them.
void Stepper::pull_back(int begin, int end, const double* q, const double* v, const StepControl& control, StepGradient& gradient) {
  const Model& m = world_->model();
  const std::size_t n = at(m.n_v);
  lambda_ = v_bar_;
  bool has_impacts = false;
  for (int i = begin; i < end; ++i) {
    const StepIsland& island = islands_[at(i)];
    const std::size_t k = at(island.problem.channels);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < k; ++c) lambda_[r] += island.X[r * k + c] * island.gradient.y_free[c];
    has_impacts |= island.has_impacts;
  }
  mass_solve(m, data_.L.data(), lambda_.data(), 1);
  lambda_way_ = way_bar_;
  if (has_impacts) mass_solve(m, data_.L.data(), lambda_way_.data(), 1);
  add_free_motion_vjp(q, v, control, gradient);
  for (int i = begin; i < end; ++i) {
    const StepIsland& island = islands_[at(i)];
    add_row_vjp(island, q, v, control, lambda_.data(), gradient);
    if (island.has_impacts) add_impact_vjp(island, gradient);
  }
  gather_turned(gradient.q.data(), gradient.parameters.of("placement"));
  add_diagonal_vjp(gradient);
}

// What M^ has on its diagonal: armature, dt damping, dt^2 stiffness.
void Stepper::add_diagonal_vjp(StepGradient& gradient) const {
  const Model& m = world_->model();
  const double dt = options_.dt;
  ParameterVector& of = gradient.parameters;
  double &dt_bar = *of.of("dt"), *const armature_bar = of.of("armature"), *const damping_bar = of.of("damping");
  for (std::size_t k = 0; k < inertia_bar_.size(); ++k) {
    armature_bar[k] += inertia_bar_[k], damping_bar[k] += dt * inertia_bar_[k];
    dt_bar += (m.damping[k] + 2 * dt * m.stiffness[k]) * inertia_bar_[k];
  }
  for (const World::Coordinate& c : world_->coordinates()) *of.of("stiffness", c.v) += dt * dt * inertia_bar_[at(c.v)];
}

}  // namespace robosim

#include "step/step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "base/linalg/small_matrices.h"
#include "dynamics/configuration.h"
#include "dynamics/forward_dynamics.h"
#include "dynamics/rnea.h"
#include "dynamics/rnea_products.h"
#include "step/columns.h"
#include "step/contact_axes.h"

namespace robosim {
namespace {

// Of the smaller ball about the two objects: the least size that a manifold is taken for.
constexpr double least_spread = 0.01;

void require(bool holds, const char* what, double value, const char* wanted) {
  if (!holds) throw InputError(message(what, " is ", value, "; ", wanted));
}

}  // namespace

Stepper::Stepper(const World& world, const StepOptions& options)
    : world_(&world),
      options_(options),
      query_(world.scene()),
      data_(world.model()),
      v_free_(at(world.model().n_v)),
      q_next_(at(world.model().n_q)),
      held_(at(world.model().n_v)),
      moved_(at(world.model().n_v)),
      way_(at(world.model().n_v)),
      V_free_(at(world.model().n_bodies())),
      joined_(at(world.n_trees())),
      island_of_tree_(at(world.n_trees())) {
  require(options.dt > 0 && std::isfinite(options.dt), "dt", options.dt, "it is positive [s]");
  require(options.sweeps >= 1, "sweeps", options.sweeps, "there is at least one");
  require(options.erp >= 0 && options.erp <= 1, "erp", options.erp, "it lies between 0 and 1");
  require(options.margin >= 0 && std::isfinite(options.margin), "margin", options.margin, "it is not negative [m]");
  require(options.limit_margin >= 0 && std::isfinite(options.limit_margin), "limit_margin", options.limit_margin, "it is not negative");
  require(options.restitution_threshold >= 0, "restitution_threshold", options.restitution_threshold, "it is not negative [m/s]");
  if (options.complementarity_aware != ComplementarityAware::none && options.solver == RowSolver::pgs)
    throw InputError("complementarity-aware gradients need a solver that knows classes, 'lcp' or 'cone'; this one is 'pgs'");
}

// The velocity at the end of the step without any row, and the factor of the mass matrix that goes with it.
void Stepper::move_freely(const double* q, const double* v, const StepControl& control) {
  const Model& m = world_->model();
  const double dt = options_.dt;
  inertia_stage(m, data_, q);
  for (int k = 0; k < m.n_v; ++k) held_[at(k)] = dt * (m.damping[at(k)] + dt * m.stiffness[at(k)]);
  detail::factor_mass_matrix(m, data_, held_.data());
  turning_rates(m, v, held_.data());
  detail::rnea_sweep<true, true, true>(m, data_, v, held_.data(), data_.bias.data(), Wrenches<double>());
  for (int k = 0; k < m.n_v; ++k)
    v_free_[at(k)] = (control.tau ? control.tau[k] : 0.0) - data_.bias[at(k)] - (m.damping[at(k)] + dt * m.stiffness[at(k)]) * v[k];
  for (const World::Coordinate& c : world_->coordinates()) v_free_[at(c.v)] -= m.stiffness[at(c.v)] * (q[c.q] - m.spring_reference[at(c.v)]);
  for (double& x : v_free_) x *= dt;
  mass_solve(m, data_.L.data(), v_free_.data(), 1);
  for (int k = 0; k < m.n_v; ++k) v_free_[at(k)] += v[k];
}

int Stepper::root(int tree) {
  while (joined_[at(tree)] != tree) tree = joined_[at(tree)] = joined_[at(joined_[at(tree)])];
  return tree;
}

// To the lower number, so that islands come in the order of their first trees.
void Stepper::join(int a, int b) {
  if (a < 0 || b < 0) return;
  const int first = root(a), second = root(b);
  joined_[at(std::max(first, second))] = std::min(first, second);
}

StepIsland& Stepper::island_of(int tree) {
  int& island = island_of_tree_[at(root(tree))];
  if (island < 0) {
    island = n_islands_++;
    if (islands_.size() < at(n_islands_)) islands_.emplace_back();
    StepIsland& fresh = islands_[at(island)];
    fresh.blocks.clear(), fresh.rows.clear();
    fresh.problem.blocks.clear(), fresh.problem.rows.clear();
    fresh.problem.channels = 0;
  }
  return islands_[at(island)];
}

RowBlock& Stepper::add_block(StepIsland& island, const StepIsland::Block& block, int width) {
  RowProblem& problem = island.problem;
  island.blocks.push_back(block);
  problem.blocks.push_back({problem.channels, width, problem.size(), problem.size()});
  problem.channels += width;
  return problem.blocks.back();
}

ConstraintRow& Stepper::add_row(StepIsland& island, RowSource source, int point, int manifold) {
  island.rows.push_back({.source = source, .manifold = manifold, .point = point});
  ++island.problem.blocks.back().last_row;
  return island.problem.rows.emplace_back();
}

// The manifolds, those of the same two bodies together, in the order of the first of these.
void Stepper::sort_by_bodies() {
  const auto bodies = [&](int i) {
    const SceneQuery::PairManifold& pair = manifolds_[at(i)];
    return std::pair(world_->scene().object(pair.a).body, world_->scene().object(pair.b).body);
  };
  const int n = static_cast<int>(manifolds_.size());
  by_bodies_.resize(at(n)), first_of_bodies_.resize(at(n));
  std::iota(by_bodies_.begin(), by_bodies_.end(), 0);
  std::sort(by_bodies_.begin(), by_bodies_.end(), [&](int i, int j) { return std::pair(bodies(i), i) < std::pair(bodies(j), j); });
  for (int k = 0, first = 0; k < n; ++k) {
    if (bodies(by_bodies_[at(k)]) != bodies(by_bodies_[at(first)])) first = k;
    first_of_bodies_[at(by_bodies_[at(k)])] = by_bodies_[at(first)];
  }
  const auto key = [&](int i) { return std::pair(first_of_bodies_[at(i)], i); };
  std::sort(by_bodies_.begin(), by_bodies_.end(), [&](int i, int j) { return key(i) < key(j); });
}

// Of manifolds of the same two bodies. The six channels are size omega and v of b against a, at the middle of all points, in axes of W; of a single
// point v alone.
void Stepper::add_contacts(const int* first, const int* last) {
  StepIsland::Block block;
  block.manifold = *first;
  int points = 0;
  double least = std::numeric_limits<double>::infinity(), spread = 0;
  bool is_turned = options_.bounce == Bounce::time_of_impact;  // friction that acts within the step has a lever (impacts.cpp)
  bool rolls = false;
  for (const int* i = first; i < last; ++i) {
    const SceneQuery::PairManifold& pair = manifolds_[at(*i)];
    const SceneObject &A = world_->scene().object(pair.a), &B = world_->scene().object(pair.b);
    const PairMaterial& material = world_->material(pair.a, pair.b);
    block.a = A.body, block.b = B.body;
    for (int p = 0; p < pair.manifold.n_points; ++p) block.centre += pair.manifold.points[p].p_W;
    points += pair.manifold.n_points;
    rolls |= material.rolling_friction > 0;
    is_turned |= material.torsional_friction > 0 || rolls;
    least = std::min({least, A.ball_radius, B.ball_radius});
  }
  block.centre = (1.0 / points) * block.centre;
  for (const int* i = first; i < last; ++i)
    for (int p = 0; p < manifolds_[at(*i)].manifold.n_points; ++p) spread += squared_norm(manifolds_[at(*i)].manifold.points[p].p_W - block.centre) / points;
  block.turns = points > 1 || is_turned;
  block.size = std::max(std::sqrt(spread), least_spread * least);
  const int tree = world_->tree_of_body(block.a);
  StepIsland& island = island_of(tree >= 0 ? tree : world_->tree_of_body(block.b));
  // Rolling friction holds what normals of several points turn as they take gaps back.
  add_block(island, block, block.width()).is_of_one_plane = last - first == 1 && !(rolls && points > 1);
  for (const int* i = first; i < last; ++i) add_contact_rows(island, *i);
}

void Stepper::add_contact_rows(StepIsland& island, int manifold) {
  const SceneQuery::PairManifold& pair = manifolds_[at(manifold)];
  const Manifold& m = pair.manifold;
  const PairMaterial& material = world_->material(pair.a, pair.b);
  const StepIsland::Block& block = island.blocks.back();
  const Vec3d n = m.normal();
  const ContactAxes axes = contact_axes(n);
  for (int i = 0; i < m.n_points; ++i) {
    const Vec3d arm = (1 / block.size) * (m.points[i].p_W - block.centre);
    const int normal = island.problem.size();
    const auto add = [&](RowSource source, const Vec3d& turning, const Vec3d& moving) -> ConstraintRow& {
      ConstraintRow& row = add_row(island, source, i, manifold);
      for (int k = 0; k < block.linear(); ++k) row.d[k] = turning[k];
      for (int k = 0; k < 3; ++k) row.d[block.linear() + k] = moving[k];
      return row;
    };
    const auto bounded = [&](ConstraintRow& row, double mu) { row.kind = RowKind::friction, row.mu = mu, row.normal = normal; };
    const auto both = [&](ConstraintRow& row, double mu, int k) {
      bounded(row, mu), row.is_disc = k == 0 && options_.solver == RowSolver::cone;
      island.rows.back().on[k] = 1;
    };
    const auto along = [&](RowSource source, const Vec3d& u) -> ConstraintRow& { return add(source, cross(arm, u), u); };
    const auto about = [&](RowSource source, const Vec3d& u) -> ConstraintRow& { return add(source, (1 / block.size) * u, Vec3d()); };
    along(RowSource::normal, n);
    if (material.friction > 0)
      for (int k = 0; k < 2; ++k) both(along(k ? RowSource::friction_2 : RowSource::friction_1, axes.t[k]), material.friction, k);
    if (material.torsional_friction > 0) bounded(about(RowSource::torsion, n), material.torsional_friction);
    if (material.rolling_friction > 0)
      for (int k = 0; k < 2; ++k) both(about(k ? RowSource::rolling_2 : RowSource::rolling_1, axes.t[k]), material.rolling_friction, k);
  }
}

// The rows of single entries of v: their channel is the entry itself.
void Stepper::add_coordinates(const double* q) {
  const Model& m = world_->model();
  // As v has them; an entry without a position of its own has no limits here.
  std::size_t next = 0;
  for (int k = 0; k < m.n_v; ++k) {
    const bool is_single = next < world_->coordinates().size() && world_->coordinates()[next].v == k;
    const int i = is_single ? world_->coordinates()[next++].q : -1;
    const bool at_lower = is_single && q[i] - m.limits.q_lower[at(i)] <= options_.limit_margin;
    const bool at_upper = is_single && m.limits.q_upper[at(i)] - q[i] <= options_.limit_margin;
    const Motor& motor = world_->motor(k);
    if (!at_lower && !at_upper && !(m.friction[at(k)] > 0) && !motor.is_there()) continue;
    StepIsland& island = island_of(world_->tree_of_v(k));
    StepIsland::Block block;
    block.v = k, block.q = i;
    add_block(island, block, 1);
    if (m.friction[at(k)] > 0) {
      ConstraintRow& row = add_row(island, RowSource::joint_friction);
      row.kind = RowKind::box, row.d[0] = 1;
      row.upper = m.friction[at(k)] * options_.dt, row.lower = -row.upper;
    }
    if (motor.is_there()) {
      ConstraintRow& row = add_row(island, RowSource::motor);
      row.kind = std::isfinite(motor.limit) ? RowKind::box : RowKind::equality, row.d[0] = 1;
      row.compliance = 1 / (options_.dt * (motor.position_gain * options_.dt + motor.velocity_gain));
      if (row.kind == RowKind::box) row.upper = motor.limit * options_.dt, row.lower = -row.upper;
    }
    if (at_lower) add_row(island, RowSource::lower_limit).d[0] = 1;
    if (at_upper) add_row(island, RowSource::upper_limit).d[0] = -1;
  }
}

// X and what it says of the velocities before the step and without rows; Y and L.
void Stepper::fill_jacobian(StepIsland& island, const double* v) {
  const Model& m = world_->model();
  RowProblem& problem = island.problem;
  const std::size_t n = at(m.n_v), k = at(problem.channels);
  island.X.assign(n * k, 0.0);
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    const StepIsland::Block& block = island.blocks[b];
    double* const first = island.X.data() + problem.blocks[b].first_channel;
    if (!block.is_of_bodies()) {
      first[at(block.v) * k] = 1;
      if (block.v_of >= 0) first[at(block.v_of) * k + 1] = 1;
      continue;
    }
    const Vec3d p = block.centre - data_.X_WB[1].p;  // from O (data.h)
    const auto add_body = [&](int body, double sign) {
      for_each_on_path(m, body, [&](int c) {
        const Motion<double> J = at_point(data_.J[at(c)], p);
        double* const row = first + at(m.column_v[at(c)]) * k;
        for (int i = 0; i < block.linear(); ++i) row[i] += sign * block.size * J.angular[i];
        for (int i = 0; i < 3; ++i) row[block.linear() + i] += sign * J.linear[i];
      });
    };
    add_body(block.b, 1);
    add_body(block.a, -1);
  }

  problem.y_free.assign(k, 0.0), island.before.assign(k, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double* const x = island.X.data() + i * k;
    for (std::size_t r = 0; r < k; ++r) problem.y_free[r] += x[r] * v_free_[i], island.before[r] += x[r] * v[i];
  }
  const int width = padded(problem.channels);
  padded_Y_.assign(n * at(width), 0.0), padded_L_.assign(k * at(width), 0.0);
  for (std::size_t i = 0; i < n; ++i) std::copy_n(&island.X[i * k], k, &padded_Y_[i * at(width)]);
  columns().mass_solve(m, data_.L.data(), padded_Y_.data(), width);
  small_matrices().add_sparse_product(LeftFactor::transposed(island.X.data(), problem.channels, m.n_v), padded_Y_.data(), width, padded_L_.data(), width, width);
  island.Y.resize(n * k), problem.L.resize(k * k);
  for (std::size_t i = 0; i < n; ++i) std::copy_n(&padded_Y_[i * at(width)], k, &island.Y[i * k]);
  for (std::size_t r = 0; r < k; ++r)  // symmetric but for rounding
    for (std::size_t c = 0; c <= r; ++c) problem.L[r * k + c] = problem.L[c * k + r] = 0.5 * (padded_L_[r * at(width) + c] + padded_L_[c * at(width) + r]);
}

void Stepper::fill_targets(StepIsland& island, const double* q, const StepControl& control) {
  const Model& m = world_->model();
  const double dt = options_.dt, rate = options_.erp / dt;
  RowProblem& problem = island.problem;
  island.has_impacts = false;
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    const StepIsland::Block& block = island.blocks[b];
    for (int i = problem.blocks[b].first_row; i < problem.blocks[b].last_row; ++i) {
      ConstraintRow& row = problem.rows[at(i)];
      StepIsland::Row& source = island.rows[at(i)];
      switch (source.source) {
        case RowSource::normal:
          fill_normal(island, b, i);
          break;
        case RowSource::lower_limit:
          row.target = -rate * (q[block.q] - m.limits.q_lower[at(block.q)]);
          break;
        case RowSource::upper_limit:
          row.target = -rate * (m.limits.q_upper[at(block.q)] - q[block.q]);
          break;
        case RowSource::motor: {
          const Motor& motor = world_->motor(block.v);
          const double stretch = block.q >= 0 && control.q_target ? control.q_target[block.q] - q[block.q] : 0.0;
          const double speed = control.v_target ? control.v_target[block.v] : 0.0;
          row.target = (motor.position_gain * stretch + motor.velocity_gain * speed) / (motor.position_gain * dt + motor.velocity_gain);
          break;
        }
        case RowSource::joint_friction:
          break;  // at rest
        case RowSource::closure:
        case RowSource::equality:
          if (i == problem.blocks[b].first_row) fill_closure(island, b, q);
          break;
        default:  // frictions of a point: at rest, from when it is met
          source.law = island.rows[at(row.normal)].law, source.impact = island.rows[at(row.normal)].impact;
          if (source.law == NormalLaw::impact || source.law == NormalLaw::landing) meet(island, b, i);
      }
    }
  }
}

// Leaves out what normals, limits and closures ask for beyond standing still; whether there was any.
bool Stepper::relax(StepIsland& island) {
  bool any = false;
  for (std::size_t i = 0; i < island.rows.size(); ++i) {
    ConstraintRow& row = island.problem.rows[i];
    const RowSource source = island.rows[i].source;
    const bool is_closure = source == RowSource::closure || source == RowSource::equality;
    const bool is_hard = row.kind == RowKind::unilateral && row.compliance == 0;  // what gives contradicts nothing
    if (is_closure ? row.target != 0 : is_hard && row.target > 0) row.target = 0, any = true;
  }
  return any;
}

void Stepper::solve(StepIsland& island, StepReport& report) {
  island.is_relaxed = false;
  if (options_.solver == RowSolver::pgs) {
    island.sweeps.solve(island.problem, options_.sweeps, island.solution);
    island.sizes.measure(island.problem);
    report.residual = std::max(report.residual, row_residual(island.problem, island.sizes, island.solution));
    return;
  }
  ModeReport solved = exact_.solve(island.problem, island.solution);
  report.class_changes += solved.class_changes, report.pivots += solved.pivots;
  if (solved.status == ModeStatus::inconsistent && relax(island)) {
    island.is_relaxed = true;
    solved = exact_.solve(island.problem, island.solution);
    report.class_changes += solved.class_changes, report.pivots += solved.pivots;
  }
  // What solved the rows is their factor for derivatives.
  island.is_factored = island.has_modes = solved.status == ModeStatus::solved;
  if (island.is_factored) exact_.exchange_classes(island.modes);
  exact_.exchange_sizes(island.sizes);
  const StepStatus status = solved.status == ModeStatus::inconsistent ? StepStatus::inconsistent
                            : island.is_relaxed                         ? StepStatus::relaxed
                            : solved.status == ModeStatus::rough      ? StepStatus::rough
                            : solved.status == ModeStatus::basic      ? StepStatus::basic
                                                                        : StepStatus::solved;
  report.status = std::max(report.status, status);
  report.residual = std::max(report.residual, solved.residual);
}

StepReport Stepper::step(const double* q, const double* v, const StepControl& control, double* q_next, double* v_next) {
  const Model& m = world_->model();
  StepReport report;
  if (m.n_v == 0) return std::copy_n(q, m.n_q, q_next), report;
  is_derived_ = is_derived_by_everything_ = is_diverged_ = false;
  move_freely(q, v, control);
  query_.place(q, data_.X_WB);
  if (options_.bounce == Bounce::time_of_impact) {
    detail::joint_velocities(m, data_, v_free_.data(), V_free_);
    query_.manifolds(std::max(options_.margin, reach()), manifolds_);
    std::erase_if(manifolds_, [this](const SceneQuery::PairManifold& pair) { return !is_met(pair); });
  } else {
    query_.manifolds(options_.margin, manifolds_);
  }

  for (int t = 0; t < world_->n_trees(); ++t) joined_[at(t)] = t, island_of_tree_[at(t)] = -1;
  n_islands_ = 0;
  for (const SceneQuery::PairManifold& pair : manifolds_)
    join(world_->tree_of_body(world_->scene().object(pair.a).body), world_->tree_of_body(world_->scene().object(pair.b).body));
  for (const FrameClosure& closure : world_->closures().frames) join(world_->tree_of_body(closure.a), world_->tree_of_body(closure.b));
  for (const JointEquality& closure : world_->closures().joints)
    if (closure.a >= 0) join(world_->tree_of_v(closure.a), world_->tree_of_v(closure.b));
  add_closures(q);
  sort_by_bodies();
  for (std::size_t i = 0, next = 0; i < by_bodies_.size(); i = next) {
    while (next < by_bodies_.size() && first_of_bodies_[at(by_bodies_[next])] == first_of_bodies_[at(by_bodies_[i])]) ++next;
    add_contacts(by_bodies_.data() + i, by_bodies_.data() + next);
  }
  add_coordinates(q);

  std::fill(way_.begin(), way_.end(), 0.0);
  for (int i = 0; i < n_islands_; ++i) {
    StepIsland& island = islands_[at(i)];
    fill_jacobian(island, v);
    leave_out_rows(island);
    fill_targets(island, q, control);
    solve(island, report);
    add_late_impulses(island);
    if (options_.bounce == Bounce::time_of_impact) report.coupled_bounces += coupled_bounces(island);
    const std::size_t k = at(island.problem.channels);
    for (std::size_t r = 0; r < at(m.n_v); ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < k; ++c) sum += island.Y[r * k + c] * island.solution.z[c];
      v_free_[r] += sum;
    }
    report.rows += island.problem.size();
  }
  report.islands = n_islands_;
  report.manifolds = static_cast<int>(manifolds_.size());
  for (const SceneQuery::PairManifold& pair : manifolds_) report.contacts += pair.manifold.n_points;

  moved_ = v_free_;
  for (std::size_t k = 0; k < way_.size(); ++k) way_[k] += moved_[k];
  advance(m, q, options_.dt, way_.data(), v_free_.data(), q_next_.data());
  const auto are_finite = [](const std::vector<double>& x) { return std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); }); };
  if (!are_finite(q_next_) || !are_finite(v_free_)) {
    if (q_next != q) std::copy_n(q, m.n_q, q_next);  // substeps write where they read
    if (v_next != v) std::copy_n(v, m.n_v, v_next);
    manifolds_.clear(), n_islands_ = 0, is_diverged_ = true;
    report = StepReport(), report.status = StepStatus::diverged;
    return report;
  }
  std::copy(q_next_.begin(), q_next_.end(), q_next), std::copy(v_free_.begin(), v_free_.end(), v_next);
  return report;
}

}  // namespace robosim

// The gradient of a step, by one transposed solve.
//
// With the impulses z of the channels, the step's velocity u = v+ in the axes at the start solves M^(u - v) + dt (...) - X^T z = 0, and z
// answers y = X u, the rows' coefficients d and their targets. Let g be what the loss changes by with u, and y_bar, d_bar, t_bar what the rows'
// adjoint (contact/class_factor.h) gives for z_bar = X M^^-1 g: it sees L only through y = y_free + L z, so that everything is told by
//
//   lambda = M^^-1 (g + X^T y_bar),   dloss = -lambda . d_x r + y_bar . (dX u) + d_bar . dd + t_bar . dt
//
// with r taken at fixed u and z: RNEA at the velocity v and the acceleration (u - v)/dt contracted with lambda (rnea_products.h), and
// lambda . dX^T z beside y_bar . dX u. Both are of one form, a force F on a body against a velocity field V of all bodies: with columns J_c,
//
//   d(F . V_b)/dq_c = F . (J_c x (V_b - V_p))      c on the way to body b, p the parent of its joint; F held in the world
//
// and the contacts' geometry comes through d and the gaps: points, normal and axes of friction move with both bodies
// (geometry/manifolds/manifold_derivatives.h). The channels' point and size are held, as the impulses do not depend on them. Classes are
// held, so the derivative of tied rows is one-sided. See Carpentier and Mansard (RSS 2018) for r, Werling et al. (RSS 2021) for the idea; dA/dq is
// never formed.
// Cost: about two products with the derivatives of RNEA, and what the manifolds' derivatives cost.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "dynamics/configuration.h"
#include "dynamics/forward_dynamics.h"
#include "dynamics/rnea_products.h"
#include "step/contact_axes.h"
#include "step/step.h"

namespace robosim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Impulses that differ by this part of the largest are not those of the classes.
constexpr double same_impulses = 1e-6;

Vec3d part(const double* x) { return {x[0], x[1], x[2]}; }

// A covector on the channels of a block, as a force about O: `arm` from O to the block's centre.
Force<double> force_of(const double* bar, double size, const Vec3d& arm) {
  const Vec3d linear = part(bar + 3);
  return {size * part(bar) + cross(arm, linear), linear};
}

}  // namespace

// Adds d(F . V_body)/dq.
void Stepper::add_turned_twist(int body, const Force<double>& F, const std::vector<Motion<double>>& V, StepGradient& gradient) const {
  const Model& m = world_->model();
  for (int i = body; i > 0; i = m.joints[at(i)].parent) {
    const Joint& joint = m.joints[at(i)];
    const Motion<double>&V_b = V[at(body)], &V_p = V[at(joint.parent)];
    const Motion<double> beyond{V_b.angular - V_p.angular, V_b.linear - V_p.linear};
    for (int k = 0; k < joint.n_v; ++k) gradient.q[at(joint.v_index + k)] += dot(cross(data_.J[at(joint.column + k)], beyond), F);
  }
}

// Adds what a covector on the twist of an object's piece, [linear; angular] in its own frame, is on q.
void Stepper::add_shape_motion(int object, int piece, const double* twist_bar, StepGradient& gradient) {
  const Model& m = world_->model();
  const SceneObject& o = world_->scene().object(object);
  if (o.body == 0) return;
  const SE3d X = o.geometry.body().with_piece(piece, [&](const Compound::Piece& p) { return query_.X_WO(object) * p.X_BP; });
  const Vec3d linear = X.R * part(twist_bar), p = X.p - data_.X_WB[1].p;
  const Force<double> F{X.R * part(twist_bar + 3) + cross(p, linear), linear};
  for_each_on_path(m, o.body, [&](int c) { gradient.q[at(m.column_v[at(c)])] += dot(data_.J[at(c)], F); });
}

void Stepper::add_contact_vjp(const StepIsland& island, std::size_t b, StepGradient& gradient) {
  const RowProblem& problem = island.problem;
  const StepIsland::Block& block = island.blocks[b];
  const RowBlock& rows = problem.blocks[b];
  const SceneQuery::PairManifold& pair = manifolds_[at(block.manifold)];
  const Manifold& m = pair.manifold;
  const SceneObject &A = world_->scene().object(pair.a), &B = world_->scene().object(pair.b);
  const PairMaterial& material = world_->material(pair.a, pair.b);
  PairMaterial& material_bar = gradient.materials[at(world_->pair(pair.a, pair.b))];
  const double rate = options_.erp / options_.dt;
  const double *z = &island.solution.z[at(rows.first_channel)], *y_bar = &y_bar_[at(rows.first_channel)];
  const double* before = &v_before_[at(rows.first_channel)];
  double* const bounce = &bounce_[at(rows.first_channel)];

  // From the rows to the points, the normal and the axes.
  Vec3d p_bar[Manifold::max_points], n_bar;
  double gap_bar[Manifold::max_points] = {};
  ContactAxes t_bar;
  const Vec3d n = m.normal();
  const ContactAxes axes = contact_axes(n);
  for (int i = rows.first_row; i < rows.last_row; ++i) {
    const ConstraintRow& row = problem.rows[at(i)];
    const RowSource source = island.rows[at(i)].source;
    const int point = island.rows[at(i)].point;
    double d_bar[6];
    for (int c = 0; c < 6; ++c) d_bar[c] = island.gradient.d[at(i * most_block_channels + c)];
    const double target_bar = island.gradient.target[at(i)], mu_bar = island.gradient.mu[at(i)];
    const Vec3d arm = m.points[point].p_W - block.centre;
    const double scale = 1 / block.size;
    if (source == RowSource::normal && !(island.is_relaxed && row.target == 0)) {
      gap_bar[point] -= rate * target_bar;
      double approach = 0;
      for (int c = 0; c < 6; ++c) approach -= row.d[c] * before[c];
      if (approach > options_.restitution_threshold) {
        material_bar.restitution += target_bar * approach;
        for (int c = 0; c < 6; ++c) {
          d_bar[c] -= material.restitution * target_bar * before[c];
          bounce[c] -= material.restitution * target_bar * row.d[c];
        }
      }
    }
    const auto along = [&](const Vec3d& u, Vec3d& u_bar) {
      u_bar += part(d_bar + 3) + scale * cross(part(d_bar), arm);
      p_bar[point] += scale * cross(u, part(d_bar));
    };
    const auto about = [&](Vec3d& u_bar) { u_bar += scale * part(d_bar); };
    switch (source) {
      case RowSource::normal: along(n, n_bar); break;
      case RowSource::friction_1: along(axes.t[0], t_bar.t[0]), material_bar.friction += mu_bar; break;
      case RowSource::friction_2: along(axes.t[1], t_bar.t[1]), material_bar.friction += mu_bar; break;
      case RowSource::torsion: about(n_bar), material_bar.torsional_friction += mu_bar; break;
      case RowSource::rolling_1: about(t_bar.t[0]), material_bar.rolling_friction += mu_bar; break;
      default: about(t_bar.t[1]), material_bar.rolling_friction += mu_bar;
    }
  }
  n_bar += contact_axes_pulled_back(n, t_bar);

  // From these to the motions of both shapes.
  const CollisionGeometry &a = A.geometry, &g = B.geometry;
  double twist_bar[12];
  a.body().with_piece(pair.piece_a, [&](const Compound::Piece& P) {
    return g.body().with_piece(pair.piece_b, [&](const Compound::Piece& Q) {
      manifold_derivatives(m, P.shape, query_.X_WO(pair.a) * P.X_BP, Q.shape, query_.X_WO(pair.b) * Q.X_BP, manifold_rates_);
    });
  });
  for (int k = 0; k < 12; ++k) {
    twist_bar[k] = dot(n_bar, manifold_rates_.points[0].twist[k].normal);
    for (int i = 0; i < m.n_points; ++i) {
      const ManifoldRate& r = manifold_rates_.points[i].twist[k];
      twist_bar[k] += gap_bar[i] * r.distance + dot(p_bar[i], r.p_W);
    }
  }
  for (int i = 0; i < m.n_points; ++i) gradient.is_one_sided |= manifold_rates_.points[i].one_sided;
  add_shape_motion(pair.a, pair.piece_a, twist_bar, gradient);
  add_shape_motion(pair.b, pair.piece_b, twist_bar + 6, gradient);

  // And the bodies' columns, which turn with the joints before them.
  const Vec3d arm = block.centre - data_.X_WB[1].p;
  const Force<double> F = force_of(z, block.size, arm), F_bar = force_of(y_bar, block.size, arm), F_bounce = force_of(bounce, block.size, arm);
  for (const auto& [body, sign] : {std::pair(B.body, 1.0), std::pair(A.body, -1.0)}) {
    const auto signed_force = [&, s = sign](const Force<double>& x) { return Force<double>{s * x.angular, s * x.linear}; };
    add_turned_twist(body, signed_force(F), V_lambda_, gradient);
    add_turned_twist(body, signed_force(F_bar), V_moved_, gradient);
    add_turned_twist(body, signed_force(F_bounce), V_start_, gradient);
  }
}

void Stepper::add_coordinate_vjp(const StepIsland& island, std::size_t b, const double* q, const StepControl& control, StepGradient& gradient) const {
  const double dt = options_.dt, rate = options_.erp / dt;
  const StepIsland::Block& block = island.blocks[b];
  const std::size_t v = at(block.v);
  for (int i = island.problem.blocks[b].first_row; i < island.problem.blocks[b].last_row; ++i) {
    const ConstraintRow& row = island.problem.rows[at(i)];
    const double target_bar = island.gradient.target[at(i)];
    const bool is_clipped = island.is_relaxed && row.target == 0;
    switch (island.rows[at(i)].source) {
      case RowSource::lower_limit:
        if (!is_clipped) gradient.q[v] -= rate * target_bar;
        break;
      case RowSource::upper_limit:
        if (!is_clipped) gradient.q[v] += rate * target_bar;
        break;
      case RowSource::motor: {
        const Motor& motor = world_->motor(block.v);
        Motor& bar = gradient.motors[v];
        const double sum = motor.position_gain * dt + motor.velocity_gain;
        const bool is_pulled = block.q >= 0 && control.q_target;
        const double stretch = is_pulled ? control.q_target[block.q] - q[block.q] : 0.0, speed = control.v_target ? control.v_target[block.v] : 0.0;
        const double per_sum = -row.compliance * island.gradient.compliance[at(i)] - row.target * target_bar;  // of sum, times sum
        bar.position_gain += (stretch * target_bar + dt * per_sum) / sum;
        bar.velocity_gain += (speed * target_bar + per_sum) / sum;
        bar.limit += dt * (island.gradient.upper[at(i)] - island.gradient.lower[at(i)]);
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

void Stepper::vjp(const double* q, const double* v, const StepControl& control, const double* q_next_bar, const double* v_next_bar,
                  StepGradient& gradient) {
  if (options_.solver != RowSolver::lcp) throw InputError("gradients of steps are those of the solver 'lcp'");
  const Model& m = world_->model();
  const double dt = options_.dt;
  const std::size_t n = at(m.n_v);
  gradient.set_zero(*world_);
  if (n == 0) return;
  for (auto* x : {&v_bar_, &a_, &a_bar_, &q_part_, &v_part_}) x->resize(n);
  for (auto* x : {&V_lambda_, &V_moved_, &V_start_}) x->resize(at(m.n_bodies()));
  advance_vjp(m, dt, moved_.data(), q_next_bar, v_next_bar, gradient.q.data(), v_bar_.data());

  // The rows' adjoints; lambda = M^^-1 (g + X^T y_bar) over all islands.
  std::vector<double>& lambda = lambda_;
  lambda = v_bar_;
  for (int i = 0; i < n_islands_; ++i) {
    StepIsland& island = islands_[at(i)];
    const std::size_t k = at(island.problem.channels);
    impulse_bar_.assign(k, 0.0);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < k; ++c) impulse_bar_[c] += island.Y[r * k + c] * v_bar_[r];
    gradient.is_one_sided |= !factor_.factor(island.problem, island.solution.classes.data());
    factor_.solve(island.problem, again_);
    double largest = 0, off = 0;
    for (std::size_t r = 0; r < again_.f.size(); ++r)
      largest = std::max(largest, std::abs(again_.f[r])), off = std::max(off, std::abs(again_.f[r] - island.solution.f[r]));
    gradient.is_one_sided |= !(off <= same_impulses * largest);
    island.gradient.set_zero(island.problem);
    f_zero_.assign(again_.f.size(), 0.0);
    factor_.add_vjp(island.problem, island.solution, f_zero_.data(), impulse_bar_.data(), island.gradient);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < k; ++c) lambda[r] += island.X[r * k + c] * island.gradient.y_free[c];
  }
  mass_solve(m, data_.L.data(), lambda.data(), 1);

  detail::joint_velocities(m, data_, lambda.data(), V_lambda_);
  detail::joint_velocities(m, data_, moved_.data(), V_moved_);
  detail::joint_velocities(m, data_, v, V_start_);
  for (int i = 0; i < n_islands_; ++i) {
    StepIsland& island = islands_[at(i)];
    const std::size_t k = at(island.problem.channels);
    y_bar_ = island.gradient.y_free;
    bounce_.assign(k, 0.0), v_before_.assign(k, 0.0);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < k; ++c) v_before_[c] += island.X[r * k + c] * v[r];
    for (std::size_t b = 0; b < island.blocks.size(); ++b) {
      if (island.blocks[b].manifold >= 0) add_contact_vjp(island, b, gradient);
      else add_coordinate_vjp(island, b, q, control, gradient);
    }
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < k; ++c) gradient.v[r] += island.X[r * k + c] * bounce_[c];
  }

  // -lambda . d r without contacts.
  for (std::size_t k = 0; k < n; ++k) gradient.tau[k] = dt * lambda[k];
  for (const World::Coordinate& c : world_->coordinates()) gradient.q[at(c.v)] -= dt * m.stiffness[at(c.v)] * lambda[at(c.v)];
  turning_rates(m, v, a_.data());
  for (std::size_t k = 0; k < n; ++k) a_[k] += (moved_[k] - v[k]) / dt, held_[k] = -dt * lambda[k];
  rnea_vjp(m, data_, q, v, a_.data(), held_.data(), q_part_.data(), v_part_.data(), a_bar_.data());
  for (std::size_t k = 0; k < n; ++k) {
    gradient.q[k] += q_part_[k];
    gradient.v[k] += v_part_[k] - a_bar_[k] / dt;
  }
  add_turning_rates_vjp(m, v, a_bar_.data(), gradient.v.data());
}

}  // namespace robosim

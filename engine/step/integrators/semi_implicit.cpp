// Semi-implicit Euler with implicit damping and springs:
//
//   M^ (u - v) = dt (tau - h - D v - K (q - q_0 + dt v)) + J^T f,     M^ = M + dt D + dt^2 K,
//                                                                     q+ = q advanced by dt way
//
// with D the damping of joints, K their springs and f the impulses of the rows. way = u, unless
// impulses act late in the step (impacts.h) or positions are corrected. Positions, M and h are
// those at the start. All quantities are in the axes at the start, including those of floating
// bodies, so h lacks the term of the rotation of their axes. Floating bodies move straight, and the
// velocity at the end is then expressed in their axes at the end (advance of configuration.h). The
// linear momentum of a body whose center of mass is at its origin is conserved exactly.
//
// The residual is r = M^ (u - v) - dt (...), the operator is M^, and its factor is step.dynamics.L.
// Let T be the derivative of turning_rates with respect to v. M^^-1 times the derivative of -r with
// respect to v is
//   M^^-1 (M (1 - dt T) - dt dh/dv) = W + M^^-1 (-dt dh/dv - (M^ - M) W),   W = 1 - dt T,
// so M itself is not needed.
#include <algorithm>
#include <vector>

#include "base/index.h"
#include "base/linalg/small_sums.h"
#include "dynamics/configuration.h"
#include "dynamics/forward_dynamics.h"
#include "dynamics/mass_factor.h"
#include "dynamics/parameter_derivatives.h"
#include "dynamics/rnea.h"
#include "dynamics/rnea_derivatives.h"
#include "dynamics/rnea_products.h"
#include "step/columns.h"
#include "step/integrators/integrator.h"
#include "step/integrators/integrators.h"
#include "step/integrators/mass_vjp.h"
#include "step/inverse_dynamics_rates.h"

namespace robosim {
namespace {

// Call use(row, column, entry) for each nonzero entry of 1 - dt d(turning_rates)/dv.
template <class Use>
void for_each_turning(const StepData& step, const double* v, const Use& use) {
  detail::for_each_own_joint(step.world->model(), [&](auto type, const Joint& joint) {
    const int k = joint.v_index;
    for (int row = 0; row < type.n_v; ++row) {
      double unit[type.n_v] = {}, entries[type.n_v] = {};
      unit[row] = -step.options.dt;
      entries[row] = 1;
      if constexpr (turns_axes<decltype(type)>) {
        type.add_turning_rate_vjp(v + k, unit, entries);
        for (int c = 0; c < type.n_v; ++c) use(k + row, k + c, entries[c]);
      } else {
        use(k + row, k + row, 1.0);
      }
    }
  });
}

class SemiImplicit final : public Integrator {
 public:
  explicit SemiImplicit(const Model& m) {
    for (auto* x : {&held_, &a_, &a_bar_, &q_part_, &v_part_, &d_acceleration_})
      x->resize(at(m.n_v));
  }

  void move_freely(StepData& step, const StepInput& in) override;
  void advance(const StepData& step, const StepInput& in, const StateSpan& next) const override {
    std::copy(step.u.begin(), step.u.end(), next.v);
    robosim::advance(step.model(), in.q, step.options.dt, step.way.data(), next.v, next.q);
  }

  void solve(const StepData& step, double* x) const override {
    mass_solve(step.model(), step.dynamics.L.data(), x, 1);
  }
  void solve_columns(const StepData& step, double* x, int stride) const override {
    columns().mass_solve(step.model(), step.dynamics.L.data(), x, stride);
  }
  void solve_first_half(const StepData& step, std::span<const int> entries, const int* at,
                        double* x, int width) const override {
    mass_solve_first_half(step.model(), step.dynamics.L.data(), entries, at, x, width);
  }
  void solve_second_half(const StepData& step, std::span<const int> entries, const int* at,
                         double* x) const override {
    mass_solve_second_half(step.model(), step.dynamics.L.data(), entries, at, x);
  }

  void add_residual_vjp(StepData& step, const StepInput& in, const std::vector<double>& lambda,
                        StepGradient& gradient) override;
  void add_residual_jvp(StepData& step, const StepInput& in, const StepGradient& direction,
                        double* change, std::vector<Motion<double>>& displaced) override;
  void fill_residual_rates(StepData& step, const StepInput& in, double* by_q, double* by_v,
                           int stride) override;
  void add_carried_velocity(const StepData& step, const StepInput& in, double* by_v,
                            int stride) const override {
    for_each_turning(step, in.v,
                     [&](int row, int column, double W) { by_v[row * stride + column] += W; });
  }

  void begin_operator_vjp(const StepData& step) override { mass_.reset(step.model().n_v); }
  void add_operator_vjp(const StepData& step, const double* x, const double* y, std::size_t count,
                        MotionAdjoint& bodies, StepGradient& gradient) override {
    mass_.add(step, x, y, count, bodies, gradient);
  }
  void end_operator_vjp(const StepData& step, StepGradient& gradient) override;

  double advance_vjp(const StepData& step, const TangentView& next_bar, double* q_bar,
                     double* way_bar, double* u_bar) const override {
    return robosim::advance_vjp(step.model(), step.options.dt, step.way.data(), step.u.data(),
                                next_bar.q, next_bar.v, q_bar, way_bar, u_bar);
  }
  void advance_jvp(const StepData& step, const double* dq, double d_dt, const double* dway,
                   const double* du, const TangentSpan& next) const override {
    robosim::advance_jvp(step.model(), step.options.dt, step.way.data(), step.u.data(), dq, d_dt,
                         dway, du, next.q, next.v);
  }
  void advance_columns(const StepData& step, std::span<const ColumnBlock> parts,
                       int stride) const override;

 private:
  MassVjp mass_;
  std::vector<double> held_, a_, a_bar_, q_part_, v_part_, d_acceleration_;  // n_v
};

}  // namespace

void SemiImplicit::move_freely(StepData& step, const StepInput& in) {
  const Model& m = step.world->model();
  const double dt = step.options.dt;
  // Factor of M + dt D + dt^2 K.
  inertia_stage(m, step.dynamics, in.q);
  for (int k = 0; k < m.n_v; ++k) held_[k] = dt * (m.damping[k] + dt * m.stiffness[k]);
  detail::factor_mass_matrix(m, step.dynamics, held_.data());
  // Bias forces h in the axes at the start.
  turning_rates(m, in.v, held_.data());
  detail::rnea_sweep<true, true, true>(m, step.dynamics, in.v, held_.data(),
                                       step.dynamics.bias.data(), Wrenches<double>());
  // Momentum of the forces over the step, then velocity.
  for (int k = 0; k < m.n_v; ++k)
    step.v_free[k] = (in.control.tau ? in.control.tau[k] : 0.0) - step.dynamics.bias[k] -
                     (m.damping[k] + dt * m.stiffness[k]) * in.v[k];
  for (const World::Coordinate& c : step.world->coordinates())
    step.v_free[c.v] -= m.stiffness[c.v] * (in.q[c.q] - m.spring_reference[c.v]);
  for (double& x : step.v_free) x *= dt;
  mass_solve(m, step.dynamics.L.data(), step.v_free.data(), 1);
  for (int k = 0; k < m.n_v; ++k) step.v_free[k] += in.v[k];
}

void SemiImplicit::add_residual_vjp(StepData& step, const StepInput& in,
                                    const std::vector<double>& lambda, StepGradient& gradient) {
  const Model& m = step.world->model();
  const double dt = step.options.dt;
  const std::size_t n = at(m.n_v);
  ParameterVector& of = gradient.parameters;
  double &dt_bar = *of.of("dt"), *const damping_bar = of.of("damping"),
         *const stiffness_bar = of.of("stiffness"),
         *const reference_bar = of.of("spring_reference");
  // Forces of the control, damping, and dt.
  turning_rates(m, in.v, a_.data());
  for (std::size_t k = 0; k < n; ++k) {
    a_[k] += (step.u[k] - in.v[k]) / dt;
    held_[k] = -dt * lambda[k];
    gradient.tau[k] = dt * lambda[k];
    dt_bar -= lambda[k] * (step.dynamics.bias[k] + m.damping[k] * step.u[k] -
                           (in.control.tau ? in.control.tau[k] : 0.0));
    damping_bar[k] = held_[k] * step.u[k];
  }
  // Springs.
  for (const World::Coordinate& c : step.world->coordinates()) {
    const std::size_t k = at(c.v);
    const double K = m.stiffness[k], stretch = in.q[c.q] - m.spring_reference[k];
    gradient.q[k] += K * held_[k];
    stiffness_bar[k] = held_[k] * (stretch + dt * step.u[k]);
    reference_bar[k] = -K * held_[k];
    dt_bar -= lambda[k] * K * (stretch + 2 * dt * step.u[k]);
  }
  // Inverse dynamics: state, inertial parameters, placements and gravity.
  rnea_vjp(m, step.dynamics, in.q, in.v, a_.data(), held_.data(), q_part_.data(), v_part_.data(),
           a_bar_.data());
  for (std::size_t k = 0; k < n; ++k) {
    gradient.q[k] += q_part_[k];
    gradient.v[k] += v_part_[k] - a_bar_[k] / dt;
  }
  add_turning_rates_vjp(m, in.v, a_bar_.data(), gradient.v.data());
  detail::parameter_vjp_sweep(
      m, step.dynamics, a_.data(), held_.data(), step.dynamics.F_bar, 1.0,
      {of.of("mass"), of.of("com"), of.of("inertia"), of.of("placement"), of.of("armature")});
  double* const gravity_bar = of.of("gravity");
  for (int i = 1; i < m.n_bodies(); ++i)
    for (int k = 0; m.joints[i].parent == 0 && k < 3; ++k)
      gravity_bar[k] += -1.0 * step.dynamics.A_bar[i].linear[k];
}

// Gradients of the terms on the diagonal of M^: armature, dt damping, dt^2 stiffness.
void SemiImplicit::end_operator_vjp(const StepData& step, StepGradient& gradient) {
  const std::vector<double>& inertia_bar = mass_.inertia_bar;
  const Model& m = step.world->model();
  const double dt = step.options.dt;
  ParameterVector& of = gradient.parameters;
  double &dt_bar = *of.of("dt"), *const armature_bar = of.of("armature"),
         *const damping_bar = of.of("damping");
  for (std::size_t k = 0; k < inertia_bar.size(); ++k) {
    armature_bar[k] += inertia_bar[k];
    damping_bar[k] += dt * inertia_bar[k];
    dt_bar += (m.damping[k] + 2 * dt * m.stiffness[k]) * inertia_bar[k];
  }
  for (const World::Coordinate& c : step.world->coordinates())
    *of.of("stiffness", c.v) += dt * dt * inertia_bar[c.v];
}

void SemiImplicit::add_residual_jvp(StepData& step, const StepInput& in,
                                    const StepGradient& direction, double* change,
                                    std::vector<Motion<double>>& displaced) {
  const Model& m = step.world->model();
  const ParameterVector& of = direction.parameters;
  const double d_dt = *of.of("dt");
  const double dt = step.options.dt;
  const std::size_t n = at(m.n_v);
  turning_rates(m, in.v, a_.data());
  for (std::size_t k = 0; k < n; ++k) {
    a_[k] += (step.u[k] - in.v[k]) / dt;
    d_acceleration_[k] = -direction.v[k] / dt;
  }
  add_turning_rates_jvp(m, in.v, direction.v.data(), d_acceleration_.data());
  // Before the sweeps, which overwrite the forces in step.dynamics.
  for (std::size_t k = 0; k < n; ++k) {
    const double tau = in.control.tau ? in.control.tau[k] : 0.0;
    change[k] += dt * direction.tau[k] -
                 d_dt * (step.dynamics.bias[k] + m.damping[k] * step.u[k] - tau) -
                 dt * of.of("damping")[k] * step.u[k];
  }
  // Springs.
  for (const World::Coordinate& c : step.world->coordinates()) {
    const std::size_t k = at(c.v);
    const double K = m.stiffness[k], stretch = in.q[c.q] - m.spring_reference[k];
    change[k] -= dt * (K * (direction.q[k] - of.of("spring_reference")[k]) +
                       of.of("stiffness")[k] * (stretch + dt * step.u[k]));
    change[k] -= d_dt * K * (stretch + 2 * dt * step.u[k]);
  }
  // Inverse dynamics: state, then inertial parameters, placements and gravity.
  rnea_jvp(m, step.dynamics, in.q, in.v, a_.data(), direction.q.data(), direction.v.data(),
           d_acceleration_.data(), q_part_.data());
  displaced = step.dynamics.X_rate;
  detail::add_parameter_jvp<double>(
      m, step.dynamics, in.v, a_.data(),
      {of.of("mass"), of.of("com"), of.of("inertia"), of.of("placement"), of.of("armature"),
       vec3_at(of.of("gravity"))},
      q_part_.data());
  for (std::size_t i = 0; i < displaced.size(); ++i)
    displaced[i] = displaced[i] + step.dynamics.X_rate[i];
  for (std::size_t k = 0; k < n; ++k) change[k] -= dt * q_part_[k];
}

void SemiImplicit::fill_residual_rates(StepData& step, const StepInput& in, double* by_q,
                                       double* by_v, int stride) {
  const Model& m = step.model();
  const double dt = step.options.dt;
  turning_rates(m, in.v, a_.data());
  for (std::size_t k = 0; k < a_.size(); ++k) a_[k] += (step.u[k] - in.v[k]) / dt;
  detail::derivatives_outward<true>(m, step.dynamics, in.v, a_.data(), Vec3d(m.gravity));
  inverse_dynamics_rates().fill(m, step.dynamics, -dt, by_q, by_v, stride);
  for (const World::Coordinate& c : step.world->coordinates())
    by_q[c.v * (stride + 1)] -= dt * m.stiffness[c.v];
  for_each_turning(step, in.v, [&](int row, int column, double W) {
    by_v[row * stride + column] -= dt * (m.damping[row] + dt * m.stiffness[row]) * W;
  });
}

// q_next = q + dt way and v_next = u, except for floating joints, whose axes rotate (advance of
// configuration.h).
void SemiImplicit::advance_columns(const StepData& step, std::span<const ColumnBlock> parts,
                                   int stride) const {
  const Model& m = step.model();
  const int n = m.n_v;
  for (const ColumnBlock& x : parts) {
    columns().advance(x.way, stride, n, x.count, step.options.dt, x.next, x.next + n * x.count);
    for (int row = 0; x.velocity != x.way && row < n; ++row)
      std::copy_n(x.velocity + row * stride, x.count, x.next + (n + row) * x.count);
  }
  detail::for_each_own_joint(m, [&](auto type, const Joint& joint) {
    const int k = joint.v_index, w = joint.n_v;
    if constexpr (turns_axes<decltype(type)>) {
      // Floating joints: replace the rows of the joint.
      AdvanceRates<double, decltype(type)> rates(step.options.dt, &step.way[k], &step.u[k]);
      double by_both[2 * type.n_v][type.n_v];
      for (int row = 0; row < 2 * w; ++row)
        for (int c = 0; c < w; ++c) by_both[row][c] = rates.by_u[row][c] + rates.by_v[row][c];
      for (const ColumnBlock& x : parts) {
        const bool is_one = x.velocity == x.way;
        columns().advance_turning(is_one ? by_both[0] : rates.by_u[0], w, x.way + k * stride,
                                  stride, x.count, x.next + k * x.count,
                                  x.next + (n + k) * x.count);
        for (int row = 0; !is_one && row < 2 * w; ++row)
          for (int i = 0; i < w; ++i)
            for (int c = 0; c < x.count; ++c)
              x.next[(row < w ? k + row : n + k + row - w) * x.count + c] +=
                  rates.by_v[row][i] * x.velocity[(k + i) * stride + c];
        for (int row = 0; x.by_q && row < 2 * w; ++row)
          for (int c = 0; c < w; ++c)
            x.next[(row < w ? k + row : n + k + row - w) * n + k + c] += rates.by_q[row][c];
      }
    } else {
      for (const ColumnBlock& x : parts)
        for (int c = k; x.by_q && c < k + w; ++c) x.next[c * n + c] += 1;
    }
  });
}

std::unique_ptr<Integrator> make_semi_implicit(const Model& model) {
  return std::make_unique<SemiImplicit>(model);
}

}  // namespace robosim

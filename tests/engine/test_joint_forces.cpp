// Passive joint forces: the laws, their derivatives, and the energy balance.
#include <doctest/doctest.h>

#include "checks.h"
#include "dynamics/energy.h"
#include "dynamics/forward_dynamics.h"
#include "dynamics/joint_forces.h"
#include "dynamics/operations/derivatives.h"
#include "dynamics/operations/values.h"
#include "ridders.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

Numbers forces(const Model& model, const Numbers& q, const Numbers& v) {
  Numbers tau(v.size());
  joint_forces(model, q.data(), v.data(), tau.data());
  return tau;
}

// Power dissipated by damping and dry friction at v.
double dissipation(const Model& model, const Numbers& v) {
  double power = 0;
  for (std::size_t k = 0; k < v.size(); ++k)
    power += model.damping[k] * v[k] * v[k] +
             model.friction[k] * v[k] * v[k] / std::hypot(v[k], model.friction_width[k]);
  return power;
}

}  // namespace

TEST_CASE("springs have the force of their energy, and all else takes energy away") {
  over_battery([](const Model& model, Random&, const Numbers& q, const Numbers& v, const Numbers&) {
    const Numbers tau = forces(model, q, v), rest = forces(model, q, Numbers(v.size()));
    double power = 0, scale = 1;
    for (std::size_t k = 0; k < v.size(); ++k) {
      power += tau[k] * v[k];
      scale += std::abs(tau[k] * v[k]);
    }
    const Duals moved = moving(model, q, v);
    check_close(power, -spring_energy(model, moved.data()).derivative - dissipation(model, v),
                scale);
    for (std::size_t k = 0; k < v.size(); ++k) {
      Numbers unit(v.size());
      unit[k] = 1;
      // At rest only springs act.
      check_close(rest[k], -spring_energy(model, moving(model, q, unit).data()).derivative);
    }
  });
}

TEST_CASE(
    "dry friction is Coulomb's away from rest, odd, bounded, and has its width's slope at rest") {
  const Numbers zero{0};
  Random random(4);
  Model model = random_tree("one", random, {"revolute"}, 1, true, false).build({});
  model.damping = zero;
  model.stiffness = zero;
  for (const double width : {1e-3, 0.01, 0.5}) {
    model.friction_width = {width};
    const double f = model.friction[0];
    double last = 1;
    for (const double v : {-1e3, -1.0, -width, -1e-9, 0.0, 1e-9, width, 1.0, 1e3}) {
      const double tau = forces(model, zero, {v})[0];
      CHECK(tau == -forces(model, zero, {-v})[0]);
      CHECK(std::abs(tau) <= f);
      CHECK((tau < last || std::abs(v) == 1e3));  // decreases with v, up to rounding
      last = tau;
      if (std::abs(v) > width)
        CHECK(std::abs(std::abs(tau) - f) <= f * width * width / (2 * v * v) * (1 + 1e-9) + 1e-15);
    }
    CHECK(forces(model, zero, {1e-9 * width})[0] == doctest::Approx(-f * 1e-9).epsilon(1e-12));
  }
}

TEST_CASE("derivatives of joint forces") {
  over_battery(
      [](const Model& model, Random&, const Numbers& q, const Numbers& v, const Numbers& a) {
        const std::size_t n = v.size();
        Numbers dq(n), dv(n), damping(n), friction(n), width(n), stiffness(n), reference(n);
        joint_force_slopes(model, v.data(), dq.data(), dv.data());
        joint_force_parameter_derivatives(
            model, q.data(), v.data(),
            JointForceParameters<double>{damping.data(), friction.data(), width.data(),
                                         stiffness.data(), reference.data()});
        const Derivatives exact =
            differentiate(model, q, v, a, n, [&](const Duals& q_, const Duals& v_, const Duals&) {
              Duals tau(n);
              joint_forces(model, q_.data(), v_.data(), tau.data());
              return tau;
            });
        const Numbers tau = forces(model, q, v);
        for (std::size_t k = 0; k < n; ++k) {
          for (std::size_t l = 0; l < n; ++l) {
            check_close(k == l ? dq[k] : 0, exact.dq[k * n + l]);
            check_close(k == l ? dv[k] : 0, exact.dv[k * n + l]);
          }
          // The forces are linear in these parameters: a difference of any size is exact for the
          // coordinate itself and zero for all others.
          const auto difference = [&](Numbers Model::*parameter, double step) {
            Model changed = model;
            (changed.*parameter)[k] += step;
            Numbers out = forces(changed, q, v);
            for (std::size_t l = 0; l < n; ++l) {
              out[l] = (out[l] - tau[l]) / step;
              if (l != k) CHECK(out[l] == 0);
            }
            return out[k];
          };
          check_close(damping[k], difference(&Model::damping, 1), tau[k]);
          check_close(friction[k], difference(&Model::friction, 1), tau[k]);
          const bool springy =
              std::any_of(model.joints.begin(), model.joints.end(), [&](const Joint& joint) {
                return !joint.mimic && joint.n_q == 1 && joint.v_index == static_cast<int>(k);
              });
          check_close(stiffness[k], springy ? difference(&Model::stiffness, 1) : 0, tau[k]);
          check_close(reference[k], springy ? difference(&Model::spring_reference, 1) : 0, tau[k]);
          const auto changed_width = [&](double x) {
            Model changed = model;
            changed.friction_width[k] += x;
            return forces(changed, q, v);
          };
          check_close(width[k], ridders(changed_width, 0.3 * model.friction_width[k])[k], 1, 1e-8);
        }
      });
}

TEST_CASE(
    "power: with joint forces the energy's derivative is what the drives put in, less what "
    "friction takes") {
  over_battery([](const Model& model, Random&, const Numbers& q, const Numbers& v,
                  const Numbers& tau) {
    Numbers total = forces(model, q, v), a(v.size());
    for (std::size_t k = 0; k < v.size(); ++k) total[k] += tau[k];
    Data<double> data(model);
    forward_dynamics(model, data, q.data(), v.data(), total.data(), a.data());
    double power = -dissipation(model, v), scale = 1;
    for (std::size_t k = 0; k < v.size(); ++k) {
      power += tau[k] * v[k];
      scale = std::max(scale, std::abs(total[k] * v[k]));
    }
    Data<Dual> dual(model);
    const Duals q_dual = moving(model, q, v), v_dual = with_rate(v, a);
    forward_kinematics(model, dual, q_dual.data());
    motion_subspaces(model, dual);
    forward_velocities(model, dual, v_dual.data());
    const Dual energy = kinetic_energy(model, dual, v_dual.data()) + potential_energy(model, dual) +
                        spring_energy(model, q_dual.data());
    check_close(energy.derivative, power, scale, 1e-10);  // the condition of M amplifies rounding
  });
}

TEST_CASE("operations: joint forces act in inverse and forward dynamics and in their derivatives") {
  over_battery([](const Model& model, Random&, const Numbers& q, const Numbers& v,
                  const Numbers& a) {
    const std::size_t n = v.size();
    Options options;
    options.joint_forces = true;
    // Evaluate f(q, v, a or tau) by an operation, over doubles or duals.
    const auto run = [&]<class S, class Op>(Op, const std::vector<S>& q_, const std::vector<S>& v_,
                                            const std::vector<S>& x_, const std::vector<S*>& out) {
      Data<S> data(model);
      const S* in[] = {q_.data(), v_.data(), x_.data()};
      Op::run(model, data, Call<S>{in, out.data(), {}, options});
    };
    const auto values = [&](auto op) {
      return [&, op](const Duals& q_, const Duals& v_, const Duals& x_) {
        Duals out(n);
        run(op, q_, v_, x_, {out.data()});
        return out;
      };
    };
    Numbers tau(n), back(n), dq(n * n), dv(n * n), dx(n * n), acceleration(n);
    run(operations::Rnea{}, q, v, a, {tau.data()});
    run(operations::ForwardDynamics{}, q, v, tau, {back.data()});
    check_close(back, a, 1e-10);  // the condition of M amplifies rounding, here and below
    run(operations::RneaDerivatives{}, q, v, a, {dq.data(), dv.data(), dx.data()});
    const Derivatives inverse = differentiate(model, q, v, a, n, values(operations::Rnea{}));
    check_close(dq, inverse.dq);
    check_close(dv, inverse.dv);
    check_close(dx, inverse.da);
    run(operations::ForwardDynamicsDerivatives{}, q, v, tau,
        {acceleration.data(), dq.data(), dv.data(), dx.data()});
    mirror(model, Pattern::upper, dx.data());
    const Derivatives forward =
        differentiate(model, q, v, tau, n, values(operations::ForwardDynamics{}));
    check_close(acceleration, a, 1e-10);
    check_close(dq, forward.dq, 1e-10);
    check_close(dv, forward.dv, 1e-10);
    check_close(dx, forward.da, 1e-10);
  });
}

TEST_CASE(
    "springs, damping and friction of mimic joints act on their source as they do on the joints "
    "themselves") {
  Model model = mimic_tree(false), free = mimic_tree(true);
  Random random(6);
  for (int repeat = 0; repeat < 10; ++repeat) {
    const Numbers q = random.configuration(model), v = random.numbers(model.n_v, 3);
    Numbers q_free(static_cast<std::size_t>(free.n_q)), v_free(static_cast<std::size_t>(free.n_v));
    for (int i = 1; i < model.n_bodies(); ++i) {
      const Joint &joint = model.joints[i], &own = free.joints[i];
      for (int k = 0; k < own.n_q; ++k)
        q_free[own.q_index + k] = joint.ratio * q[joint.q_index + k] + joint.offset;
      for (int k = 0; k < own.n_v; ++k)
        v_free[own.v_index + k] = joint.ratio * v[joint.v_index + k];
    }
    check_close(spring_energy(model, q.data()), spring_energy(free, q_free.data()));
    const auto gathered = [&](const Numbers& tau_free) {
      Numbers tau(v.size());
      for (int i = 1; i < model.n_bodies(); ++i)
        for (int k = 0; k < free.joints[i].n_v; ++k)
          tau[model.joints[i].v_index + k] +=
              model.joints[i].ratio * tau_free[free.joints[i].v_index + k];
      return tau;
    };
    // At rest and without dry friction exactly; with regularized dry friction near rest, and beyond
    // its widths, 0.01 rad/s or m/s.
    check_close(forces(model, q, Numbers(v.size())),
                gathered(forces(free, q_free, Numbers(v_free.size()))));
    Numbers slow = v, slow_free = v_free;
    for (double& x : slow) x *= 1e-6;
    for (double& x : slow_free) x *= 1e-6;
    check_close(forces(model, q, slow), gathered(forces(free, q_free, slow_free)), 1e-8);
    Numbers fast = v, fast_free = v_free;
    for (double& x : fast) x *= 1e5;
    for (double& x : fast_free) x *= 1e5;
    check_close(forces(model, q, fast), gathered(forces(free, q_free, fast_free)));
    Model smooth = model, smooth_free = free;
    std::fill(smooth.friction.begin(), smooth.friction.end(), 0.0);
    std::fill(smooth_free.friction.begin(), smooth_free.friction.end(), 0.0);
    check_close(forces(smooth, q, v), gathered(forces(smooth_free, q_free, v_free)));
  }
}

TEST_CASE("a rotor counts by the square of its gear ratio") {
  Random random(8);
  ModelBuilder builder = random_tree("geared", random, {"revolute"}, 0, true, false);
  builder.add_link("arm", random.inertia());
  JointSpec joint;
  joint.name = message("j");
  joint.kind = message("revolute");
  joint.parent = message("l0");
  joint.child = message("arm");
  joint.armature = 0.25;
  joint.rotor_inertia = 1e-4;
  joint.gear_ratio = -100;
  builder.add_joint(joint);
  CHECK(builder.build({}).armature[0] == doctest::Approx(1.25).epsilon(1e-15));
}

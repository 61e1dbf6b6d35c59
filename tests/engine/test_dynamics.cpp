// Every kernel on every joint type, against exact derivatives by dual numbers and against
// identities between the algorithms. The tolerance is 1e-12 relative to the largest entry, unless a
// reason is given: all quantities are of order one to a hundred and every chain of operations is
// short.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "checks.h"
#include "dynamics/crba.h"
#include "dynamics/energy.h"
#include "dynamics/forward_dynamics_derivatives.h"
#include "dynamics/jacobian.h"

using namespace robosim;
using namespace robosim::testing;

TEST_CASE("velocities and accelerations are the derivatives of placements and velocities") {
  over_battery(
      [](const Model& model, Random&, const Numbers& q, const Numbers& v, const Numbers& a) {
        Data<double> data(model);
        forward_kinematics(model, data, q.data());
        motion_subspaces(model, data);
        forward_accelerations(model, data, v.data(), a.data());
        Data<Dual> dual(model);
        const Duals q_dual = moving(model, q, v), v_dual = with_rate(v, a);
        forward_kinematics(model, dual, q_dual.data());
        motion_subspaces(model, dual);
        forward_velocities(model, dual, v_dual.data());
        for (const Frame& frame : model.frames) {
          const SE3<Dual> X = frame_placement(model, dual, frame);
          const Motion<double> V_F = frame_velocity(model, data, frame, Axes::local);
          check_close(V_F.angular, body_rate(X.R));
          check_close(frame_placement(model, data, frame).R * V_F.linear, rate(X.p));
          const Motion<double> A = frame_acceleration(model, data, frame, Axes::world);
          const Motion<Dual> V = frame_velocity(model, dual, frame, Axes::world);
          check_close(A.angular, rate(V.angular));
          check_close(A.linear, rate(V.linear));
        }
      });
}

TEST_CASE("frame Jacobians map v to the derivative of the frame's placement") {
  over_battery([](const Model& model, Random&, const Numbers& q, const Numbers& v, const Numbers&) {
    Data<double> data(model);
    forward_kinematics(model, data, q.data());
    motion_subspaces(model, data);
    Data<Dual> dual(model);
    forward_kinematics(model, dual, moving(model, q, v).data());
    Numbers J(static_cast<std::size_t>(6 * model.n_v));
    for (const Frame& frame : model.frames) {
      const SE3<Dual> X = frame_placement(model, dual, frame);
      const Mat3d R = frame_placement(model, data, frame).R;
      for (const Axes axes : {Axes::world, Axes::local}) {
        frame_jacobian(model, data, frame, axes, J.data());
        double Jv[6] = {};
        for (int row = 0; row < 6; ++row)
          for (int k = 0; k < model.n_v; ++k) Jv[row] += J[row * model.n_v + k] * v[k];
        const Vec3d linear = rate(X.p), angular = body_rate(X.R);
        check_close({Jv[0], Jv[1], Jv[2]},
                    axes == Axes::world ? linear : transpose_times(R, linear));
        check_close({Jv[3], Jv[4], Jv[5]}, axes == Axes::world ? R * angular : angular);
      }
    }
  });
}

TEST_CASE(
    "the mass matrix is what inverse dynamics makes of unit accelerations, symmetric and positive "
    "definite") {
  over_battery([](const Model& model, Random&, const Numbers& q, const Numbers& v, const Numbers&) {
    Data<double> data(model);
    const int n = model.n_v;
    Numbers M(static_cast<std::size_t>(n * n)), tau(v.size()), g(v.size()), unit(v.size()),
        still(v.size());
    crba(model, data, q.data(), M.data());
    gravity_forces(model, data, q.data(), g.data());
    for (int k = 0; k < n; ++k) {
      std::fill(unit.begin(), unit.end(), 0.0);
      unit[k] = 1;
      rnea(model, data, q.data(), still.data(), unit.data(), tau.data());
      Numbers column(v.size());
      for (int l = 0; l < n; ++l) {
        column[l] = M[l * n + k];
        tau[l] -= g[l];
        CHECK(M[l * n + k] == M[k * n + l]);
      }
      check_close(tau, column, 1e-11);  // g cancels
    }
    forward_velocities(model, data, v.data());
    double energy = 0;
    for (int k = 0; k < n; ++k)
      for (int l = 0; l < n; ++l) energy += 0.5 * v[k] * M[k * n + l] * v[l];
    check_close(kinetic_energy(model, data, v.data()), energy);
    cholesky_factor(M.data(), n);
    for (int k = 0; k < n; ++k) CHECK(std::isfinite(M[k * n + k]));
  });
}

TEST_CASE("forward and inverse dynamics undo each other, with external forces") {
  over_battery([](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                  const Numbers& tau) {
    Data<double> data(model);
    const auto forces = random_wrenches<double>(random, model);
    Numbers a(v.size()), back(v.size());
    forward_dynamics(model, data, q.data(), v.data(), tau.data(), a.data(), forces);
    rnea(model, data, q.data(), v.data(), a.data(), back.data(), forces);
    check_close(back, tau, 1e-10);  // the condition of M amplifies rounding
    Numbers in_place = tau;
    forward_dynamics(model, data, q.data(), v.data(), in_place.data(), in_place.data(), forces);
    CHECK(in_place == a);
  });
}

TEST_CASE("power: the energy's derivative is what the joints and external forces put in") {
  over_battery([](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                  const Numbers& a) {
    Data<double> data(model);
    const auto forces = random_wrenches<double>(random, model);
    Numbers tau(v.size());
    rnea(model, data, q.data(), v.data(), a.data(), tau.data(), forces);
    double power = 0, scale = 0;
    for (int k = 0; k < model.n_v; ++k) {
      power += tau[k] * v[k];
      scale = std::max(scale, std::abs(tau[k] * v[k]));
    }
    for (const auto& wrench : forces)
      power += dot(frame_velocity(model, data, model.frames[wrench.frame], Axes::world), wrench.F);
    Data<Dual> dual(model);
    const Duals v_dual = with_rate(v, a);
    forward_kinematics(model, dual, moving(model, q, v).data());
    motion_subspaces(model, dual);
    forward_velocities(model, dual, v_dual.data());
    const Dual energy = kinetic_energy(model, dual, v_dual.data()) + potential_energy(model, dual);
    check_close(power, energy.derivative, scale);
  });
}

TEST_CASE("gravity forces are the gradient of the potential energy") {
  over_battery([](const Model& model, Random&, const Numbers& q, const Numbers& v, const Numbers&) {
    Data<double> data(model);
    Numbers g(v.size()), gradient(v.size()), h(v.size()), still(v.size());
    gravity_forces(model, data, q.data(), g.data());
    nonlinear_effects(model, data, q.data(), still.data(), h.data());
    check_close(h, g);
    for (int k = 0; k < model.n_v; ++k) {
      Numbers unit(v.size());
      unit[k] = 1;
      Data<Dual> dual(model);
      forward_kinematics(model, dual, moving(model, q, unit).data());
      gradient[k] = potential_energy(model, dual).derivative;
    }
    check_close(g, gradient);
  });
}

TEST_CASE("Coriolis forces obey Lagrange: v . (Mdot v - 2 c) = 0 for every pair of directions") {
  // Polarization in v: c is quadratic, so that the power balance at v + w, v - w and each alone
  // determines all of it up to the gyroscopic part, which does no work. The Python oracle checks
  // that part.
  over_battery([](const Model& model, Random&, const Numbers& q, const Numbers& v, const Numbers&) {
    Model floating = model;
    floating.gravity = {};
    Data<double> data(floating);
    Numbers c(v.size()), M(v.size() * v.size());
    nonlinear_effects(floating, data, q.data(), v.data(), c.data());
    Data<Dual> dual(floating);
    Duals M_dual(M.size());
    crba(floating, dual, moving(floating, q, v).data(), M_dual.data());
    double left = 0, right = 0, scale = 0;
    for (int k = 0; k < model.n_v; ++k) {
      right += 2 * v[k] * c[k];
      scale = std::max(scale, std::abs(v[k] * c[k]));
      for (int l = 0; l < model.n_v; ++l)
        left += v[k] * M_dual[k * model.n_v + l].derivative * v[l];
    }
    check_close(left, right, scale);
  });
}

TEST_CASE("a force on a frame acts through the frame's Jacobian") {
  over_battery(
      [](const Model& model, Random& random, const Numbers& q, const Numbers& v, const Numbers& a) {
        Data<double> data(model);
        forward_kinematics(model, data, q.data());
        motion_subspaces(model, data);
        const int index = random.index(static_cast<int>(model.frames.size()));
        const Frame& frame = model.frames[index];
        const Force<double> F{random.vec3(), random.vec3(4)};
        const std::vector<AppliedWrench<double>> external{{index, F}};
        Numbers J(static_cast<std::size_t>(6 * model.n_v)), tau(v.size()), without(v.size());
        frame_jacobian(model, data, frame, Axes::world, J.data());
        rnea(model, data, q.data(), v.data(), a.data(), tau.data(), external);
        rnea(model, data, q.data(), v.data(), a.data(), without.data());
        for (int k = 0; k < model.n_v; ++k)
          for (int i = 0; i < 3; ++i)
            without[k] -=
                J[i * model.n_v + k] * F.linear[i] + J[(3 + i) * model.n_v + k] * F.angular[i];
        check_close(tau, without);
      });
}

TEST_CASE("a mimic model is the free model moved along its constraint") {
  const Model model = mimic_tree(false), free = mimic_tree(true);
  REQUIRE(model.has_mimic);
  REQUIRE(model.n_v < free.n_v);
  Random random(5);
  const Numbers q = random.configuration(model), v = random.numbers(model.n_v),
                a = random.numbers(model.n_v);
  // G maps v to the free model's velocities; q follows with the same ratios and offsets.
  Numbers q_free(free.n_q), v_free(free.n_v), a_free(free.n_v), G(free.n_v * model.n_v);
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint &joint = model.joints[i], &own = free.joints[i];
    for (int k = 0; k < own.n_q; ++k)
      q_free[own.q_index + k] =
          joint.mimic ? joint.ratio * q[joint.q_index] + joint.offset : q[joint.q_index + k];
    for (int k = 0; k < own.n_v; ++k)
      G[(own.v_index + k) * model.n_v + joint.v_index + k] = joint.ratio;
  }
  for (int k = 0; k < free.n_v; ++k)
    for (int l = 0; l < model.n_v; ++l) {
      v_free[k] += G[k * model.n_v + l] * v[l];
      a_free[k] += G[k * model.n_v + l] * a[l];
    }
  Data<double> data(model), free_data(free);
  forward_kinematics(model, data, q.data());
  forward_kinematics(free, free_data, q_free.data());
  for (int i = 1; i < model.n_bodies(); ++i) check_close(data.X_WB[i].p, free_data.X_WB[i].p);
  Numbers tau(model.n_v), tau_free(free.n_v), reduced(model.n_v), M(model.n_v * model.n_v),
      M_free(free.n_v * free.n_v), GMG(M.size());
  rnea(model, data, q.data(), v.data(), a.data(), tau.data());
  rnea(free, free_data, q_free.data(), v_free.data(), a_free.data(), tau_free.data());
  crba(model, data, q.data(), M.data());
  crba(free, free_data, q_free.data(), M_free.data());
  for (int k = 0; k < model.n_v; ++k)
    for (int i = 0; i < free.n_v; ++i) {
      reduced[k] += G[i * model.n_v + k] * tau_free[i];
      for (int l = 0; l < model.n_v; ++l)
        for (int j = 0; j < free.n_v; ++j)
          GMG[k * model.n_v + l] +=
              G[i * model.n_v + k] * M_free[i * free.n_v + j] * G[j * model.n_v + l];
    }
  check_close(tau, reduced);
  check_close(M, GMG);
}

TEST_CASE(
    "the derivatives of inverse and forward dynamics are those of dual numbers through the same "
    "kernels") {
  over_battery([](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                  const Numbers& a) {
    const std::size_t n = static_cast<std::size_t>(model.n_v);
    for (const bool loaded : {false, true}) {
      std::vector<AppliedWrench<double>> wrenches;
      std::vector<AppliedWrench<Dual>> dual_wrenches;
      if (loaded) wrenches = random_wrenches<double>(random, model);
      for (const auto& w : wrenches)
        dual_wrenches.push_back({w.frame, {Vec3<Dual>(w.F.angular), Vec3<Dual>(w.F.linear)}});
      Data<double> data(model);
      Data<Dual> dual(model);
      Numbers dq(n * n), dv(n * n), M(n * n), tau(n), acceleration(n), da_dq(n * n), da_dv(n * n),
          da_dtau(n * n);
      rnea_derivatives(model, data, q.data(), v.data(), a.data(), dq.data(), dv.data(), M.data(),
                       wrenches);
      rnea(model, data, q.data(), v.data(), a.data(), tau.data(), wrenches);
      Data<double> fresh(model);  // must not need results of other kernels
      forward_dynamics_derivatives(model, fresh, q.data(), v.data(), tau.data(),
                                   acceleration.data(), da_dq.data(), da_dv.data(), da_dtau.data(),
                                   wrenches);
      mirror(model, Pattern::upper, da_dtau.data());
      check_close(acceleration, a, 1e-10);  // the condition of M amplifies rounding, here and below
      for (std::size_t k = 0; k < n; ++k) {
        Numbers unit(n);
        unit[k] = 1;
        const auto column = [&](const Numbers& matrix) {
          Numbers out(n);
          for (std::size_t l = 0; l < n; ++l) out[l] = matrix[l * n + k];
          return out;
        };
        const Numbers zero(n);
        const Duals fixed_q = with_rate(q, Numbers(q.size())), moved_q = moving(model, q, unit);
        const auto inverse = [&](const Duals& q_, const Duals& v_, const Duals& a_) {
          Duals out(n);
          rnea(model, dual, q_.data(), v_.data(), a_.data(), out.data(), dual_wrenches);
          Numbers derivative;
          for (const Dual& x : out) derivative.push_back(x.derivative);
          return derivative;
        };
        const auto forward = [&](const Duals& q_, const Duals& v_, const Duals& tau_) {
          Duals out(n);
          forward_dynamics(model, dual, q_.data(), v_.data(), tau_.data(), out.data(),
                           dual_wrenches);
          Numbers derivative;
          for (const Dual& x : out) derivative.push_back(x.derivative);
          return derivative;
        };
        check_close(column(dq), inverse(moved_q, with_rate(v, zero), with_rate(a, zero)));
        check_close(column(dv), inverse(fixed_q, with_rate(v, unit), with_rate(a, zero)));
        check_close(column(M), inverse(fixed_q, with_rate(v, zero), with_rate(a, unit)));
        check_close(column(da_dq), forward(moved_q, with_rate(v, zero), with_rate(tau, zero)),
                    1e-10);
        check_close(column(da_dv), forward(fixed_q, with_rate(v, unit), with_rate(tau, zero)),
                    1e-10);
        check_close(column(da_dtau), forward(fixed_q, with_rate(v, zero), with_rate(tau, unit)),
                    1e-10);
      }
    }
  });
}

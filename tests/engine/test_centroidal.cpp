// Center of mass, centroidal momentum, Coriolis matrix, energy gradients and the derivative of
// gravity forces, on every joint type, against dual numbers through the kernels of the values and
// against the laws of mechanics. The tolerance is 1e-12 relative to the largest entry, as in
// test_dynamics.cpp.
#include "checks.h"
#include "dynamics/centroidal.h"
#include "dynamics/coriolis.h"
#include "dynamics/crba.h"
#include "dynamics/energy.h"
#include "dynamics/energy_derivatives.h"
#include "dynamics/forward_dynamics.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

template <class S>
void update(const Model& model, Data<S>& data, const std::vector<S>& q, const std::vector<S>& v,
            const std::vector<S>& a) {
  forward_kinematics(model, data, q.data());
  motion_subspaces(model, data);
  forward_accelerations(model, data, v.data(), a.data());
}

Numbers numbers(const Vec3d& a) { return {a.x, a.y, a.z}; }

}  // namespace

TEST_CASE(
    "the center of mass is where the masses are, and its velocity, acceleration and Jacobian are "
    "its derivatives") {
  over_battery(
      [](const Model& model, Random&, const Numbers& q, const Numbers& v, const Numbers& a) {
        Data<double> data(model);
        Data<Dual> dual(model);
        update(model, data, q, v, a);
        mass_moments(model, data);
        update(model, dual, moving(model, q, v), with_rate(v, a), Duals(v.size()));
        Numbers J(3 * v.size());
        for (int body = 0; body < model.n_bodies(); ++body) {
          // Sum over the body and all its descendants.
          double mass = 0;
          Vec3d moment;
          for (int i = 0; i < model.n_bodies(); ++i) {
            int up = i;
            while (up > body) up = model.joints[up].parent;
            if (up != body) continue;
            mass += model.inertias[i].mass;
            moment += model.inertias[i].mass * (data.X_WB[i] * model.inertias[i].com);
          }
          if (mass == 0) continue;  // world without mass, and massless subtrees
          check_close(center_of_mass(model, data, body), (1 / mass) * moment);
          const Vec3d velocity = center_of_mass_velocity(model, data, body);
          check_close(velocity, rate(center_of_mass(model, dual, body)));
          check_close(center_of_mass_acceleration(model, data, body),
                      rate(center_of_mass_velocity(model, dual, body)));
          center_of_mass_jacobian(model, data, J.data(), body);
          check_close(times(J, v), numbers(velocity));
        }
        const Derivatives d =
            differentiate(model, q, v, a, 3, [&](const Duals& q_, const Duals&, const Duals&) {
              forward_kinematics(model, dual, q_.data());
              const Vec3<Dual> c = center_of_mass(model, dual);
              return Duals{c.x, c.y, c.z};
            });
        center_of_mass_jacobian(model, data, J.data());
        check_close(J, d.dq);
      });
}

TEST_CASE(
    "centroidal momentum is that of all bodies about their center of mass; what is welded to the "
    "world has none") {
  over_battery([](const Model& model, Random&, const Numbers& q, const Numbers& v, const Numbers&) {
    Data<double> data(model);
    Numbers h(6), A_G(6 * v.size());
    centroidal_momentum(model, data, q.data(), v.data(), h.data());
    double mass = 0;
    Vec3d moment, linear, angular;
    for (int i = 1; i < model.n_bodies(); ++i) {
      mass += model.inertias[i].mass;
      moment += model.inertias[i].mass * (data.X_WB[i] * model.inertias[i].com);
    }
    for (int i = 1; i < model.n_bodies(); ++i) {
      const Inertia& body = model.inertias[i];
      const Mat3d& R = data.X_WB[i].R;
      const Frame at_com{"", i, SE3d{Mat3d::identity(), body.com}};
      const Motion<double> V = frame_velocity(model, data, at_com, Axes::world);
      const Vec3d momentum = body.mass * V.linear;
      linear += momentum;
      angular += R * (body.I_com * transpose_times(R, V.angular));
      angular += cross(data.X_WB[i] * body.com - (1 / mass) * moment, momentum);
    }
    check_close(h, {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z});
    centroidal_momentum_matrix(model, data, q.data(), A_G.data());
    check_close(times(A_G, v), h);
  });
}

TEST_CASE(
    "the rates of centroidal momentum and its matrix are their derivatives along the motion") {
  over_battery(
      [](const Model& model, Random&, const Numbers& q, const Numbers& v, const Numbers& a) {
        Data<double> data(model);
        Data<Dual> dual(model);
        const std::size_t size = 6 * v.size();
        Numbers h(6), hdot(6), same_h(6), A_G(size), dA_G(size), same_A_G(size);
        Duals h_dual(6), A_G_dual(size);
        const Duals q_dual = moving(model, q, v), v_dual = with_rate(v, a);
        centroidal_momentum_rate(model, data, q.data(), v.data(), a.data(), h.data(), hdot.data());
        centroidal_momentum(model, data, q.data(), v.data(), same_h.data());
        CHECK(h == same_h);
        centroidal_momentum(model, dual, q_dual.data(), v_dual.data(), h_dual.data());
        check_close(hdot, rates(h_dual));
        centroidal_momentum_matrix_dot(model, data, q.data(), v.data(), A_G.data(), dA_G.data());
        centroidal_momentum_matrix(model, data, q.data(), same_A_G.data());
        check_close(A_G, same_A_G);
        centroidal_momentum_matrix(model, dual, q_dual.data(), A_G_dual.data());
        check_close(dA_G, rates(A_G_dual));
        Numbers by_matrix = times(A_G, a);
        const Numbers bias = times(dA_G, v);
        for (int i = 0; i < 6; ++i) by_matrix[i] += bias[i];
        check_close(by_matrix, hdot);
      });
}

TEST_CASE("the derivatives of centroidal momentum and its rate are those of dual numbers") {
  over_battery([](const Model& model, Random&, const Numbers& q, const Numbers& v,
                  const Numbers& a) {
    Data<double> data(model);
    Data<Dual> dual(model);
    const std::size_t size = 6 * v.size();
    Numbers dh_dq(size), dhdot_dq(size), dhdot_dv(size), A_G(size);
    centroidal_momentum_derivatives(model, data, q.data(), v.data(), a.data(), dh_dq.data(),
                                    dhdot_dq.data(), dhdot_dv.data(), A_G.data());
    const Derivatives h =
        differentiate(model, q, v, a, 6, [&](const Duals& q_, const Duals& v_, const Duals&) {
          Duals out(6);
          centroidal_momentum(model, dual, q_.data(), v_.data(), out.data());
          return out;
        });
    const Derivatives hdot =
        differentiate(model, q, v, a, 6, [&](const Duals& q_, const Duals& v_, const Duals& a_) {
          Duals out(6), unused(6);
          centroidal_momentum_rate(model, dual, q_.data(), v_.data(), a_.data(), unused.data(),
                                   out.data());
          return out;
        });
    check_close(dh_dq, h.dq);
    check_close(A_G, h.dv);
    check_close(dhdot_dq, hdot.dq);
    check_close(dhdot_dv, hdot.dv);
    check_close(A_G, hdot.da);
  });
}

TEST_CASE("nothing but gravity and applied wrenches changes the momentum of what flies freely") {
  int flown = 0;
  over_battery([&flown](const Model& driven, Random& random, const Numbers& q, const Numbers& v,
                        const Numbers& forces) {
    Model model = driven;
    // Armature of the base would react on the world.
    std::fill_n(model.armature.begin(), std::min<std::size_t>(6, model.armature.size()), 0.0);
    if (model.joints[1].type != JointType::floating || model.joints[1].parent != 0) return;
    for (int i = 2; i < model.n_bodies(); ++i)
      if (model.joints[i].parent == 0) return;
    ++flown;
    Numbers tau = forces, a(v.size()), h(6), hdot(6);
    for (int k = 0; k < 6; ++k) tau[k] = 0;
    auto wrenches = random_wrenches<double>(random, model);
    std::erase_if(wrenches,
                  [&](const auto& wrench) { return model.frames[wrench.frame].body == 0; });
    Data<double> data(model);
    forward_dynamics(model, data, q.data(), v.data(), tau.data(), a.data(), wrenches);
    centroidal_momentum_rate(model, data, q.data(), v.data(), a.data(), h.data(), hdot.data());
    const Vec3d com = center_of_mass(model, data, 1);
    Vec3d force = subtree_mass(model, 1) * model.gravity, moment;
    for (const auto& wrench : wrenches) {
      force += wrench.F.linear;
      moment += wrench.F.angular;
      moment +=
          cross(frame_placement(model, data, model.frames[wrench.frame]).p - com, wrench.F.linear);
    }
    // The condition of the mass matrix amplifies rounding in a.
    check_close(hdot, {force.x, force.y, force.z, moment.x, moment.y, moment.z}, 1e-10);
  });
  CHECK(flown >= 6);  // the floating tree and the one with mimic joints
}

TEST_CASE(
    "the Coriolis matrix makes the Coriolis forces, and with its transpose the rate of the mass "
    "matrix") {
  over_battery([](const Model& model, Random&, const Numbers& q, const Numbers& v, const Numbers&) {
    const std::size_t n = v.size();
    Data<double> data(model);
    Data<Dual> dual(model);
    Numbers C(n * n), h(n), g(n), sum(n * n);
    Duals M(n * n);
    coriolis_matrix(model, data, q.data(), v.data(), C.data());
    nonlinear_effects(model, data, q.data(), v.data(), h.data());
    gravity_forces(model, data, q.data(), g.data());
    for (std::size_t k = 0; k < n; ++k) h[k] -= g[k];
    check_close(times(C, v), h, 1e-11);  // g cancels
    crba(model, dual, moving(model, q, v).data(), M.data());
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t l = 0; l < n; ++l) sum[k * n + l] = C[k * n + l] + C[l * n + k];
    check_close(sum, rates(M));
  });
}

TEST_CASE(
    "gradients of the energies and the derivative of gravity forces are those of dual numbers") {
  over_battery([](const Model& model, Random&, const Numbers& q, const Numbers& v,
                  const Numbers& a) {
    const std::size_t n = v.size();
    Data<double> data(model);
    Data<Dual> dual(model);
    Numbers dT_dq(n), dT_dv(n), dg_dq(n * n), M(n * n);
    kinetic_energy_derivatives(model, data, q.data(), v.data(), dT_dq.data(), dT_dv.data());
    const Derivatives T =
        differentiate(model, q, v, a, 1, [&](const Duals& q_, const Duals& v_, const Duals& a_) {
          update(model, dual, q_, v_, a_);
          return Duals{kinetic_energy(model, dual, v_.data())};
        });
    check_close(dT_dq, T.dq);
    check_close(dT_dv, T.dv);
    crba(model, data, q.data(), M.data());
    check_close(dT_dv, times(M, v));
    gravity_forces_derivatives(model, data, q.data(), dg_dq.data());
    const Derivatives g =
        differentiate(model, q, v, a, n, [&](const Duals& q_, const Duals&, const Duals&) {
          Duals out(n);
          gravity_forces(model, dual, q_.data(), out.data());
          return out;
        });
    check_close(dg_dq, g.dq);
  });
}

TEST_CASE("without moving mass the centroidal quantities are zero, not undefined") {
  ModelBuilder builder("massless", false);
  Random random(17);
  builder.add_link("base", random.inertia());
  builder.add_link("pointer", Inertia());
  JointSpec joint;
  joint.name = "j";
  joint.kind = "revolute";
  joint.parent = "base";
  joint.child = "pointer";
  joint.armature = 0.1;
  builder.add_joint(joint);
  const Model model = builder.build({});
  Data<double> data(model);
  const Numbers q{0.3}, v{2}, a{1};
  Numbers h(6, 1), hdot(6, 1), dh_dq(6, 1), dhdot_dq(6, 1), dhdot_dv(6, 1), A_G(6, 1), dA_G(6, 1);
  centroidal_momentum_rate(model, data, q.data(), v.data(), a.data(), h.data(), hdot.data());
  centroidal_momentum_derivatives(model, data, q.data(), v.data(), a.data(), dh_dq.data(),
                                  dhdot_dq.data(), dhdot_dv.data(), A_G.data());
  centroidal_momentum_matrix_dot(model, data, q.data(), v.data(), A_G.data(), dA_G.data());
  for (const Numbers& x : {h, hdot, dh_dq, dhdot_dq, dhdot_dv, A_G, dA_G})
    for (const double entry : x) CHECK(entry == 0);
}
